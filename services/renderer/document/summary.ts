// The headline, the facts and the totals of a document.
import Big from 'big.js';
import { codeImage } from '#libs/documents/code-image.ts';
import type { PrintableDocument, Receipt } from '#libs/jobs/printable-document.ts';
import { languageOf } from '#libs/rules/taxes/document-taxes.ts';
import { taxNote } from '#libs/rules/taxes/tax-notes.ts';
import type { Totals } from './amounts.ts';
import type { DocumentLocale, Money } from './document-locale.ts';
import { printable } from './texts.ts';

export interface TotalRow {
  label: string;
  /** The amount that is taxed. */
  base?: Money | undefined;
  amount: Money;
}

/** The payment details: bank account, amount, due date and reference. */
export interface Payment {
  /** The bank accounts and further texts of the issuer, with a blank line between two. */
  accounts: string;
  due: Money;
  facts: { label: string; value: string }[];
  /** The code that fills in a transfer, as the data URI of an SVG. */
  code?: string;
  /** The link under the code, where its text is one. */
  codeLink?: string | undefined;
  links: { label: string; url: string }[];
}

/** A row beside the parties. */
export interface Fact {
  label: string;
  value: string;
  /** Printed instead of `value`. */
  amount?: Money;
  /** Its value is a day, or two, and not a text of any length. */
  isDay?: true;
}

/** A longer period has a line for each of its days. */
const PERIOD_LONGEST = 26;

/** The period of a single day is a day. */
function serviceFacts(
  { serviceDate, servicePeriod }: PrintableDocument,
  { labels, day, period }: DocumentLocale,
): Fact[] {
  const isOneDay = servicePeriod && servicePeriod.from === servicePeriod.to;
  const only = serviceDate ?? (isOneDay ? servicePeriod.from : undefined);
  if (only) return [{ label: labels.serviceDate, value: day(only), isDay: true }];
  if (!servicePeriod) return [];
  const days = period(servicePeriod);
  const value = days.length > PERIOD_LONGEST ? days.replace(/\s*–\s*/, ' –\n') : days;
  return [{ label: labels.servicePeriod, value, isDay: true }];
}

function untilOf({ isQuote, expiryDate, dueDate }: PrintableDocument): string | undefined {
  return isQuote ? (expiryDate ?? dueDate) : dueDate;
}

/**
 * Returns the headline. A sum of 0 or less is not due. The paid amount may be less than the total, where the rest was
 * credited or written off.
 */
export function headlineOf(document: PrintableDocument, { total }: Totals, { labels, day, money }: DocumentLocale) {
  const { mark, amountPaid, amountWrittenOff } = document;
  const settled = { paid: amountPaid, cancelled: undefined, written_off: amountWrittenOff };
  if (mark && mark !== 'draft') return { sum: money(new Big(settled[mark] ?? total)), phrase: labels.settled[mark] };
  const due = dueOf(document, total);
  const until = untilOf(document);
  return { sum: money(due), phrase: until && due.gt(0) ? labels.onDay(day(until)) : undefined };
}

/** Returns the payment details. A draft has no number yet that a payment could name. */
export function paymentOf(
  document: PrintableDocument,
  { total }: Totals,
  { labels, day, money }: DocumentLocale,
): Payment | undefined {
  const { mark, isQuote, creditNote, receipt, number, transferCode } = document;
  const accounts = printable(document.bankDetails) ?? '';
  const links = document.payLinks ?? [];
  const isSettled = mark !== undefined && mark !== 'draft';
  const due = dueOf(document, total);
  if ((!accounts && links.length === 0) || isSettled || isQuote || creditNote || receipt || due.lte(0))
    return undefined;
  const until = untilOf(document);
  return {
    accounts,
    due: money(due),
    facts: [
      ...(until ? [{ label: labels.until, value: day(until) }] : []),
      ...(mark === 'draft' ? [] : [{ label: labels.receipt.reference, value: number }]),
    ],
    ...(transferCode ? { code: codeImage(transferCode), codeLink: linkOf(transferCode) } : {}),
    links,
  };
}

/** Returns the link that opens a payment app on the phone that shows the document. The code of a transfer is none. */
function linkOf(transferCode: string): string | undefined {
  return transferCode.startsWith('upi://') ? transferCode : undefined;
}

function dueOf({ amountPaid, amountDue }: PrintableDocument, total: Big): Big {
  return amountPaid !== undefined && amountDue !== undefined ? new Big(amountDue) : total;
}

/** Returns the facts about the invoice that a credit note corrects, and the reason. */
function creditFacts(
  { creditNote }: PrintableDocument,
  { labels: { creditNote: labels }, day }: DocumentLocale,
): Fact[] {
  if (!creditNote) return [];
  return [
    { label: labels.invoice, value: creditNote.invoice },
    { label: labels.invoiceDate, value: day(creditNote.issuedOn), isDay: true },
    { label: labels.reason, value: labels.reasons[creditNote.reason] },
  ];
}

/** Returns the facts. @param payment names the due date, after the headline. A third time would be too much. */
export function factsOf(document: PrintableDocument, locale: DocumentLocale, payment: Payment | undefined): Fact[] {
  const { labels, day } = locale;
  const until = untilOf(document);
  const poNumber = printable(document.poNumber);
  const corrects = printable(document.corrects);
  const buyerReference = printable(document.buyerReference);
  const contract = printable(document.contractReference);
  return [
    // A statement has its period beside the heading.
    ...(document.statement ? [] : [{ label: labels.date, value: day(document.date), isDay: true as const }]),
    ...creditFacts(document, locale),
    ...(corrects ? [{ label: labels.corrects, value: corrects }] : []),
    ...serviceFacts(document, locale),
    ...(until && !payment ? [{ label: labels.until, value: day(until), isDay: true as const }] : []),
    ...(buyerReference ? [{ label: labels.buyerReference, value: buyerReference }] : []),
    ...(poNumber ? [{ label: labels.poNumber, value: poNumber }] : []),
    ...(contract ? [{ label: labels.contract, value: contract }] : []),
  ];
}

