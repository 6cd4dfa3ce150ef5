// What the template may see of a document: plain texts and numbers, each chosen by name. Nothing a caller sends gets past this list.
import Big from 'big.js';
import type { PdfDocument } from '#libs/jobs/pdf-document.ts';
import type { PageSize, PrintableDocument, PrintableLine } from '#libs/jobs/printable-document.ts';
import type { HanForms } from '../fonts/fonts.ts';
import { hanFormsOf } from '../fonts/han.ts';
import type { InlineImage } from '../images/fetch-image.ts';
import { logoGround } from '../images/logo-ground.ts';
import { type LineAmounts, lineAmounts, type Totals, totalsOf } from './amounts.ts';
import { INK, type Palette, paletteOf } from './colour.ts';
import type { DocumentLocale, Money } from './document-locale.ts';
import { hyphenatorOf } from './hyphenate.ts';
import type { Labels } from './labels.ts';
import { type LineTable, lineTable } from './line-table.ts';
import { documentLocaleOf, isTag } from './locale.ts';

interface Party {
  label: string;
  /** The company, or the person when there is none; may have several lines. */
  name: string;
  /** The same, in one line. */
  nameInLine: string;
  lines: string[];
}

export interface DocumentView {
  language: string;
  direction: 'ltr' | 'rtl';
  pageSize: PageSize;
  heading: string;
  number: string;
  /** What state it is in, beside the number; one that is paid or cancelled says so in the headline. */
  mark: string | undefined;
  /** How much, and when: the sum, and what follows it. */
  headline: { sum: Money; phrase: string | undefined };
  /** Says that it comes from a test account, on every page. */
  testMark: string | undefined;
  style: PdfDocument['fontStyle'];
  layout: PdfDocument['layoutType'];
  textScale: number;
  hasBanner: boolean;
  banner: InlineImage | undefined;
  logo: InlineImage | undefined;
  /** A colour behind a logo that would not be seen without it. */
  logoGround: string | undefined;
  palette: Palette;
  labels: Labels;
  issuer: Party;
  client: Party;
  facts: { label: string; value: string }[];
  /** What the law wants on a letter, for the foot; empty when the issuer has none of it. */
  legal: string;
  intro: string | undefined;
  bodyHtml: string | undefined;
  /** Undefined without lines. */
  table: LineTable | undefined;
  totals: { label: string; amount: Money }[];
  totalLabel: string;
  total: Money;
  bankDetails: string | undefined;
  paymentDue: string | undefined;
  notes: string | undefined;
  terms: string | undefined;
  requiresSignature: boolean;
  han: HanForms;
}

/** The colour of a document whose caller gave none. */
const BRAND_OF: Record<PdfDocument['fontStyle'], string> = {
  elegant: '#2f4a43',
  modern: '#2b46e0',
  classic: '#74202c',
};

const PAPER = '#ffffff';
/** About the ground of white and of dark text on a banner image. */
const IMAGE_GROUND = { light: '#404040', dark: '#e6e6e6' } as const;

export interface Parts {
  logo: InlineImage | undefined;
  banner: InlineImage | undefined;
  /** Already sanitised. */
  bodyHtml: string | undefined;
}

