// Marks the places where long words may break. Headless Chromium has no hyphenation dictionaries and would break a
// compound anywhere.
import { createRequire } from 'node:module';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';

type Hyphenate = (word: string) => string;

const SOFT_HYPHEN = '\u00ad';
/** ISO 639-1 codes. Each dictionary is loaded with the first long word that needs it. */
const LANGUAGES = new Set('cs da de en es fi fr hu it nb nl pl pt sv'.split(' '));
/** The longest word. Longer sequences of letters are no words. */
const LETTERS_MOST = 80;
/** The shortest word to mark. Shorter ones fit into a narrow column in the largest type. */
const LETTERS_LEAST = 16;
const LONG_WORD = new RegExp(
  `(?<![\\p{L}\\p{M}\\d@._/])\\p{L}{${LETTERS_LEAST},${LETTERS_MOST}}(?![\\p{L}\\p{M}\\d@_/]|\\.\\p{L})`,
  'gu',
);
const GERMAN = /[äöüß]|\b(?:GmbH|mbH|AG|KG|OHG|UG|eG|e\.\s?[VK]\.)(?=\W|$)/;

const require = createRequire(import.meta.url);

/** Returns a function that inserts soft hyphens into long words, but not into web and mail addresses. */
export function hyphenatorOf({ locale, clientCompany, partnerCompany, clientName, partnerName }: PrintableDocument) {
  const language = languageOf(locale) ?? guessed([clientCompany, partnerCompany, clientName, partnerName].join(' '));
  return (text: string) => text.replaceAll(LONG_WORD, (word) => dictionary(language)(word));
}

function languageOf(locale: string | undefined): string | undefined {
  const language = /^[a-z]{2,3}(?=[-_]|$)/i.exec(locale ?? '')?.[0].toLowerCase();
  const known = language === 'no' || language === 'nn' ? 'nb' : language;
  return known !== undefined && LANGUAGES.has(known) ? known : undefined;
}

/** Guesses the language of a document without one. Words of this length are mostly German. */
function guessed(names: string): string {
  return GERMAN.test(names) ? 'de' : 'en';
}

function dictionary(language: string): Hyphenate {
  const { hyphenateSync } = require(`hyphen/${language}`) as {
    hyphenateSync: (word: string, options: { hyphenChar: string }) => string;
  };
  return (word) => hyphenateSync(word, { hyphenChar: SOFT_HYPHEN });
}
