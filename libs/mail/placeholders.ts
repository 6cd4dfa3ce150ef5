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
  from: 'the first day of the statement',
  to: 'its last day',
  balance: 'what the client owes on the last day, in each currency; with a minus where it has credit',
  link: 'the link for the client',
  question: 'the question of the client',
  answer: 'your answer to it',
} as const;

export type Placeholder = keyof typeof PLACEHOLDERS;

/** The values of a mail. A placeholder without a value is replaced by nothing. */
export type MailValues = Readonly<Partial<Record<Placeholder, string>>>;

const NAMES = ['client_name', 'sender'] as const;
const ALWAYS = ['number', 'date', 'total', ...NAMES] as const;

/** Returns the placeholders that a mail of this kind has. */
export function placeholdersOf(kind: MessageKind): readonly Placeholder[] {
  if (kind === 'statement') return [...NAMES, 'from', 'to', 'balance'];
  if (kind === 'quote') return [...ALWAYS, 'valid_until'];
  if (kind === 'receipt' || kind === 'credit_note') return [...ALWAYS, 'invoice_number'];
  if (kind === 'link') return [...ALWAYS, 'link'];
  if (kind === 'answer') return [...ALWAYS, 'question', 'answer'];
  return [...ALWAYS, 'amount_due', 'due_date'];
}

/** Characters of a value that are shown: a name is shorter. */
const VALUE_LONGEST = 500;
/** Placeholders with texts of several lines. */
const PARAGRAPHS: readonly string[] = ['question', 'answer'] satisfies Placeholder[];
/** Characters of such a text that are shown. */
const PARAGRAPHS_LONGEST = 2_000;
const IN_BRACES = /\{([a-z_]{1,40})\}/g;

/** Returns the names in braces that a mail of this kind has no value for. */
export function unknownPlaceholders(kind: MessageKind, text: string): string[] {
  const known: readonly string[] = placeholdersOf(kind);
  const named = [...text.matchAll(IN_BRACES)].map(([, name]) => name as string);
  return [...new Set(named)].filter((name) => !known.includes(name));
}

/** Fills in plain text of one line. */
export function filledLine(text: string, values: MailValues): string {
  return filled(text, values, oneLine, oneLine).trim();
}

/** Fills in plain text. */
export function filledText(text: string, values: MailValues): string {
  return filled(text, values, oneLine, (value) => linesOf(value).join('\n'));
}

/** Fills in Markdown. A value is text there: the name of a client makes no link and no heading. Our own link is one. */
export function filledMarkdown(text: string, values: MailValues): string {
  const escapedSigns = (value: string) => value.replaceAll(/[!-/:-@[-`{-~]/g, (sign) => `\\${sign}`);
  // Two blanks at the end of a line keep the line break.
  return filled(
    text,
    values,
    (value, name) => (name === 'link' && value !== '' ? `<${value}>` : escapedSigns(oneLine(value))),
    (value) => linesOf(value).map(escapedSigns).join('  \n'),
  );
}

type Form = (value: string, name: Placeholder) => string;

function filled(text: string, values: MailValues, line: Form, paragraphs: Form): string {
  // A single pass: a value that contains a placeholder is not filled in again.
  return text.replaceAll(IN_BRACES, (whole, name: string) => {
    if (!Object.hasOwn(PLACEHOLDERS, name)) return whole;
    const form = PARAGRAPHS.includes(name) ? paragraphs : line;
    return form(values[name as Placeholder] ?? '', name as Placeholder);
  });
}

/** Joins the lines of a value. Line breaks would begin a new paragraph, or a new header. */
function oneLine(value: string): string {
  return value.slice(0, VALUE_LONGEST).replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}

/** Returns the lines of a text, without blanks around them, which Markdown would take for code. */
function linesOf(value: string): string[] {
  return value
    .slice(0, PARAGRAPHS_LONGEST)
    .split(/\r\n|[\r\n\u2028\u2029]/)
    .map((one) => one.replaceAll(/\p{Cc}+/gu, ' ').trim());
}
