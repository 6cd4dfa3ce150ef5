// Renders a document as HTML. Template and style sheets are read and compiled once.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ejs from 'ejs';
import { sum } from 'es-toolkit/math/sum';
import { mapValues } from 'es-toolkit/object/mapValues';
import { INK } from '#libs/documents/colour.ts';
import { CHECK_MARK_FACE, fallbackOrder, type HanForms } from '../fonts/fonts.ts';
import { artworkOf } from './artwork.ts';
import type { Money } from './document-locale.ts';
import type { DocumentView } from './document-view.ts';
import { numberWidth } from './number-width.ts';
import { footMarginMm, footOfPage, isPartAtFoot, marginTexts } from './page-margins.ts';
import { BANNER_HEIGHT_MM, FIRST_MARGIN_MM, PAPER_HEIGHT_MM } from './paper.ts';
import { isShortDocument, LARGER } from './short-document.ts';

export type Render = (view: DocumentView) => string;

const SIZE_PT = { elegant: 9.2, modern: 9, classic: 10.6 } as const;

/** The width of the facts beside the parties. */
const FACTS_MM = { least: 58, most: 80 } as const;

/** The factor for Naskh, which is drawn smaller than Latin. */
const ARABIC_LARGER = 1.08;

const FACES = {
  elegant: { text: 'Source Serif 4', display: 'Cormorant Garamond' },
  modern: { text: 'IBM Plex Sans', display: 'IBM Plex Sans' },
  classic: { text: 'EB Garamond', display: 'EB Garamond' },
} as const;

export function compileTemplate(): Render {
  const read = (name: string) => readFileSync(new URL(`./templates/${name}`, import.meta.url), 'utf8');
  const fill = ejs.compile(read('document.ejs'), {
    client: false,
    filename: fileURLToPath(new URL('./templates/document.ejs', import.meta.url)),
    strict: true,
    destructuredLocals: ['view', 'styles', 'artwork', 'isShortDocument', 'foot'],
  });
  const shared = minified(read('document.css'));
  const sheets = {
    elegant: cutAtValues(shared + minified(read('elegant.css'))),
    modern: cutAtValues(shared + minified(read('modern.css'))),
    classic: cutAtValues(shared + minified(read('classic.css'))),
  };
  return (view) => {
    const isShort = isShortDocument(view);
    const styles = stylesOf(sheets[view.style], view, isShort);
    const html = fill({
      view,
      styles,
      artwork: artworkOf(view),
      isShortDocument: isShort,
      foot: footOfPage(view, isShort),
    });
    return html.includes('\u2713') ? html.replace('<style>', `<style>${CHECK_MARK_FACE}`) : html;
  };
}

/** Cuts a sheet at its values. @returns alternately text and names of values. */
function cutAtValues(sheet: string): string[] {
  return sheet.split(/\$(\w+)/);
}

function scaleOf({ textScale }: DocumentView, isShort: boolean): number {
  return isShort ? Math.max(textScale, Math.min(LARGER.most, textScale * LARGER.factor)) : textScale;
}

function firstMarginMm({ hasBanner }: DocumentView): number {
  return hasBanner ? 0 : FIRST_MARGIN_MM;
}

function stylesOf(sheet: readonly string[], view: DocumentView, isShort: boolean): string {
  const scale = scaleOf(view, isShort);
  const { text, display } = FACES[view.style];
  const values: Record<string, string> = {
    text: stack(text, view.han),
    display: stack(display, view.han),
    mono: stack('IBM Plex Mono', view.han),
    size: `${(SIZE_PT[view.style] * scale * (view.direction === 'rtl' ? ARABIC_LARGER : 1)).toFixed(2)}pt`,
    banner: `${BANNER_HEIGHT_MM[view.layout].toFixed(4)}mm`,
    brand: view.palette.brand,
    onBrand: view.palette.onBrand,
    ink: view.palette.ink,
    tint: view.palette.tint,
    firstMargin: `${firstMarginMm(view)}mm`,
    // A hair less, or rounding would make a second page.
    front: `${(PAPER_HEIGHT_MM[view.pageSize] - firstMarginMm(view) - (isPartAtFoot(view) ? 0 : footMarginMm(view, isShort) + 0.5)).toFixed(1)}mm`,
    onPicture: view.banner?.text === 'dark' ? INK : '#fff',
    logoGround: view.logoGround ?? 'none',
    ...marginTexts(view, isShort),
    // This is a strip in the banner's colour on the pages after the first.
    pageBand: view.hasBanner ? '2.4mm' : '0',
    paper: view.pageSize,
    left: view.direction === 'rtl' ? 'right' : 'left',
    right: view.direction === 'rtl' ? 'left' : 'right',
    factsLeast: `${(FACTS_MM.least * Math.max(1, view.textScale)).toFixed(1)}mm`,
    factsMost: `${(FACTS_MM.most * Math.max(1, scale)).toFixed(1)}mm`,
    pages: '" counter(page) " / " counter(pages) "',
    ...columnWidths(view, isShort),
    ...sheetWidths(view),
    ...movementWidths(view),
  };
  return sheet.map((part, index) => (index % 2 === 0 ? part : (values[part] ?? ''))).join('');
}

