// The standard words of mails in every language that documents are written in.

import type { MessageKind } from '../models/messages/message-kinds.ts';
import { languageOf } from '../rules/taxes/document-taxes.ts';
import { arabic } from './texts/arabic.ts';
import { dutch } from './texts/dutch.ts';
import { english } from './texts/english.ts';
import { french } from './texts/french.ts';
import { german } from './texts/german.ts';
import { italian } from './texts/italian.ts';
import { japanese } from './texts/japanese.ts';
import type { MailText, MailTexts } from './texts/mail-texts.ts';
import { portuguese } from './texts/portuguese.ts';
import { spanish } from './texts/spanish.ts';

const LANGUAGES = {
  ar: arabic,
  de: german,
  en: english,
  es: spanish,
  fr: french,
  it: italian,
  ja: japanese,
  nl: dutch,
  pt: portuguese,
} as const satisfies Record<string, MailTexts>;

export type MailLanguage = keyof typeof LANGUAGES;

/** The languages of mails, by ISO 639-1. */
export const MAIL_LANGUAGES = Object.keys(LANGUAGES) as MailLanguage[];

/** Returns the language of a mail: English where there are no words in the language of the locale, as in documents. */
export function mailLanguage(locale: string): MailLanguage {
  const language = languageOf(locale);
  return Object.hasOwn(LANGUAGES, language) ? (language as MailLanguage) : 'en';
}

export function standardMailText(kind: MessageKind, language: MailLanguage): MailText {
  return LANGUAGES[language][kind];
}

/** The sentence about what is due, or about the last day to accept. It is never the first one of its paragraph. */
const ASKS = {
  invoice: /(?<=[.。])\s*[^.。]*\{amount_due\}[^.。]*[.。]/u,
  quote: /(?<=[.。])\s*[^.。]*\{valid_until\}[^.。]*[.。]/u,
} as const;

/**
 * Returns the standard words as they suit a mail. Words that an account has set stay as they are.
 * @param isSettled of an invoice of which nothing is due, or of a quote that was accepted.
 */
export function suitedBody(
  body: string,
  { kind, locale, isSettled, hasFiles }: { kind: MessageKind; locale: string; isSettled: boolean; hasFiles: boolean },
): string {
  const standard = standardMailText(kind, mailLanguage(locale));
  if (body !== standard.body) return body;
  const suited = hasFiles ? body : withoutFiles(standard);
  return isSettled && (kind === 'invoice' || kind === 'quote') ? suited.replace(ASKS[kind], '') : suited;
}

function withoutFiles({ body, withoutFiles: said }: MailText): string {
  if (said === undefined) return body;
  const [greeting, , ...rest] = body.split('\n\n');
  return [greeting, said, ...rest].join('\n\n');
}
