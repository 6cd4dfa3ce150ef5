// The kinds of messages that Billhook mails, and the documents that they are about.

export const MESSAGE_KINDS = [
  'invoice',
  'quote',
  'reminder_1',
  'reminder_2',
  'reminder_3',
  'reminder_4',
  'reminder_5',
  'receipt',
  'credit_note',
  'link',
  'answer',
] as const;

export type MessageKind = (typeof MESSAGE_KINDS)[number];

/** True of mail that no person asked for: mail programs send no reply of an absence to it. */
export function isAutomatic(kind: MessageKind): boolean {
  return kind === 'receipt' || kind.startsWith('reminder_');
}
