// The fixed words of a document, in the language of its account.
import { arabic } from './labels/arabic.ts';
import { dutch } from './labels/dutch.ts';
import { english } from './labels/english.ts';
import { french } from './labels/french.ts';
import { german } from './labels/german.ts';
import { italian } from './labels/italian.ts';
import { japanese } from './labels/japanese.ts';
import type {
  CreditNoteLabels,
  KindLabels,
  Language,
  ReceiptLabels,
  SharedLabels,
  TimeLabels,
} from './labels/language.ts';
import { portuguese } from './labels/portuguese.ts';
import { spanish } from './labels/spanish.ts';
import { type StatementWords, statementWords } from './statement-words.ts';

export interface Labels extends SharedLabels, KindLabels {
  receipt: ReceiptLabels;
  creditNote: CreditNoteLabels;
  time: TimeLabels;
  statement: StatementWords;
}

const LANGUAGES: Record<string, Language> = {
  ar: arabic,
  de: german,
  en: english,
  es: spanish,
  fr: french,
  it: italian,
  ja: japanese,
  nl: dutch,
  pt: portuguese,
};

export type DocumentKind = 'invoice' | 'quote' | 'receipt' | 'creditNote' | 'statement';

/** Returns the labels of a kind of document. @param language of ISO 639-1, see isWritten. */
export function labelsOf(kind: DocumentKind, language = 'en'): Labels {
  const { invoice, quote, ...shared } = LANGUAGES[language] ?? english;
  const labels = { ...shared, statement: statementWords(language) };
  if (kind === 'quote') return { ...labels, ...quote };
  // These kinds have no second date, so the labels that an invoice has for it are never printed.
  return { ...labels, ...invoice, ...headOf(kind, labels) };
}

function headOf(
  kind: DocumentKind,
  { receipt, creditNote, statement }: Pick<Labels, 'receipt' | 'creditNote' | 'statement'>,
): Partial<Labels> {
  if (kind === 'statement') return { heading: statement.title, to: statement.to };
  if (kind === 'receipt') return { heading: receipt.heading, to: receipt.to, from: receipt.from, date: receipt.date };
  if (kind !== 'creditNote') return {};
  return { heading: creditNote.heading, to: creditNote.to, date: creditNote.date };
}

export function kindOf({
  isQuote,
  receipt,
  creditNote,
  statement,
}: {
  isQuote: boolean;
  receipt?: object | undefined;
  creditNote?: object | undefined;
  statement?: object | undefined;
}): DocumentKind {
  if (statement) return 'statement';
  if (receipt) return 'receipt';
  if (creditNote) return 'creditNote';
  return isQuote ? 'quote' : 'invoice';
}

/** True for a language that documents are written in. All others get English. */
export function isWritten(language: string): boolean {
  return Object.hasOwn(LANGUAGES, language);
}
