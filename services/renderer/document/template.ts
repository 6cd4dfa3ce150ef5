// Renders a document as HTML. Template and style sheets are read and compiled once.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ejs from 'ejs';
import { CHECK_MARK_FACE, fallbackOrder, type HanForms } from '../fonts/fonts.ts';
import { artworkOf } from './artwork.ts';
import { INK } from './colour.ts';
import type { Money } from './document-locale.ts';
import type { DocumentView } from './document-view.ts';
import { marginTexts } from './page-margins.ts';
import { BANNER_HEIGHT_MM } from './paper.ts';

export type Render = (view: DocumentView) => string;

const SIZE_PT = { elegant: 9.2, modern: 9, classic: 10.6 } as const;

/** Naskh is drawn smaller than Latin. */
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
    destructuredLocals: ['view', 'styles', 'artwork'],
  });
  const shared = minified(read('document.css'));
  const sheets = {
    elegant: cutAtValues(shared + minified(read('elegant.css'))),
    modern: cutAtValues(shared + minified(read('modern.css'))),
    classic: cutAtValues(shared + minified(read('classic.css'))),
  };
  return (view) => {
    const html = fill({ view, styles: stylesOf(sheets[view.style], view), artwork: artworkOf(view) });
    return html.includes('\u2713') ? html.replace('<style>', `<style>${CHECK_MARK_FACE}`) : html;
  };
}

/** @returns alternately text and names of values. */
function cutAtValues(sheet: string): string[] {
  return sheet.split(/\$(\w+)/);
}

function stylesOf(sheet: readonly string[], view: DocumentView): string {
  const { text, display } = FACES[view.style];
  const values: Record<string, string> = {
    text: stack(text, view.han),
    display: stack(display, view.han),
    mono: stack('IBM Plex Mono', view.han),
    size: `${(SIZE_PT[view.style] * view.textScale * (view.direction === 'rtl' ? ARABIC_LARGER : 1)).toFixed(2)}pt`,
    banner: `${BANNER_HEIGHT_MM[view.layout].toFixed(4)}mm`,
    brand: view.palette.brand,
    onBrand: view.palette.onBrand,
    ink: view.palette.ink,
    tint: view.palette.tint,
    firstMargin: view.hasBanner ? '0' : '16mm',
    onPicture: view.banner?.text === 'dark' ? INK : '#fff',
    logoGround: view.logoGround ?? 'none',
    ...marginTexts(view),
    // A strip in the banner's colour on the pages after the first.
    pageBand: view.hasBanner ? '2.4mm' : '0',
    paper: view.pageSize,
    left: view.direction === 'rtl' ? 'right' : 'left',
    right: view.direction === 'rtl' ? 'left' : 'right',
    facts: `${((view.facts.some(isLongDay) ? 66 : 58) * Math.max(1, view.textScale)).toFixed(1)}mm`,
    pages: '" counter(page) " / " counter(pages) "',
    ...columnWidths(view),
    ...sheetWidths(view),
  };
  return sheet.map((part, index) => (index % 2 === 0 ? part : (values[part] ?? ''))).join('');
}

/** A value of `font-family` with about forty families, the same for every document of a style. */
function stack(first: string, han: HanForms): string {
  const key = `${first} ${han}`;
  const known = stacks.get(key);
  if (known !== undefined) return known;
  const families = fallbackOrder(first, han);
  const made = families.map((family) => `'${family}'`).join(',');
  stacks.set(key, made);
  return made;
}

/** At most one for each face of a style and form of Han characters. */
const stacks = new Map<string, string>();

/** Days such as `21 de noviembre de 2026` must fit beside their label without a line break. */
function isLongDay({ label, value }: DocumentView['facts'][number]) {
  return label.length + value.length > 34 && value.length < 28;
}

/** Characters of a number that its column holds. Two such columns and a description fit on the narrowest page. */
const NUMBER_LONGEST = 24;
const NUMBER_USUAL = 18;
const NUMBER_SHORT = 13;
/** Space beside a number, in rem: wider where there is room. */
const GAP = { wide: 3, narrow: 1.6 } as const;

function lengthOf(money: Money | undefined): number {
  return money ? money.before.length + money.symbol.length + money.after.length : 0;
}

// Numbers must not wrap, and every row must have the same columns: as wide as the longest number, within reason.
function columnWidths({ table, labels }: DocumentView) {
  const lines = table ? [...table.lines, ...table.last] : [];
  // Longer numbers have more narrow characters: separators, and a gap after the symbol.
  const width = (longest: number, least: number) => {
    const characters = Math.min(Math.max(longest, least), NUMBER_LONGEST);
    const gap = characters <= NUMBER_SHORT ? GAP.wide : GAP.narrow;
    return `${(Math.min(characters, NUMBER_USUAL) * 0.6 + Math.max(0, characters - NUMBER_USUAL) * 0.4 + gap).toFixed(1)}rem`;
  };
  const longest = {
    qty: Math.max(...lines.map(({ qty }) => qty.length)),
    rate: Math.max(...lines.map(({ rate }) => lengthOf(rate))),
    discount: Math.max(...lines.map(({ discount }) => discount.length)),
    taxRate: Math.max(...lines.map(({ taxRate }) => taxRate.length)),
    amount: Math.max(...lines.map(({ amount }) => lengthOf(amount))),
  };
  return {
    qty: width(Math.max(labels.qty.length, longest.qty), 3),
    rate: width(Math.max(labels.rate.length, longest.rate), 7),
    discount: width(Math.max(labels.discount.length, longest.discount), 6),
    taxRate: width(Math.max(labels.taxes.column.length, longest.taxRate), 4),
    amount: width(Math.max(labels.amount.length, longest.amount), 8),
    // A longer number would leave the page, so it may break.
    numbers: Math.max(...Object.values(longest)) > NUMBER_LONGEST ? 'pre-line' : 'nowrap',
  };
}

/** Of the time sheet: labels may take two lines, days and numbers one. */
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
    sheetAmount: rem(Math.max(labels.amount.length, ...sums.map(({ amount }) => lengthOf(amount))), 1.6),
  };
}

function minified(css: string) {
  return css
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s*([{};,])\s*/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
