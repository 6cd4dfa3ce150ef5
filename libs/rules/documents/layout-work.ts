// Estimates from the texts of a document how much work it is to print. The estimate bounds the layout work that reaches
// Chromium.
import { appError } from '../../errors.ts';

/**
 * Chromium lays out an ordinary page in 3 to 8 ms and the most expensive one below this bound in about 20 ms, so no document keeps a
 * page of the renderer for more than about three seconds of processor time.
 */
export const WORK_PAGES_MAX = 150;
/**
 * The limit above which a document counts as slow. Fewer slow documents print at the same time, so that short ones
 * always find a page.
 */
const SLOW_PAGES = 10;

/** The description column of a line item. It is narrow, and a row has the height of almost two lines. */
const COLUMN = { width: 50, lines: 42, least: 1.8 };
/** The texts above and below the lines. */
const TEXT = { width: 85, lines: 50, least: 0 };

/** The time sheet behind a line: its column is narrow, too, and its rows are lower. */
const TIME = { width: 50, lines: 48, least: 1.5 };

/** The rows of a statement of account, with their text in one of two narrow columns. Six cells cost as much as two lines. */
const MOVEMENT = { width: 26, lines: 48, least: 2.25 };
/** The pages of the head, the balances and the ageing of a currency. */
const CURRENCY_PAGES = 0.25;

