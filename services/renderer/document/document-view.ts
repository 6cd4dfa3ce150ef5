// The view of a document that the template gets: texts and numbers, each chosen by name. No other input of a caller
// reaches the page.
import Big from 'big.js';
import { INK, type Palette, paletteOf } from '#libs/documents/colour.ts';
import type { Labels } from '#libs/documents/labels.ts';
import type { PdfDocument } from '#libs/jobs/pdf-document.ts';
import type { PageSize, PrintableDocument, PrintableLine } from '#libs/jobs/printable-document.ts';
import type { HanForms } from '../fonts/fonts.ts';
import { hanFormsOf } from '../fonts/han.ts';
import type { InlineImage } from '../images/fetch-image.ts';
import { logoGround } from '../images/logo-ground.ts';
import { type AcceptanceView, acceptanceView } from './acceptance.ts';
import { type LineAmounts, lineAmounts, type Totals, totalsOf } from './amounts.ts';
import type { DocumentLocale, Money } from './document-locale.ts';
import { hyphenatorOf } from './hyphenate.ts';
import { type LineTable, lineTable } from './line-table.ts';
import { documentLocaleOf, isTag } from './locale.ts';
import { clientOf, issuerOf, legalOf, type Party } from './party.ts';
import { type StatementView, statementFacts, statementHeadline, statementView } from './statement.ts';
import {
  creditRows,
  earlyPaymentNotes,
  type Fact,
  factsOf,
  headlineOf,
  type Payment,
  paymentOf,
  receiptRows,
  settledRows,
  type TotalRow,
  taxNotes,
  totalRows,
} from './summary.ts';
import { type SwissPart, swissPartOf } from './swiss-part.ts';
import { printable, withDashesBound } from './texts.ts';
import { type TimeSheet, timeSheet } from './time-sheet.ts';

export interface DocumentView {
  language: string;
  direction: 'ltr' | 'rtl';
  pageSize: PageSize;
  heading: string;
  /** The number of the document, or the period of a statement. */
  number: string;
  /** The state beside the number, such as draft. Paid and cancelled are in the headline. */
  mark: string | undefined;
  /** The sum and the phrase after it, such as the due date. Undefined on a document without one sum. */
  headline: { sum: Money; phrase: string | undefined } | undefined;
  /** The mark on every page of a document of a test account. */
  testMark: string | undefined;
  style: PdfDocument['fontStyle'];
  layout: PdfDocument['layoutType'];
  textScale: number;
  hasBanner: boolean;
  /** True for a file whose structure screen readers use. */
  isAccessible: boolean;
  banner: InlineImage | undefined;
  logo: InlineImage | undefined;
  /** A colour behind a logo that would be invisible on the ground. */
  logoGround: string | undefined;
  palette: Palette;
  labels: Labels;
  issuer: Party;
  client: Party;
  facts: Fact[];
  /** The lines of the foot. */
  legal: string[];
  intro: string | undefined;
  bodyHtml: string | undefined;
  /** Undefined without lines. */
  table: LineTable | undefined;
  totals: TotalRow[];
  totalLabel: string;
  total: Money;
  /** The notes below the total. */
  taxNotes: string[];
  /** The use of the total of a credit note. */
  settlement: { label: string; amount: Money }[];
  /** Undefined when nothing is due, or when no bank account is given. */
  payment: Payment | undefined;
  /** The payment part of a Swiss QR-bill. */
  swissPart: SwissPart | undefined;
  /** The place of the payment part: at the foot of the first page, or on a page of its own. */
  swissPlace: 'foot' | 'page';
  paymentDue: string | undefined;
  notes: string | undefined;
  terms: string | undefined;
  requiresSignature: boolean;
  /** The statement of account, in place of lines and totals. */
  statement: StatementView | undefined;
  /** The time sheet, on pages of its own. */
  timeSheet: TimeSheet | undefined;
  /** The page on which the time sheet begins, for the link below the total. Undefined without a time sheet. */
  timeSheetPage: number | undefined;
  /** The acceptance of a quote, on a page of its own. */
  acceptance: AcceptanceView | undefined;
  han: HanForms;
}

/** The brand colour of each style, where the caller gives none. */
const BRAND_OF: Record<PdfDocument['fontStyle'], string> = {
  elegant: '#2f4a43',
  modern: '#2b46e0',
  classic: '#74202c',
};

