// Lays out line items: the columns of the table, the lines that may break, and the lines that stay with the total.
import { sumBy } from 'es-toolkit/math/sumBy';
import type { Money } from './document-locale.ts';
import { hasWide, widthOf } from './texts.ts';

export interface LineView {
  description: string;
  qty: string;
  rate: Money | undefined;
  discount: string;
  /** The tax rate, where lines have several. */
  taxRate: string;
  amount: Money | undefined;
}

interface TableLine extends Omit<LineView, 'description'> {
  /** The first line of the description. */
  item: string;
  /** The remaining lines, printed smaller. */
  details: string | undefined;
  /**
   * The rest of its description that does not fit beside the numbers, or ''. Set for a line that may break over pages.
   */
  overflow: string | undefined;
}

export interface LineTable {
  hasQty: boolean;
  hasRate: boolean;
  /** True when a line has its own discount. */
  hasDiscounts: boolean;
  hasTaxRates: boolean;
  columns: number;
  /** The lines before the last ones. */
  lines: TableLine[];
  /** The lines in one unsplit block with the total. A single line that may break flows into it instead. */
  last: TableLine[];
}

/** The letters of a description that fit beside the numbers, a low estimate. */
const LETTERS_ACROSS = 50;
/** The height from which a line counts as tall, in lines of text: a quarter of a page. */
const TALL = 13;
/** The most lines of text in the block with the total. They leave room for everything else on a page. */
const LAST_MOST = { alone: 26, withSignature: 10 } as const;

/**
 * Lays out lines.
 * @param options.textScale of the document.
 * @param options.isSigned a signature block follows the total.
 * @returns undefined without lines.
 */
export function lineTable(
  given: readonly LineView[],
  { textScale, isSigned }: { textScale: number; isSigned: boolean },
): LineTable | undefined {
  if (given.length === 0) return undefined;
  const across = LETTERS_ACROSS / textScale;
  const heights = given.map(({ description }) => heightOf(description, across));
  const lines = given.map((line, index) => tableLine(line, (heights[index] ?? 0) * textScale > TALL));
  const mayJoin = (isSigned ? LAST_MOST.withSignature : LAST_MOST.alone) / textScale;
  const count = lastLines(lines, heights, mayJoin);
  const hasQty = given.some(({ qty }) => qty !== '');
  const hasRate = given.some(({ rate }) => rate);
  const hasDiscounts = given.some(({ discount }) => discount !== '');
  const hasTaxRates = given.some(({ taxRate }) => taxRate !== '');
  return {
    hasQty,
    hasRate,
    hasDiscounts,
    hasTaxRates,
    columns: 2 + [hasQty, hasRate, hasDiscounts, hasTaxRates].filter(Boolean).length,
    lines: lines.slice(0, lines.length - count),
    last: lines.slice(lines.length - count),
  };
}

/**
 * Returns the number of lines that stay with the total: the last two of four and more. Three stay together, so that
 * none is alone under the table head.
 */
function lastLines(lines: readonly TableLine[], heights: readonly number[], most: number): number {
  const wanted = lines.length === 3 ? 3 : 2;
  let count = 1;
  let height = heights.at(-1) ?? 0;
  while (count < Math.min(wanted, lines.length)) {
    height += heights.at(-count - 1) ?? 0;
    const isNextTall = lines.at(-count - 1)?.overflow !== undefined;
    if (lines.at(-1)?.overflow !== undefined || isNextTall || height > most) break;
    count += 1;
  }
  return count;
}

function tableLine({ description, ...numbers }: LineView, isTall: boolean): TableLine {
  const [first = '', ...rest] = description.split(/\r\n?|\n/);
  const details = rest.length > 0 ? rest.join('\n') : undefined;
  if (!isTall) return { ...numbers, item: first, details, overflow: undefined };
  const at = cutOf(first);
  return { ...numbers, item: first.slice(0, at), details, overflow: first.slice(at).trimStart() };
}

/** Returns the end of the first line of a long item. The text is ragged there anyway. */
function cutOf(text: string): number {
  if (widthOf(text) <= LETTERS_ACROSS) return text.length;
  const space = text.lastIndexOf(' ', LETTERS_ACROSS);
  if (space > 0 && widthOf(text.slice(0, space)) <= LETTERS_ACROSS) return space;
  const characters = Array.from(text);
  const count = Math.floor(LETTERS_ACROSS / (hasWide(text) ? 2 : 1));
  return characters.slice(0, count).join('').length;
}

/** Returns the height of a description in lines of text. */
function heightOf(description: string, across: number): number {
  if (description.length <= across) return description.includes('\n') ? description.split('\n').length : 1;
  const lines = description.split(/\r\n?|\n/);
  return sumBy(lines, (line) => Math.max(1, Math.ceil(widthOf(line) / across)));
}
