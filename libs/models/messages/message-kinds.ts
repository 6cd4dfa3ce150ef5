// The kinds of messages that Billhook mails, and the documents that they are about.
import type { LinkSubject } from '../../rules/documents/link-terms.ts';
import { REMINDER_KINDS, type ReminderKind } from '../../rules/reminders/reminder-steps.ts';

export const MESSAGE_KINDS = [
  'invoice',
  'quote',
  ...REMINDER_KINDS,
  'receipt',
  'credit_note',
  'link',
  'answer',
  'statement',
] as const;

export type MessageKind = (typeof MESSAGE_KINDS)[number];

/** True of mail that no person asked for: mail programs send no reply of an absence to it. */
export function isAutomatic(kind: MessageKind): boolean {
  return kind === 'receipt' || isReminder(kind);
}

/**
 * True of mail that shows the document itself. A link and an answer point to it, and a statement says what was booked when
 * it was made.
 */
export function showsDocument(kind: MessageKind): boolean {
  return kind !== 'link' && kind !== 'answer' && kind !== 'statement';
}

/**
 * True of mail that is about more than the state of its document: the answer to a question, the link to all documents
 * of a client, and the statement of its account.
 */
export function isAboutMore({ kind, link }: { kind: MessageKind; link?: { type: LinkSubject } | undefined }): boolean {
  return kind === 'answer' || kind === 'statement' || (kind === 'link' && link?.type === 'client');
}

/** True of mail that brings an invoice to its payer. */
export function bringsInvoice(kind: MessageKind): boolean {
  return kind === 'invoice' || isReminder(kind);
}

export function isReminder(kind: MessageKind): kind is ReminderKind {
  return (REMINDER_KINDS as readonly MessageKind[]).includes(kind);
}
