// Decides whether a document is so short that its page has room for larger type. The lengths are upper estimates.
import { sumBy } from 'es-toolkit/math/sumBy';
import type { DocumentView } from './document-view.ts';
import { belowFirstPageMm } from './page-margins.ts';
import { BANNER_HEIGHT_MM, PAPER_HEIGHT_MM } from './paper.ts';
import { hasWide, widthOf } from './texts.ts';

/** The factor for the type of a short document, and the most with the caller's own. */
export const LARGER = { factor: 1.12, most: 1.2 } as const;

const LINES_MOST = 4;
/** With more columns the numbers would leave the description less than half of the width. */
const COLUMNS_MOST = 4;
/** A longer part of a word, such as the domain of an address of mail, would break beside the facts. */
const PARTY_WORD_MOST = 26;
/** The height of a line of the larger type. */
const LINE_MM = 5.6;
/** Heights of what stands around the lines of text. */
const MM = {
  masthead: 30,
  lead: 42,
  parties: 15,
  intro: 8,
  tableHead: 10,
  row: 6.3,
  sumRow: 8,
  total: 19,
  payment: 28,
  /** A code to scan, with its caption in two lines. */
  code: 40,
  remark: 14,
  signature: 70,
} as const;
/** Characters of a line of text, low estimates. */
const ACROSS = { party: 24, description: 45, page: 75, halfPage: 40 } as const;

/** True for one to four lines, or none, of a document that fits on one page also in larger type. */
export function isShortDocument(view: DocumentView): boolean {
  const { table } = view;
  const lines = table ? [...table.lines, ...table.last] : [];
  if (view.statement || view.bodyHtml || lines.length > LINES_MOST || (table && table.columns > COLUMNS_MOST))
    return false;
  if (lines.some(({ overflow }) => overflow !== undefined)) return false;
  if ([view.client, view.issuer].some(hasLongWord)) return false;
  const isField = view.hasBanner && view.layout === 'overlay';
  const isBand = view.hasBanner && (isField || !view.banner);
  const rows = lines.map(
    ({ item, details = '' }) => linesOf(item, ACROSS.description) + linesOf(details, ACROSS.description),
  );
  const around =
    (view.hasBanner ? BANNER_HEIGHT_MM[view.layout] : 0) +
    (isBand ? 0 : MM.masthead) +
    (isField ? 0 : MM.lead) +
    MM.parties +
    (view.intro ? MM.intro : 0) +
    (lines.length > 0 ? MM.tableHead + lines.length * MM.row : 0) +
    (view.totals.length + view.settlement.length) * MM.sumRow +
    MM.total +
    (view.payment ? MM.payment : 0) +
    [view.notes, view.terms].filter(Boolean).length * MM.remark +
    (view.requiresSignature ? MM.signature : 0);
  const text =
    Math.max(...[view.client, view.issuer].map(partyLines), view.facts.length + 1) +
    linesOf(view.intro, ACROSS.page) +
    sumBy(rows, (count) => count) +
    sumBy(view.taxNotes, (note) => linesOf(note, ACROSS.halfPage)) +
    (view.paymentDue || view.timeSheetPage ? 2 : 0) +
    paymentLines(view) +
    linesOf(view.notes, ACROSS.halfPage) +
    linesOf(view.terms, ACROSS.halfPage);
  return around + text * LINE_MM * view.textScale <= PAPER_HEIGHT_MM[view.pageSize] - belowFirstPageMm(view, true);
}

function paymentLines({ payment, textScale }: DocumentView): number {
  if (!payment) return 0;
  const code = payment.code ? MM.code / (LINE_MM * textScale) : 0;
  return Math.max(linesOf(payment.accounts, ACROSS.halfPage), payment.facts.length + 1, code);
}

function hasLongWord({ name, lines }: DocumentView['client']): boolean {
  // East Asian text breaks anywhere.
  const isLong = (word: string) => word.length > PARTY_WORD_MOST && !hasWide(word);
  return [name, ...lines].some((line) => line.split(/\s|@|(?=\.)/).some(isLong));
}

function partyLines({ name, lines }: DocumentView['client']): number {
  return 1 + sumBy([name, ...lines], (line) => linesOf(line, ACROSS.party));
}

function linesOf(text: string | undefined, across: number): number {
  if (!text) return 0;
  return sumBy(text.split(/\r\n?|\n/), (line) => Math.max(1, Math.ceil(widthOf(line) / across)));
}