const PAPER = '#ffffff';
/** Colours close to the ground of white and of dark text on a banner image. */
const IMAGE_GROUND = { light: '#404040', dark: '#e6e6e6' } as const;

export interface DocumentParts {
  logo: InlineImage | undefined;
  banner: InlineImage | undefined;
  /** The signature that was drawn to accept a quote. */
  signature?: InlineImage | undefined;
  /** The body, already sanitised. */
  bodyHtml: string | undefined;
}

/** Returns the view, and warnings for the caller. */
export function documentView(
  document: PrintableDocument,
  parts: DocumentParts,
): { view: DocumentView; warnings: string[] } {
  const documentLocale = documentLocaleOf(document);
  const { labels, money, digits } = documentLocale;
  const amounts = document.lineItems.map((line) => lineAmounts(line, digits));
  const totals = totalsOf(document, amounts, digits);
  const hyphenate = hyphenatorOf(document);
  const hyphenated = (text: string) => withDashesBound(hyphenate(text));
  const named = (text: string) => {
    if (document.receipt) return labels.receipt.invoice(text);
    return text === '' && document.creditNote ? labels.creditNote.line(document.creditNote.invoice) : text;
  };
  const lines = document.lineItems.map((line, index) =>
    lineView(
      { ...line, description: hyphenated(named(line.description ?? '')) },
      hasOnlyAmount(document, line) ? { ...NO_PRICE, amount: amounts[index]?.amount } : (amounts[index] as LineAmounts),
      documentLocale,
    ),
  );
  const isSettled = document.amountPaid !== undefined && document.amountDue !== undefined;
  const palette = paletteOf(document.brandColor ?? BRAND_OF[document.fontStyle]);
  const payment = paymentOf(document, totals, documentLocale);
  const sheet = timeSheet(document.time, hyphenated, documentLocale);
  const view: DocumentView = {
    language: documentLocale.language,
    direction: documentLocale.direction,
    pageSize: documentLocale.pageSize,
    heading: headingOf(document, documentLocale),
    number: document.statement ? documentLocale.period(document.statement) : document.number,
    mark: markOf(document, labels),
    headline: document.statement
      ? statementHeadline(document.statement, documentLocale)
      : headlineOf(document, totals, documentLocale),
    testMark: document.isTest ? labels.testMark : undefined,
    style: document.fontStyle,
    layout: document.layoutType,
    textScale: document.textScale,
    hasBanner: document.showBanner,
    isAccessible: document.accessible === true,
    banner: parts.banner,
    logo: parts.logo,
    logoGround: groundOf(parts, document, palette),
    palette,
    labels,
    issuer: issuerOf(document, labels, hyphenated),
    client: clientOf(document, labels, hyphenated),
    facts: [
      ...factsOf(document, documentLocale, payment),
      ...receiptFacts(document, labels),
      ...(document.statement ? statementFacts(document.statement, documentLocale) : []),
    ],
    legal: legalOf(document, labels),
    intro: remark(document.subject) ?? (document.isQuote ? remark(document.quoteIntro) : undefined),
    bodyHtml: parts.bodyHtml,
    table: lineTable(lines, { textScale: document.textScale, isSigned: document.requiresSignature }),
    totals: document.receipt
      ? receiptRows(document.receipt, documentLocale)
      : [
          ...totalRows(totals, document, documentLocale),
          ...(isSettled ? settledRows(totals, document, documentLocale) : []),
        ],
    totalLabel: totalLabelOf(document, isSettled, labels),
    total: money(isSettled ? new Big(document.amountDue ?? 0) : totals.total),
    taxNotes: [...taxNotes(document, documentLocale), ...earlyPaymentNotes(document, documentLocale)],
    settlement: creditRows(document, documentLocale),
    payment,
    swissPart: document.swissBill && swissPartOf(document.swissBill, documentLocale.language),
    swissPlace: 'page',
    paymentDue:
      document.isQuote && document.paymentDueDays !== undefined ? paymentDue(document.paymentDueDays) : undefined,
    notes: remark(document.notes),
    terms: remark(document.terms),
    requiresSignature: document.requiresSignature,
    statement: statementView(document.statement, hyphenated, documentLocale),
    timeSheet: sheet,
    timeSheetPage: sheet && 2,
    acceptance: document.acceptance && acceptanceView(document.acceptance, parts.signature, documentLocale),
    han: hanFormsOf(document),
  };
  const warnings = [
    ...mismatches(totals, document),
    ...(document.locale === undefined || isTag(document.locale) ? [] : ['locale: is no language tag']),
  ];
  return { view, warnings };
}

