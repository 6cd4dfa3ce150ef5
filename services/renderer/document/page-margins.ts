// Texts in the page margins: the foot of every page, and the running head of all pages but the first.
import type { DocumentView } from './document-view.ts';
import { SWISS_PART_MM } from './paper.ts';
import { widthOf } from './texts.ts';

/** The foot of a short document is larger. `longest`: the most characters of one line. */
const FOOT = { usual: { longest: 90, lineMm: 4.1 }, short: { longest: 80, lineMm: 5.1 } } as const;
const FOOT_PT = {
  usual: { elegant: 8, modern: 8, classic: 8 },
  short: { elegant: 8.9, modern: 8.6, classic: 10 },
} as const;
/** The room at the right edge for the number of the page, as in document.css. */
const NUMBER_MM = 48;

const MARGIN_MM = 20;
/** The lines that the usual margin holds. */
const LINES_USUAL = 2;

/** Returns the texts as strings for a style sheet, and the lengths that they need. */
export function marginTexts(view: DocumentView, isShort: boolean) {
  const { longest } = footOf(isShort);
  return {
    foot: cssText(footLines(view, longest).join('\n')),
    footSize: `${FOOT_PT[isShort ? 'short' : 'usual'][view.style]}pt`,
    footInner: `${NUMBER_MM}mm`,
    footMargin: `${footMarginMm(view, isShort).toFixed(1)}mm`,
    runningHead: cssText(shortened(view.issuer.nameInLine, longest)),
  };
}

/** Returns the lines of the foot, for a page without a margin for them. */
export function footOfPage(view: DocumentView, isShort: boolean): string[] {
  return footLines(view, footOf(isShort).longest);
}

/** Returns the height below the text of the first page: the margin with the foot, or the payment part. */
export function belowFirstPageMm(view: DocumentView, isShort: boolean): number {
  const foot = footMarginMm(view, isShort);
  return isPartAtFoot(view) ? SWISS_PART_MM + foot : foot;
}

/** True for a page whose foot is a payment part. It has no margin there, and the lines of the foot stand above it. */
export function isPartAtFoot({ swissPart, swissPlace }: DocumentView): boolean {
  return swissPart !== undefined && swissPlace === 'foot';
}

/** Returns the height of the margin with the foot. */
export function footMarginMm(view: DocumentView, isShort: boolean): number {
  const { longest, lineMm } = footOf(isShort);
  const height = Math.max(LINES_USUAL, linesOf(footLines(view, longest), longest));
  return MARGIN_MM + (height - LINES_USUAL) * lineMm;
}

const footOf = (isShort: boolean) => (isShort ? FOOT.short : FOOT.usual);

function footLines({ testMark, heading, number, legal }: DocumentView, longest: number): string[] {
  return [shortened([testMark, heading, number].filter(Boolean).join(' '), longest), ...legal];
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
