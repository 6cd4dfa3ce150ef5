// What the template may see of a document: plain texts and numbers, each chosen by name. Nothing a caller sends gets past this list.
import Big from 'big.js';
import type { PdfDocument, PdfLine } from '#libs/jobs/pdf-document.ts';
import { currencyGap, digitsOf, groupedNumber, lineAmount, type Totals, totalsOf } from './amounts.ts';
import { type Palette, paletteOf } from './colour.ts';
import type { InlineImage } from './fetch-image.ts';
import { type Labels, labelsOf, printedDay } from './labels.ts';

/** The symbol apart from the number, so that a symbol written from right to left cannot turn the number around. */
export interface Money {
  sign: '' | '-';
  symbol: string;
  /** Between the two: a space that does not break, or nothing. */
  gap: string;
  number: string;
}

interface Party {
  label: string;
  /** The company, or the person when there is none. */
  name: string;
  lines: string[];
}

export interface DocumentView {
  language: string;
  heading: string;
  number: string;
  style: PdfDocument['fontStyle'];
  layout: PdfDocument['layoutType'];
  textScale: number;
  hasBanner: boolean;
  banner: InlineImage | undefined;
  logo: InlineImage | undefined;
  palette: Palette;
  labels: Labels;
  issuer: Party;
  client: Party;
  facts: { label: string; value: string }[];
  intro: string | undefined;
  bodyHtml: string | undefined;
  lines: { description: string; qty: string; rate: Money | undefined; amount: Money | undefined }[];
  totals: { label: string; amount: Money }[];
  total: Money;
  paymentDue: string | undefined;
  notes: string | undefined;
  terms: string | undefined;
  requiresSignature: boolean;
  /** Which fonts come first for Han characters, which three languages draw in three ways. */
  han: 'chinese' | 'japanese' | 'korean';
}

/** The colour of a document whose caller gave none. */
const BRAND_OF: Record<PdfDocument['fontStyle'], string> = {
  elegant: '#2f4a43',
  modern: '#2b46e0',
  classic: '#74202c',
};

export interface Parts {
  logo: InlineImage | undefined;
  banner: InlineImage | undefined;
  /** Already sanitised. */
  bodyHtml: string | undefined;
}

/** @returns the view, and what the caller should be warned about. */
export function documentView(document: PdfDocument, parts: Parts): { view: DocumentView; warnings: string[] } {
  const digits = digitsOf(document);
  const totals = totalsOf(document, digits);
  const labels = labelsOf(document.isQuote);
  const money = moneyIn(document.currencySymbol, digits);
  const view: DocumentView = {
    language: 'en',
    heading: document.title,
    number: document.number,
    style: document.fontStyle,
    layout: document.layoutType,
    textScale: document.textScale,
    hasBanner: document.showBanner,
    banner: parts.banner,
    logo: parts.logo,
    palette: paletteOf(document.brandColor ?? BRAND_OF[document.fontStyle]),
    labels,
    issuer: party(labels.from, document.partnerCompany, document.partnerName, document.partnerEmail),
    client: party(labels.to, document.clientCompany, document.clientName, document.clientEmail),
    facts: factsOf(document, labels),
    intro: document.isQuote ? printable(document.quoteIntro) : undefined,
    bodyHtml: parts.bodyHtml,
    lines: document.lineItems.map((line) => lineView(line, digits, money)),
    totals: totalRows(totals, labels, money),
    total: money(totals.total),
    paymentDue:
      document.isQuote && document.paymentDueDays !== undefined
        ? labels.paymentDue(document.paymentDueDays)
        : undefined,
    notes: printable(document.notes),
    terms: printable(document.terms),
    requiresSignature: document.requiresSignature,
    han: hanOf(document),
  };
  return { view, warnings: totals.addsUp ? [] : ['amount: differs from the lines'] };
}

function party(label: string, company: string | undefined, person: string, email: string): Party {
  const name = printable(company);
  return name
    ? { label, name, lines: [person, email].filter((text) => text.trim() !== '') }
    : { label, name: person, lines: [email].filter((text) => text.trim() !== '') };
}

function factsOf(document: PdfDocument, labels: Labels) {
  const until = document.isQuote ? (document.expiryDate ?? document.dueDate) : document.dueDate;
  const poNumber = printable(document.poNumber);
  return [
    { label: labels.number, value: document.number },
    { label: labels.date, value: printedDay(document.date) },
    ...(until ? [{ label: labels.until, value: printedDay(until) }] : []),
    ...(poNumber ? [{ label: labels.poNumber, value: poNumber }] : []),
  ];
}

function lineView(line: PdfLine, digits: number, money: (value: Big) => Money) {
  const amount = lineAmount(line, digits);
  return {
    description: line.description ?? '',
    qty: line.qty === undefined ? '' : signed(new Big(line.qty), 0),
    rate: line.rate === undefined ? undefined : money(new Big(line.rate)),
    amount: amount && money(amount),
  };
}

function totalRows(
  { subtotal, discount, taxRate, tax, shipping }: Totals,
  labels: Labels,
  money: (value: Big) => Money,
) {
  return [
    { label: labels.subtotal, amount: money(subtotal) },
    ...(discount ? [{ label: labels.discount, amount: money(discount.neg()) }] : []),
    { label: labels.tax(signed(taxRate, 0)), amount: money(tax) },
    ...(shipping ? [{ label: labels.shipping, amount: money(shipping) }] : []),
  ];
}

function moneyIn(currencySymbol: string, digits: number) {
  const symbol = currencySymbol.trim();
  const gap = currencyGap(symbol);
  return (value: Big): Money => ({ sign: value.lt(0) ? '-' : '', symbol, gap, number: groupedNumber(value, digits) });
}

function signed(value: Big, digits: number) {
  return `${value.lt(0) ? '-' : ''}${groupedNumber(value, digits)}`;
}

function hanOf({ lineItems, ...texts }: PdfDocument): DocumentView['han'] {
  const all = [...Object.values(texts), ...lineItems.map(({ description }) => description)];
  const has = (script: RegExp) => all.some((text) => typeof text === 'string' && script.test(text));
  if (has(/[\u3040-\u30ff]/)) return 'japanese';
  return has(/[\uac00-\ud7af]/) ? 'korean' : 'chinese';
}

/** An empty text is a text not given: no label stands over nothing. */
function printable(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}
