// Texts in the page margins: the foot of every page, and the running head of all pages but the first.
import type { DocumentView } from './document-view.ts';
import { widthOf } from './texts.ts';

/** The most characters of one line. */
const LINE_LONGEST = 90;
/** The room at the right edge for the number of the page, as in document.css. */
const NUMBER_MM = 48;

const MARGIN_MM = 20;
/** The lines that the usual margin holds. */
const LINES_USUAL = 2;
const LINE_MM = 4.1;

/** Returns the texts as strings for a style sheet, and the lengths that they need. */
export function marginTexts({ issuer, heading, number, testMark, legal }: DocumentView) {
  const title = shortened([testMark, heading, number].filter(Boolean).join(' '), LINE_LONGEST);
  const height = Math.max(LINES_USUAL, linesOf([title, ...legal], LINE_LONGEST));
  return {
    foot: cssText([title, ...legal].join('\n')),
    footInner: `${NUMBER_MM}mm`,
    footMargin: `${(MARGIN_MM + (height - LINES_USUAL) * LINE_MM).toFixed(1)}mm`,
    runningHead: cssText(shortened(issuer.nameInLine, LINE_LONGEST)),
  };
}

function linesOf(texts: readonly string[], width: number): number {
  return texts.reduce((total, text) => total + Math.ceil(Math.max(1, widthOf(text)) / width), 0);
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

/** Returns a text as a CSS string, with everything but ASCII letters and digits escaped. */
function cssText(text: string) {
  return text.replaceAll(/[^A-Za-z0-9]/gu, (character) => `\\${character.codePointAt(0)?.toString(16)} `);
}