function totalLabelOf({ receipt }: PrintableDocument, isSettled: boolean, labels: Labels): string {
  if (receipt) return labels.receipt.received;
  return isSettled ? labels.amountDue : labels.total;
}

function headingOf({ part }: PrintableDocument, { labels, heading }: DocumentLocale): string {
  return part && part !== 'full' ? labels.parts[part] : heading;
}

const NO_PRICE = { qty: undefined, rate: undefined } as const;

/**
 * True for a line that prints its amount only: one that takes something off, since "1 × −600" says no more than −600,
 * and the share of a quote.
 */
function hasOnlyAmount({ locale, creditNote, part }: PrintableDocument, { qty, rate, unit, discount }: PrintableLine) {
  if (locale === undefined || creditNote || rate === undefined || unit !== undefined) return false;
  const isOne = new Big(qty ?? 1).eq(1) && new Big(discount ?? 0).eq(0);
  return isOne && (part === 'deposit' || part === 'progress' || new Big(rate).lt(0));
}

/**
 * Returns warnings about sums that do not agree. The caller gave the amount of a stored record, while its subtotal is
 * computed.
 */
function mismatches({ addsUp, isSumOfLines }: Totals, { locale, receipt, statement }: PrintableDocument): string[] {
  if (statement) return [];
  if (receipt) return []; // The lines of a receipt are allocations to invoices, and the rest is credit.
  const isStored = locale !== undefined;
  const isAmountOff = !addsUp || (isStored && !isSumOfLines);
  return [
    ...(isAmountOff ? ['amount: differs from the lines'] : []),
    ...(isStored || isSumOfLines ? [] : ['subtotal: differs from the lines']),
  ];
}

/** Returns the colour below the logo: paper, the brand's colour or the banner image. */
function groundOf({ logo, banner }: DocumentParts, { showBanner, layoutType }: PrintableDocument, palette: Palette) {
  const isOnPaper = !showBanner || (banner !== undefined && layoutType === 'standard');
  if (isOnPaper) return logoGround(logo, PAPER, [palette.brand, INK]);
  return logoGround(logo, banner ? IMAGE_GROUND[banner.text ?? 'light'] : palette.brand, [PAPER, INK]);
}

function lineView(
  line: PrintableLine,
  { qty, rate, amount }: LineAmounts,
  { quantity, percent, money }: DocumentLocale,
) {
  const discount = line.discount === undefined ? undefined : new Big(line.discount);
  return {
    description: line.description ?? '',
    qty: qty ? quantity(qty, line.unit) : '',
    rate: rate && money(rate),
    discount: discount === undefined || discount.eq(0) ? '' : percent(discount),
    taxRate: line.taxRate === undefined ? '' : percent(new Big(line.taxRate)),
    amount: amount && money(amount),
  };
}

function remark(text: string | undefined): string | undefined {
  const shown = printable(text);
  return shown && withDashesBound(shown);
}

function receiptFacts({ receipt }: PrintableDocument, { receipt: labels }: Labels): Fact[] {
  const reference = printable(receipt?.reference);
  return [
    // `other` is the default of a payment whose method was not given.
    ...(receipt && receipt.method !== 'other' ? [{ label: labels.method, value: labels.methods[receipt.method] }] : []),
    ...(reference ? [{ label: labels.reference, value: reference }] : []),
  ];
}

function markOf({ mark, receipt }: PrintableDocument, labels: Labels): string | undefined {
  if (receipt?.isVoided) return labels.receipt.voided;
  return mark === 'draft' ? labels.draft : undefined;
}

/** Returns the phrase in English, because only documents of the PDF tool have this field. */
function paymentDue(days: number) {
  if (days === 0) return 'Payment is due on signing.';
  return `Payment is due within ${days} ${days === 1 ? 'day' : 'days'} of signing.`;
}
