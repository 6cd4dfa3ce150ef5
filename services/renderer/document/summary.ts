// The headline, the facts and the totals of a document.
import Big from 'big.js';
import type { PrintableDocument, Receipt } from '#libs/jobs/printable-document.ts';
import type { Totals } from './amounts.ts';
import type { DocumentLocale } from './document-locale.ts';
import { printable } from './texts.ts';

function untilOf({ isQuote, expiryDate, dueDate }: PrintableDocument): string | undefined {
  return isQuote ? (expiryDate ?? dueDate) : dueDate;
}

/** A sum of zero or less is not due. */
export function headlineOf(document: PrintableDocument, { total }: Totals, { labels, day, money }: DocumentLocale) {
  const { mark, amountPaid, amountDue } = document;
  if (mark === 'paid' || mark === 'cancelled') return { sum: money(total), phrase: labels.settled[mark] };
  const due = amountPaid !== undefined && amountDue !== undefined ? new Big(amountDue) : total;
  const until = untilOf(document);
  return { sum: money(due), phrase: until && due.gt(0) ? labels.onDay(day(until)) : undefined };
}

export function factsOf(document: PrintableDocument, { labels, day, period }: DocumentLocale) {
  const until = untilOf(document);
  const poNumber = printable(document.poNumber);
  const buyerReference = printable(document.buyerReference);
  const contract = printable(document.contractReference);
  return [
    { label: labels.date, value: day(document.date) },
    ...(document.serviceDate ? [{ label: labels.serviceDate, value: day(document.serviceDate) }] : []),
    ...(document.servicePeriod ? [{ label: labels.servicePeriod, value: period(document.servicePeriod) }] : []),
    ...(until ? [{ label: labels.until, value: day(until) }] : []),
    ...(buyerReference ? [{ label: labels.buyerReference, value: buyerReference }] : []),
    ...(poNumber ? [{ label: labels.poNumber, value: poNumber }] : []),
    ...(contract ? [{ label: labels.contract, value: contract }] : []),
  ];
}

export function totalRows(
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

/** For partly paid documents, whose last row is the amount that is still due. */
export function settledRows(
  { total }: Totals,
  { amountPaid = 0, amountWrittenOff }: PrintableDocument,
  { labels, money }: DocumentLocale,
) {
  return [
    { label: labels.total, amount: money(total) },
    ...(amountPaid === 0 ? [] : [{ label: labels.paid, amount: money(new Big(amountPaid).neg()) }]),
    ...(amountWrittenOff ? [{ label: labels.writtenOff, amount: money(new Big(amountWrittenOff).neg()) }] : []),
  ];
}

/** The parts of what was received without a line: with the lines they sum to it. */
export function receiptRows({ credit, refunded }: Receipt, { labels, money }: DocumentLocale) {
  return [
    ...(credit ? [{ label: labels.receipt.credit, amount: money(new Big(credit)) }] : []),
    ...(refunded ? [{ label: labels.receipt.refunded, amount: money(new Big(refunded)) }] : []),
  ];
}
