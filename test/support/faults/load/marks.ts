// A mark in every text of an account: where another account's mark turns up, something has leaked.
import type { Chance } from '../../chance.ts';

// No letters that fonts draw as one (fi, ff), and no case: texts come back from PDFs as they were drawn.
const LETTERS = 'bcdghkmnprstv';
const LENGTH = 8;
const FORM = /zq[bcdghkmnprstv]{8}qz/g;

export function makeMark(chance: Chance): string {
  return `zq${Array.from({ length: LENGTH }, () => chance.pick([...LETTERS])).join('')}qz`;
}

/** @returns the marks in the text, each once. */
export function marksIn(text: string): Set<string> {
  return new Set(text.toLowerCase().match(FORM));
}

/** @returns the marks in the text that are not the account's own. */
export function foreignMarks(text: string, own: string): string[] {
  return [...marksIn(text)].filter((mark) => mark !== own);
}
