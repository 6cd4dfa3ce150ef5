// Texts in the page margins: the foot of every page, and the running head of all pages but the first.
import type { DocumentView } from './document-view.ts';

/** Characters of one line. */
const LINE_LONGEST = 90;
/** Two lines; longer bank details are printed in full above. */
const LEGAL_LONGEST = 180;

/** @returns the texts as strings for a style sheet. */
export function marginTexts({ issuer, heading, number, testMark, legal }: DocumentView) {
  const title = shortened([testMark, heading, number].filter(Boolean).join(' '), LINE_LONGEST);
  return {
    foot: cssText([title, shortened(legal, LEGAL_LONGEST)].filter(Boolean).join('\n')),
    runningHead: cssText(shortened(issuer.nameInLine, LINE_LONGEST)),
  };
}

function shortened(text: string, longest: number) {
  const characters = Array.from(text);
  return characters.length <= longest
    ? text
    : `${characters
        .slice(0, longest - 1)
        .join('')
        .trimEnd()}…`;
}

/** A text as a CSS string: everything but ASCII letters and digits is escaped. */
function cssText(text: string) {
  return text.replaceAll(/[^A-Za-z0-9]/gu, (character) => `\\${character.codePointAt(0)?.toString(16)} `);
}
