// The words of the client's pages in every language that documents are written in.
import { arabic } from './words/arabic.ts';
import { dutch } from './words/dutch.ts';
import { english } from './words/english.ts';
import { french } from './words/french.ts';
import { german } from './words/german.ts';
import { italian } from './words/italian.ts';
import { japanese } from './words/japanese.ts';
import type { PageWords } from './words/page-words.ts';
import { portuguese } from './words/portuguese.ts';
import { spanish } from './words/spanish.ts';

export type { PageWords } from './words/page-words.ts';

const LANGUAGES: Readonly<Record<string, PageWords>> = {
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

/** Returns the words. English where there are none. @param language of ISO 639-1. */
export function pageWords(language: string): PageWords {
  return LANGUAGES[language] ?? english;
}