/** Returns a value of `font-family` with about forty families, the same for every document of a style. */
function stack(first: string, han: HanForms): string {
  return fallbackOrder(first, han)
    .map((family) => `'${family}'`)
    .join(',');
}

/** The space before a number in rem. It is wider where there is room. */
const GAP = { wide: 2.6, narrow: 1.25 } as const;
/**
 * Parts of the table's width. Numbers that need more than the first have narrow gaps. Those that need more than the
 * second may break.
 */
const NUMBERS = { roomy: 0.4, most: 0.85 } as const;
const TABLE_MM = 174;
const MM_PER_POINT = 25.4 / 72;
/** The size of column heads, which are smaller than numbers. */
const HEAD = 0.9;

function textOf(money: Money | undefined): string {
  return money ? money.before + money.symbol + money.after : '';
}

/**
 * Returns the widths of columns. Each number column is as wide as its longest number or label, and the description has
 * the rest.
 */
function columnWidths(view: DocumentView, isShort: boolean) {
  const { table, labels, style } = view;
  if (!table) return {};
  const lines = [...table.lines, ...table.last];
  const longest = (label: string, textIn: (line: (typeof lines)[number]) => string) =>
    Math.max(numberWidth(label, style) * HEAD, ...lines.map((line) => numberWidth(textIn(line), style)));
  const widths = {
    qty: table.hasQty ? longest(labels.qty, ({ qty }) => qty) : 0,
    rate: table.hasRate ? longest(labels.rate, ({ rate }) => textOf(rate)) : 0,
    discount: table.hasDiscounts ? longest(labels.discount, ({ discount }) => discount) : 0,
    taxRate: table.hasTaxRates ? longest(labels.taxes.column, ({ taxRate }) => taxRate) : 0,
    amount: longest(labels.amount, ({ amount }) => textOf(amount)),
  };
  const across = TABLE_MM / (SIZE_PT[style] * scaleOf(view, isShort) * MM_PER_POINT);
  const partWith = (gap: number) => (sum(Object.values(widths)) + (table.columns - 1) * gap) / across;
  const isRoomy = partWith(GAP.wide) <= NUMBERS.roomy * (isShort ? LARGER.factor : 1);
  const gap = isRoomy ? GAP.wide : GAP.narrow;
  // Longer numbers would leave the page, so they share the width and break.
  const shrink = Math.min(1, NUMBERS.most / partWith(gap));
  return {
    ...mapValues(widths, (width) => `${((width + gap) * shrink).toFixed(2)}rem`),
    numbers: shrink < 1 ? 'pre-line' : 'nowrap',
  };
}

/** Returns the widths of the time sheet. Labels may take two lines, days and numbers one. */
function sheetWidths({ timeSheet, labels }: DocumentView) {
  if (!timeSheet) return {};
  const { lines, total } = timeSheet;
  const sums = [...lines, ...(total ? [total] : [])];
  const longestWord = (label: string) => Math.max(...label.split(' ').map((word) => word.length));
  const rem = (characters: number, gap: number) => `${(characters * 0.58 + gap).toFixed(1)}rem`;
  const days = lines.flatMap(({ entries }) => entries.map(({ day }) => day.length));
  const hours = (name: 'hours' | 'billed') =>
    Math.max(longestWord(labels.time[name]), ...sums.map((sum) => sum[name].length));
  return {
    day: rem(Math.max(labels.time.date.length, ...days), 1.4),
    hours: rem(hours('hours'), 1.4),
    billed: rem(hours('billed'), 1.4),
    sheetAmount: rem(Math.max(labels.amount.length, ...sums.map(({ amount }) => textOf(amount).length)), 1.6),
  };
}

/** Day and numbers of a statement take no more than this part of the width. Longer numbers break. */
const MOVEMENTS_MOST = 0.72;

/** Returns the widths of the columns of a statement, of all its currencies. The document and its text share the rest. */
function movementWidths({ statement, labels, style, textScale }: DocumentView) {
  if (!statement) return {};
  const tables = statement.currencies.flatMap(({ opening, rows, closing }) => [opening, ...rows, closing]);
  const longest = (label: string, texts: Iterable<string>) => {
    let most = numberWidth(label, style) * HEAD;
    for (const text of new Set(texts)) most = Math.max(most, numberWidth(text, style));
    return most + GAP.narrow;
  };
  const amounts = (name: 'debit' | 'credit' | 'balance') => tables.map((row) => textOf(row[name]));
  const days = tables.map((row) => row.day);
  const day = longest(labels.time.date, days);
  const widths = {
    debit: longest(labels.statement.debit, amounts('debit')),
    credit: longest(labels.statement.credit, amounts('credit')),
    held: longest(labels.statement.balance, amounts('balance')),
  };
  const across = TABLE_MM / (SIZE_PT[style] * textScale * MM_PER_POINT);
  const shrink = Math.min(1, (across * MOVEMENTS_MOST - day) / sum(Object.values(widths)));
  return {
    movedDay: `${day.toFixed(2)}rem`,
    ...mapValues(widths, (width) => `${(width * shrink).toFixed(2)}rem`),
    movedNumbers: shrink < 1 ? 'pre-line' : 'nowrap',
  };
}

function minified(css: string) {
  return css
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s*([{};,])\s*/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