/** @returns the view, and what the caller should be warned about. */
export function documentView(document: PrintableDocument, parts: Parts): { view: DocumentView; warnings: string[] } {
  const documentLocale = documentLocaleOf(document);
  const { labels, money, digits } = documentLocale;
  const amounts = document.lineItems.map((line) => lineAmounts(line, digits));
  const totals = totalsOf(document, amounts, digits);
  const hyphenated = hyphenatorOf(document);
  const lines = document.lineItems.map((line, index) =>
    lineView(
      { ...line, description: hyphenated(line.description ?? '') },
      amounts[index] as LineAmounts,
      documentLocale,
    ),
  );
  const isSettled = document.amountPaid !== undefined && document.amountDue !== undefined;
  const palette = paletteOf(document.brandColor ?? BRAND_OF[document.fontStyle]);
  const view: DocumentView = {
    language: documentLocale.language,
    direction: documentLocale.direction,
    pageSize: documentLocale.pageSize,
    heading: documentLocale.heading,
    number: document.number,
    mark: document.mark === 'draft' ? labels.marks.draft : undefined,
    headline: headlineOf(document, totals, documentLocale),
    testMark: document.isTest ? labels.testMark : undefined,
    style: document.fontStyle,
    layout: document.layoutType,
    textScale: document.textScale,
    hasBanner: document.showBanner,
    banner: parts.banner,
    logo: parts.logo,
    logoGround: groundOf(parts, document, palette),
    palette,
    labels,
    issuer: party(
      labels,
      labels.from,
      {
        company: document.partnerCompany,
        person: document.partnerName,
        email: document.partnerEmail,
        address: document.partnerAddress,
        taxId: document.partnerTaxId,
      },
      hyphenated,
    ),
    client: party(
      labels,
      labels.to,
      {
        company: document.clientCompany,
        person: document.clientName,
        email: document.clientEmail,
        address: document.clientAddress,
        taxId: document.clientTaxId,
      },
      hyphenated,
    ),
    facts: factsOf(document, documentLocale),
    legal: legalOf(document, labels),
    intro: printable(document.subject) ?? (document.isQuote ? printable(document.quoteIntro) : undefined),
    bodyHtml: parts.bodyHtml,
    table: lineTable(lines, { textScale: document.textScale, isSigned: document.requiresSignature }),
    totals: [
      ...totalRows(totals, documentLocale),
      ...(isSettled ? settledRows(totals, document.amountPaid ?? 0, documentLocale) : []),
    ],
    totalLabel: isSettled ? labels.amountDue : labels.total,
    total: money(isSettled ? new Big(document.amountDue ?? 0) : totals.total),
    bankDetails: printable(document.bankDetails),
    paymentDue:
      document.isQuote && document.paymentDueDays !== undefined ? paymentDue(document.paymentDueDays) : undefined,
    notes: printable(document.notes),
    terms: printable(document.terms),
    requiresSignature: document.requiresSignature,
    han: hanFormsOf(document),
  };
  const warnings = [
    ...mismatches(totals, document),
    ...(document.locale === undefined || isTag(document.locale) ? [] : ['locale: is no language tag']),
  ];
  return { view, warnings };
}

/** Whoever stored a record gave its amount; the subtotal is our word for it. */
function mismatches({ addsUp, isSumOfLines }: Totals, { locale }: PrintableDocument): string[] {
  const isStored = locale !== undefined;
  const isAmountOff = !addsUp || (isStored && !isSumOfLines);
  return [
    ...(isAmountOff ? ['amount: differs from the lines'] : []),
    ...(isStored || isSumOfLines ? [] : ['subtotal: differs from the lines']),
  ];
}

interface PartyFields {
  company: string | undefined;
  person: string;
  email: string;
  address: string | undefined;
  taxId: string | undefined;
}

function party(
  labels: Labels,
  label: string,
  { company, person, email, address, taxId }: PartyFields,
  hyphenated: (text: string) => string,
): Party {
  const number = printable(taxId);
  const lines = [address, email, number && labels.taxId(number)];
  const name = printable(company);
  const shown = name ?? person;
  return {
    label,
    name: hyphenated(shown),
    nameInLine: inLine(shown),
    lines: [name && person, ...lines].flatMap((text) => hyphenated(printable(text) ?? '') || []),
  };
}

/** The logo stands on paper, on the brand's colour or on the banner image. */
function groundOf({ logo, banner }: Parts, { showBanner, layoutType }: PrintableDocument, palette: Palette) {
  const isOnPaper = !showBanner || (banner !== undefined && layoutType === 'standard');
  if (isOnPaper) return logoGround(logo, PAPER, [palette.brand, INK]);
  return logoGround(logo, banner ? IMAGE_GROUND[banner.text ?? 'light'] : palette.brand, [PAPER, INK]);
}