/** Script changes that take as long as one page: each starts another run of glyphs, often in another face. */
const SCRIPT_CHANGES_PER_PAGE = 600;
/** The time to lay out a paragraph grows with the square of its runs of glyphs, too, though each costs less than a piece of Markdown. */
const RUNS_SQUARED_PER_PAGE = 20_000_000;
/** Chromium looks for line breaks again and again where an ideographic space may hang beyond the edge of a line. */
const IDEOGRAPHIC_SPACES_PER_PAGE = 50;
/** The time to lay out a paragraph grows with the square of its pieces; this many squared pieces take as long as one page. */
const PIECES_SQUARED_PER_PAGE = 400_000;
/** An emphasis has a marker at each end, often of two characters, and costs less to lay out than a line. */
const MARKERS_PER_PIECE = 4;
/** The start of another paragraph: a blank line, an item of a list, a row, a heading or a quotation. */
const BLOCK_START = /\n(?=[ \t]*(?:\n|[-*+#|>]|\d{1,9}[.)]))/;
/**
 * Quotations and lists that begin within each other on one line. The renderer rejects this many levels, but parses them
 * first.
 */
const LEVELS_MAX = 100;
const LEVELS = /^(?:[ \t]*(?:>|\+(?=[ \t])|\d{1,9}[.)](?=[ \t])))+/gm;
/**
 * Tags and character references that begin another line: HTML in Markdown, and line breaks written as numbers or names.
 */
const HTML_LINE =
  /<\/?(?:br|hr|p|h[1-6]|li|ul|ol|pre|blockquote|table|tr|t[dh])(?![a-z0-9])|&(?:#0*1[03]|#x0*[ad]|newline)\b/gi;
const CELLS_PER_PAGE = 150;
/** The time to balance the columns of a table grows with the square of their number. */
const COLUMNS_SQUARED_PER_PAGE = 50_000;

interface Described {
  description?: string | undefined;
  place?: string | undefined;
}

/** The fields of a document that are measured by their place in the layout. Every other text field counts as well. */
interface Printed {
  lineItems?: readonly Described[];
  time?: readonly (Described & { entries: readonly Described[] })[];
  taxes?: readonly { note?: string }[];
  statement?: { statements: readonly { rows: readonly { number: string; text?: string }[] }[] };
  bodyMarkdown?: string;
  logoUrl?: string;
  bannerUrl?: string;
}

/** Estimates the number of ordinary pages that are as much work as the document, at least 1. */
export function estimatedPages(document: object): number {
  const {
    lineItems = [],
    time = [],
    taxes = [],
    statement,
    bodyMarkdown,
    logoUrl: _logo,
    bannerUrl: _banner,
    ...texts
  } = document as Printed;
  let pages = 1;
  for (const { description } of lineItems) pages += pagesOf(description ?? '', COLUMN);
  for (const { note = '' } of taxes) pages += pagesOf(note, TEXT);
  for (const { rows } of statement?.statements ?? []) {
    pages += CURRENCY_PAGES;
    for (const row of rows) pages += pagesOfMovement(row);
  }
  for (const text of Object.values(texts)) if (typeof text === 'string') pages += pagesOf(text, TEXT);
  if (bodyMarkdown !== undefined) {
    pages += pagesOf(bodyMarkdown.replaceAll(HTML_LINE, '\n$&'), TEXT);
    // The gateway rejects a document with too many lines anyway, and its paragraphs would take ten times as long to
    // examine.
    if (pages <= WORK_PAGES_MAX) pages += markdownPages(bodyMarkdown);
  }
  // The pages before a time sheet are printed once more, to count them.
  if (time.length > 0) pages *= 2;
  for (const { entries, ...line } of time) for (const row of [line, ...entries]) pages += pagesOf(textOf(row), TIME);
  return Math.ceil(pages);
}

/** The number stands beside the text: the higher one decides. */
function pagesOfMovement({ number, text = '' }: { number: string; text?: string }): number {
  return Math.max(pagesOf(number, MOVEMENT), pagesOf(text, MOVEMENT));
}

function textOf({ place, description = '' }: Described): string {
  return place === undefined ? description : `${place}\n${description}`;
}

/** True for a document with so many estimated pages that short ones must not wait behind it. */
export function isSlow(pages: number): boolean {
  return pages > SLOW_PAGES;
}

type TooLong = 'document_too_long' | 'document_texts_too_long' | 'client_texts_too_long' | 'account_texts_too_long';

/**
 * Rejects a document that is too much work to print.
 * @param bound for a part of a document.
 * @returns the estimate in pages.
 * @throws AppError 422 that names the estimate and the bound.
 */
export function requireBoundedWork(
  document: object,
  { code, pagesMax }: { code: TooLong; pagesMax: number } = { code: 'document_too_long', pagesMax: WORK_PAGES_MAX },
): number {
  const pages = estimatedPages(document);
  if (pages <= pagesMax) return pages;
  throw appError(code, { pages, limit: pagesMax });
}

function pagesOf(text: string, { width, lines, least }: typeof COLUMN): number {
  let printed = 0;
  let cells = 0;
  let work = 0;
  let script = 0;
  let changes = 0;
  let runs = 0;
  let pages = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.codePointAt(index) as number; // The index is inside the text, so there is a code point.
    if (code === LINE_FEED || code === CARRIAGE_RETURN) {
      if (code === CARRIAGE_RETURN && text.charCodeAt(index + 1) === LINE_FEED) index += 1;
      printed += Math.max(1, Math.ceil(cells / width));
      cells = 0;
      pages += runs ** 2 / RUNS_SQUARED_PER_PAGE;
      runs = 0;
      continue;
    }
    if (code > 0xffff) index += 1;
    cells += widthOf(code);
    work += costOf(code);
    if (code === IDEOGRAPHIC_SPACE) pages += 1 / IDEOGRAPHIC_SPACES_PER_PAGE;
    runs += isInvisible(code) ? 1 : (southEastAsian(code)?.runs ?? 0);
    // Spaces, digits and punctuation take the script of their neighbours. Digits in text from right to left are a run
    // of their own.
    const own = isDigit(code) && isFromRightToLeft(script) ? LATIN : scriptOf(code);
    if (own === 0 || own === script) continue;
    changes += script === 0 ? 0 : 1;
    runs += 1;
    script = own;
  }
  pages += runs ** 2 / RUNS_SQUARED_PER_PAGE;
  printed += cells > 0 ? Math.ceil(cells / width) : 0;
  const height = Math.max(printed, least);
  return pages + Math.max(height, work / width) / lines + changes / SCRIPT_CHANGES_PER_PAGE;
}

/** Returns the pages that Markdown costs beyond its text, for paragraphs of many pieces and for tables. */
function markdownPages(markdown: string): number {
  let pages = 0;
  for (const block of markdown.split(BLOCK_START)) {
    const pieces = countOf(block, /\n/g) + countOf(block, /[*_~`[!<]/g) / MARKERS_PER_PIECE;
    pages += pieces ** 2 / PIECES_SQUARED_PER_PAGE;
  }
  for (const [levels] of markdown.matchAll(LEVELS)) {
    if (countOf(levels, /[>+.)]/g) > LEVELS_MAX) return WORK_PAGES_MAX;
  }
  let cells = 0;
  let columns = 0;
  for (const line of markdown.split('\n')) {
    const inLine = countOf(line, /\|/g);
    cells += inLine;
    columns = Math.max(columns, inLine);
  }
  return pages + cells / CELLS_PER_PAGE + columns ** 2 / COLUMNS_SQUARED_PER_PAGE;
}

function countOf(text: string, pattern: RegExp): number {
  let count = 0;
  for (const _match of text.matchAll(pattern)) count += 1;
  return count;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Returns the width of a character in columns of a Latin letter. */
function widthOf(code: number): number {
  return code >= 0x1100 && isWide(code) ? 2 : 1;
}

/** True for Hangul, kana, Han, full-width forms and emoji. */
function isWide(code: number): boolean {
  return (
    code <= 0x115f ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xff00 && code <= 0xff60) ||
    code >= 0x1f300
  );
}

/**
 * Returns the cost relative to a Latin letter. Most characters beyond the first plane have no face, so Chromium asks
 * every face.
 */
function costOf(code: number): number {
  if (code < 0x0590) return 1;
  if (isPrivate(code)) return 6;
  return southEastAsian(code)?.cost ?? 2;
}

/** Chromium looks words of these scripts up in a dictionary, which takes longer in a long paragraph. */
const SOUTH_EAST_ASIAN = [
  { first: 0x0e00, last: 0x0eff, cost: 4, runs: 0.6 },
  { first: 0x1000, last: 0x109f, cost: 5, runs: 2 },
  { first: 0x1780, last: 0x17ff, cost: 4, runs: 0.6 },
] as const;

function southEastAsian(code: number) {
  if (code < 0x0e00 || code > 0x17ff) return undefined;
  return SOUTH_EAST_ASIAN.find(({ first, last }) => code >= first && code <= last);
}

/** True for characters that no face has, or that Chromium cannot place. */
function isPrivate(code: number): boolean {
  return code > 0xffff || (code >= 0xe000 && code <= 0xf8ff);
}

const IDEOGRAPHIC_SPACE = 0x3000;

/** True for joiners, marks of direction and the like. Each is a run of its own. */
function isInvisible(code: number): boolean {
  return (
    code === 0xad ||
    code === 0x061c ||
    (code >= 0x200b && code <= 0x200f) ||
    (code >= 0x2028 && code <= 0x202e) ||
    (code >= 0x2060 && code <= 0x206f) ||
    code === 0xfeff
  );
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

const LATIN = 1;

function isFromRightToLeft(script: number): boolean {
  return script >= scriptOf(0x0590) && script <= scriptOf(0x08ff);
}

/** Returns a coarse script, or 0 for characters that every script uses. */
function scriptOf(code: number): number {
  if (code < 0x41 || (code >= 0x2000 && code <= 0x206f)) return 0;
  if (code < 0x0370) return LATIN;
  if (code < 0x2e80) return 2 + (code >> 7);
  return code <= 0xffff ? 200 : 300;
}
