// Texts in the page margins: the foot of every page, and the running head of all pages but the first.
import type { DocumentView } from './document-view.ts';
import { PAPER_WIDTH_MM } from './paper.ts';
import { widthOf } from './texts.ts';

/** Characters of one line. */
const LINE_LONGEST = 90;
/** Two lines; longer bank details are printed in full above. */
const LEGAL_LONGEST = 180;
/** Characters that a line of a column holds in the widest of the faces. */
const COLUMN = { lines: 54, bank: 34 } as const;
/** Of the account's bank details in the foot; all of them are printed above. */
const BANK_LINES_MAX = 6;

/** From the left edge of the page to the column with the bank details. */
const BANK_LEFT_MM = 106;
/** At the right edge, for the number of the page. As in document.css. */
const NUMBER_MM = 48;
const GAP_MM = 5;

const MARGIN_MM = 20;
/** Lines that the usual margin holds. */
const LINES_USUAL = 3;
const LINE_MM = 3.8;

/** @returns the texts as strings for a style sheet, and the lengths that they need. */
export function marginTexts({ issuer, heading, number, testMark, legal }: DocumentView) {
  const title = shortened([testMark, heading, number].filter(Boolean).join(' '), LINE_LONGEST);
  const lines = legal.lines.filter((line) => line !== '');
  const bank = legal.bank.slice(0, BANK_LINES_MAX);
  const isPlain = legal.lines.length === 1;
  const shown = isPlain ? lines.map((line) => shortened(line, LEGAL_LONGEST)) : lines;
  const width = bank.length > 0 ? COLUMN.lines : LINE_LONGEST;
  const height = isPlain
    ? LINES_USUAL
    : Math.max(LINES_USUAL, linesOf([title, ...shown], width), linesOf(bank, COLUMN.bank));
  return {
    foot: cssText([title, ...shown].join('\n')),
    footAside: bank.length > 0 ? `"${cssText(bank.join('\n'))}"` : 'none',
    footInner: `${bank.length > 0 ? PAPER_WIDTH_MM - BANK_LEFT_MM + GAP_MM : NUMBER_MM}mm`,
    bankInner: `${BANK_LEFT_MM}mm`,
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

/** A text as a CSS string: everything but ASCII letters and digits is escaped. */
function cssText(text: string) {
  return text.replaceAll(/[^A-Za-z0-9]/gu, (character) => `\\${character.codePointAt(0)?.toString(16)} `);
}