export function totalRows(
  { subtotal, adjustment, discount, taxable, net, shipping, rounding, ...totals }: Totals,
  document: PrintableDocument,
  documentLocale: DocumentLocale,
): TotalRow[] {
  const { labels, money } = documentLocale;
  const { pricesIncludeTax } = document;
  return [
    ...(subtotal
      ? [{ label: pricesIncludeTax && !net ? labels.taxes.net : labels.subtotal, amount: money(subtotal) }]
      : []),
    ...(adjustment ? [{ label: labels.adjustment, amount: money(adjustment) }] : []),
    ...(discount ? [{ label: labels.discount, amount: money(discount.neg()) }] : []),
    ...(taxable ? [{ label: labels.taxable, amount: money(taxable) }] : []),
    ...(shipping && net ? [{ label: labels.shipping, amount: money(shipping) }] : []),
    ...(net ? [{ label: labels.taxes.net, amount: money(net) }] : []),
    ...taxRows(totals, document, documentLocale),
    ...(shipping && !net ? [{ label: labels.shipping, amount: money(shipping) }] : []),
    ...(rounding ? [{ label: labels.rounding, amount: money(rounding) }] : []),
  ];
}

/**
 * Returns the rows of taxes. Each of several rates names the amount that it taxes. A stored document without tax has no
 * row: a note gives the reason, or its account never charges any.
 */
function taxRows(
  { taxes, tax, taxRate }: Pick<Totals, 'taxes' | 'tax' | 'taxRate'>,
  { locale }: PrintableDocument,
  { labels, percent, money }: DocumentLocale,
): TotalRow[] {
  const [only, ...others] = taxes ?? [];
  const isUntaxed = (only?.rate ?? taxRate).eq(0) && (!tax || tax.eq(0)) && others.length === 0;
  if (isUntaxed && locale !== undefined) return [];
  if (!taxes) return tax ? [{ label: labels.tax(percent(taxRate)), amount: money(tax) }] : [];
  return taxes.map((one) => ({
    label: labels.tax(percent(one.rate)),
    base: taxes.length > 1 ? money(one.taxable) : undefined,
    amount: money(one.tax),
  }));
}

/** Returns the notes below the total, each once: the reasons for no tax, and that prices include it. */
export function taxNotes({ taxes, pricesIncludeTax }: PrintableDocument, { labels, language }: DocumentLocale) {
  const included = pricesIncludeTax ? [labels.taxes.included] : [];
  if (!taxes) return included;
  const spoken = languageOf(language);
  const reasons = taxes.flatMap(({ note, category }) => printable(note) ?? taxNote(category ?? null, spoken) ?? []);
  return [...included, ...new Set(reasons)];
}

/** Returns a sentence for each discount for early payment, as long as something is due. */
export function earlyPaymentNotes(
  { earlyPayment = [], earlyPaymentOffers = [], amountDue }: PrintableDocument,
  locale: DocumentLocale,
): string[] {
  if (amountDue === 0) return [];
  const { labels, percent, day, money, number } = locale;
  const offers = earlyPaymentOffers.map((one) =>
    labels.earlyPaymentOffer(percent(new Big(one.percent)), number(new Big(one.days))),
  );
  const agreed = earlyPayment.map((one) => {
    const { before, symbol, after } = money(new Big(one.amount));
    return labels.earlyPayment(percent(new Big(one.percent)), day(one.until), `${before}${symbol}${after}`);
  });
  return [...offers, ...agreed];
}

/** Returns the rows of a partly paid document. The last one is the amount that is still due. */
export function settledRows(
  { total }: Totals,
  { amountPaid = 0, amountCredited, amountWrittenOff, amountDiscounted }: PrintableDocument,
  { labels, money }: DocumentLocale,
) {
  return [
    { label: labels.total, amount: money(total) },
    ...(amountPaid === 0 ? [] : [{ label: labels.paid, amount: money(new Big(amountPaid).neg()) }]),
    ...(amountCredited ? [{ label: labels.credited, amount: money(new Big(amountCredited).neg()) }] : []),
    ...(amountDiscounted ? [{ label: labels.discounted, amount: money(new Big(amountDiscounted).neg()) }] : []),
    ...(amountWrittenOff ? [{ label: labels.writtenOff, amount: money(new Big(amountWrittenOff).neg()) }] : []),
  ];
}

/** Returns the rows with the uses of a credit note's sum, without a minus. */
export function creditRows({ creditNote }: PrintableDocument, { labels, money }: DocumentLocale) {
  const { applied, ...rest } = creditNote ?? {};
  return [
    ...(applied ? [{ label: labels.creditNote.applied, amount: money(new Big(applied)) }] : []),
    ...receiptRows(rest, { labels, money }),
  ];
}

/** Returns the parts of a received amount that have no line. Together with the lines they add up to it. */
export function receiptRows(
  { credit, refunded }: Pick<Receipt, 'credit' | 'refunded'>,
  { labels, money }: Pick<DocumentLocale, 'labels' | 'money'>,
) {
  return [
    ...(credit ? [{ label: labels.receipt.credit, amount: money(new Big(credit)) }] : []),
    ...(refunded ? [{ label: labels.receipt.refunded, amount: money(new Big(refunded)) }] : []),
  ];
}