function untilOf({ isQuote, expiryDate, dueDate }: PrintableDocument): string | undefined {
  return isQuote ? (expiryDate ?? dueDate) : dueDate;
}

/** Nothing is due of a sum that is nothing or less. */
function headlineOf(document: PrintableDocument, { total }: Totals, { labels, day, money }: DocumentLocale) {
  const { mark, amountPaid, amountDue } = document;
  if (mark === 'paid' || mark === 'cancelled') return { sum: money(total), phrase: labels.settled[mark] };
  const due = amountPaid !== undefined && amountDue !== undefined ? new Big(amountDue) : total;
  const until = untilOf(document);
  return { sum: money(due), phrase: until && due.gt(0) ? labels.onDay(day(until)) : undefined };
}

function factsOf(document: PrintableDocument, { labels, day, period }: DocumentLocale) {
  const until = untilOf(document);
  const poNumber = printable(document.poNumber);
  return [
    { label: labels.date, value: day(document.date) },
    ...(document.serviceDate ? [{ label: labels.serviceDate, value: day(document.serviceDate) }] : []),
    ...(document.servicePeriod ? [{ label: labels.servicePeriod, value: period(document.servicePeriod) }] : []),
    ...(until ? [{ label: labels.until, value: day(until) }] : []),
    ...(poNumber ? [{ label: labels.poNumber, value: poNumber }] : []),
  ];
}

function lineView(line: PrintableLine, { qty, rate, amount }: LineAmounts, { number, percent, money }: DocumentLocale) {
  const discount = line.discount === undefined ? undefined : new Big(line.discount);
  return {
    description: line.description ?? '',
    qty: qty ? number(qty) : '',
    rate: rate && money(rate),
    discount: discount === undefined || discount.eq(0) ? '' : percent(discount),
    amount: amount && money(amount),
  };
}

function totalRows(
  { subtotal, adjustment, discount, taxable, taxRate, tax, shipping }: Totals,
  { labels, percent, money }: DocumentLocale,
) {
  return [
    ...(subtotal ? [{ label: labels.subtotal, amount: money(subtotal) }] : []),
    ...(adjustment ? [{ label: labels.adjustment, amount: money(adjustment) }] : []),
    ...(discount ? [{ label: labels.discount, amount: money(discount.neg()) }] : []),
    ...(taxable ? [{ label: labels.taxable, amount: money(taxable) }] : []),
    ...(tax ? [{ label: labels.tax(percent(taxRate)), amount: money(tax) }] : []),
    ...(shipping ? [{ label: labels.shipping, amount: money(shipping) }] : []),
  ];
}

/** What was paid; the sum itself is what is still due then. */
function settledRows({ total }: Totals, paid: number, { labels, money }: DocumentLocale) {
  return [
    { label: labels.total, amount: money(total) },
    { label: labels.paid, amount: money(new Big(paid).neg()) },
  ];
}

/** The number for taxes and the account to pay to; both are of the account, not of a call. */
function legalOf({ partnerTaxId, bankDetails }: PrintableDocument, labels: Labels): string {
  const taxId = printable(partnerTaxId);
  return [taxId && labels.taxId(taxId), printable(bankDetails)]
    .flatMap((text) => (text ? inLines(text) : []))
    .join(' · ');
}

/** Lines of an address or a name, beside one another. */
function inLine(text: string): string {
  return inLines(text).join(', ');
}

function inLines(text: string): string[] {
  return text
    .split(/[\r\n]+/)
    .map((line) => line.trim().replace(/,$/, ''))
    .filter((line) => line !== '');
}

/** In English: only the PDF tool's documents have such a term. */
function paymentDue(days: number) {
  if (days === 0) return 'Payment is due on signing.';
  return `Payment is due within ${days} ${days === 1 ? 'day' : 'days'} of signing.`;
}

/** An empty text is a text not given: no label stands over nothing. */
function printable(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}
