// Words in braces in the subject and the text of a mail, and how they are filled in.
import type { MessageKind } from '../models/messages/message-kinds.ts';

/** The placeholders, with the meaning of each. */
export const PLACEHOLDERS = {
  number: 'the number of the document',
  date: 'its date',
  total: 'its total with tax; of a receipt, what was paid',
  client_name: 'the name of the client',
  sender: 'your company, or your name without one',
  amount_due: 'what is due when the mail is made',
  due_date: 'the day on which it is due',
  valid_until: 'the last day of the quote',
  invoice_number: 'the invoice that is credited, or the invoices that were paid',
  link: 'the link for the client',
} as const;

export type Placeholder = keyof typeof PLACEHOLDERS;

/** The values of a mail. A placeholder without a value is replaced by nothing. */
export type MailValues = Readonly<Partial<Record<Placeholder, string>>>;

const ALWAYS = ['number', 'date', 'total', 'client_name', 'sender'] as const;

/** Returns the placeholders that a mail of this kind has. */
export function placeholdersOf(kind: MessageKind): readonly Placeholder[] {
  if (kind === 'quote') return [...ALWAYS, 'valid_until'];
  if (kind === 'receipt' || kind === 'credit_note') return [...ALWAYS, 'invoice_number'];
  if (kind === 'link') return [...ALWAYS, 'link'];
  return [...ALWAYS, 'amount_due', 'due_date'];
}

/** Characters of a value that are shown: a name is shorter. */
const VALUE_LONGEST = 500;
const IN_BRACES = /\{([a-z_]{1,40})\}/g;

/** Returns the names in braces that a mail of this kind has no value for. */
export function unknownPlaceholders(kind: MessageKind, text: string): string[] {
  const known: readonly string[] = placeholdersOf(kind);
  const named = [...text.matchAll(IN_BRACES)].map(([, name]) => name as string);
  return [...new Set(named)].filter((name) => !known.includes(name));
}

/** Fills in plain text of one line. */
export function filledLine(text: string, values: MailValues): string {
  return filled(text, values, oneLine).trim();
}

/** Fills in plain text. */
export function filledText(text: string, values: MailValues): string {
  return filled(text, values, oneLine);
}

/** Fills in Markdown. A value is text there: the name of a client makes no link and no heading. */
export function filledMarkdown(text: string, values: MailValues): string {
  return filled(text, values, (value) => oneLine(value).replaceAll(/[!-/:-@[-`{-~]/g, (sign) => `\\${sign}`));
}

function filled(text: string, values: MailValues, form: (value: string) => string): string {
  // A single pass: a value that contains a placeholder is not filled in again.
  return text.replaceAll(IN_BRACES, (whole, name: string) =>
    Object.hasOwn(PLACEHOLDERS, name) ? form(values[name as Placeholder] ?? '') : whole,
  );
}

/** Line breaks in a value would begin a new paragraph, or a new header. */
function oneLine(value: string): string {
  return value.slice(0, VALUE_LONGEST).replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}
