// A stored invoice, quote or receipt as the renderer prints it: every amount as the API returns it, nothing is computed anew.

import { sumBy } from 'es-toolkit/math/sumBy';
import { dayIn } from '../day.ts';
import type { PrintableDocument, PrintableLine, PrintableTax } from '../jobs/printable-document.ts';
import type { InvoiceRecord } from '../models/billing/invoice.ts';
import { printedNumber } from '../models/billing/number-ledger.ts';
import type { Parties } from '../models/billing/parties.ts';
import { liveAmount, type PaymentRecord } from '../models/billing/payment.ts';
import type { QuoteRecord } from '../models/billing/quote.ts';
import { type DocumentCharges, hasCharges } from '../rules/documents/document-charges.ts';
import type { LineItem } from '../rules/documents/line-item.ts';
import { dueOf, isWrittenOff, totalOf } from '../rules/money/balance.ts';
import { discountAmount, discountTaken, lastDayOf } from '../rules/money/early-payment.ts';
import { fromMinor, lineNet, sumOfLines } from '../rules/money/money.ts';
import type { WayToPay } from '../rules/paying/ways-to-pay.ts';
import { type DocumentTax, languageOf, taxesOf } from '../rules/taxes/document-taxes.ts';
import { taxOfLine } from '../rules/taxes/tax-groups.ts';
import { taxNote } from '../rules/taxes/tax-notes.ts';
import { invoiceWays } from './invoice-ways.ts';
import type { DocumentLooks, QuoteLooks } from './looks.ts';
import { printedParties } from './printed-parties.ts';

/** Issuer and recipient, the issuer's time zone, and whether its account is a test. */
export interface PartyDetails {
  parties: Parties;
  timeZone: string;
  isTest: boolean;
}

export function invoiceDocument(
  invoice: InvoiceRecord,
  partyDetails: PartyDetails,
  query: DocumentLooks,
): PrintableDocument {
  const { amount_paid, amount_credited = 0, currency } = invoice;
  const discounted = discountTaken(invoice);
  const amount_written_off = (invoice.amount_written_off ?? 0) - discounted;
  const isSettled = amount_paid + amount_credited + amount_written_off + discounted > 0;
  return present({
    ...documentOf(invoice, partyDetails, query),
    title: 'Invoice',
    number: printedNumber('invoice', invoice),
    isQuote: false,
    dueDate: invoice.due_date,
    part: invoice.quote_part,
    mark: markOf(invoice),
    amountPaid: isSettled ? fromMinor(amount_paid, currency) : undefined,
    amountCredited: amount_credited > 0 ? fromMinor(amount_credited, currency) : undefined,
    amountWrittenOff: amount_written_off > 0 ? fromMinor(amount_written_off, currency) : undefined,
    amountDiscounted: discounted > 0 ? fromMinor(discounted, currency) : undefined,
    earlyPayment: earlyPaymentOf(invoice, partyDetails),
    amountDue: isSettled ? fromMinor(dueOf(invoice), currency) : undefined,
    buyerReference: invoice.buyer_reference ?? partyDetails.parties.client.buyer_reference,
    corrects: invoice.corrects_number,
    poNumber: invoice.order_reference,
    contractReference: invoice.contract_reference,
    ...paymentDetailsOf(invoiceWays(invoice, partyDetails.parties)),
  });
}

/** The discounts as they were agreed, of the whole total: what was credited later is not in it. */
function earlyPaymentOf(invoice: InvoiceRecord, { timeZone }: PartyDetails) {
  const { early_payment_discounts, issue_date, created_at, currency } = invoice;
  const issuedOn = issue_date ?? dayIn(timeZone, created_at);
  const whole = { ...invoice, total_credited: 0 };
  return early_payment_discounts?.map((one) => ({
    until: lastDayOf(one, issuedOn),
    percent: one.percent,
    amount: fromMinor(totalOf(invoice) - discountAmount(one, whole), currency),
  }));
}

/** A QR-bill has its own part of the page, which names its account. A page has one: the first. */
function paymentDetailsOf(ways: readonly WayToPay[]) {
  const texts = ways.flatMap(({ text, swissBill }) => (swissBill || text === '' ? [] : [text]));
  const links = ways.flatMap(({ type, link }) => (type === 'link' && link ? [link] : []));
  return {
    bankDetails: texts.join('\n\n') || undefined,
    transferCode: ways.find(({ code }) => code !== undefined)?.code,
    payLinks: links.length > 0 ? links : undefined,
    swissBill: ways.find(({ swissBill }) => swissBill !== undefined)?.swissBill,
  };
}

export function quoteDocument(quote: QuoteRecord, partyDetails: PartyDetails, query: QuoteLooks): PrintableDocument {
  return present({
    ...documentOf(quote, partyDetails, query),
    title: 'Quote',
    number: printedNumber('quote', quote),
    isQuote: true,
    expiryDate: quote.expires_at,
    earlyPaymentOffers: quote.early_payment_discounts?.length ? quote.early_payment_discounts : undefined,
    mark: quote.status === 'Draft' ? 'draft' : undefined,
    requiresSignature: query.signature,
  });
}

export function receiptDocument(
  payment: PaymentRecord,
  details: PartyDetails,
  query: DocumentLooks,
): PrintableDocument {
  const { currency, allocations, unallocated, refunds, reference, method, status } = payment;
  const major = (minor: number) => fromMinor(minor, currency);
  const paid = allocations.filter((part) => liveAmount(part) > 0);
  const refunded = sumBy(refunds, ({ amount }) => amount);
  const sum = major(payment.amount);
  return present({
    ...looksOf(payment.date, currency, details, query),
    title: 'Invoice',
    number: printedNumber('payment', payment),
    isQuote: false,
    subtotal: sum,
    taxRate: 0,
    taxAmount: 0,
    amount: sum,
    lineItems: paid.map((part) => ({ description: part.invoice_number, amount: major(liveAmount(part)) })),
    receipt: {
      method,
      ...(reference ? { reference } : {}),
      ...(unallocated > 0 ? { credit: major(unallocated) } : {}),
      ...(refunded > 0 ? { refunded: major(refunded) } : {}),
      ...(status === 'Voided' ? { isVoided: true } : {}),
    },
  });
}

/** Marks to print by status. A status that depends on the day, such as Overdue, has none: the document must not change overnight. */
const INVOICE_MARKS: Partial<Record<InvoiceRecord['status'], PrintableDocument['mark']>> = {
  Draft: 'draft',
  Paid: 'paid',
  Cancelled: 'cancelled',
};

/** Returns the mark to print. */
function markOf(invoice: InvoiceRecord): PrintableDocument['mark'] {
  return isWrittenOff(invoice) ? 'written_off' : INVOICE_MARKS[invoice.status];
}

function documentOf(record: InvoiceRecord | QuoteRecord, details: PartyDetails, query: DocumentLooks) {
  const { amount, tax_amount, currency, line_items, description } = record;
  // A quoted amount may stand beside lines of another sum: the paper leads from one to the other.
  const isBeside = line_items && !record.prices_include_tax && !hasCharges(record);
  const adjustment = isBeside ? amount - sumOfLines(line_items, currency) : 0;
  const date = record.issue_date ?? dayIn(details.timeZone, record.created_at);
  return {
    ...looksOf(date, currency, details, query),
    serviceDate: record.service_date,
    servicePeriod: record.service_period && { from: record.service_period.from, to: record.service_period.to },
    subtotal: fromMinor(amount - adjustment, currency),
    adjustment: adjustment === 0 ? undefined : fromMinor(adjustment, currency),
    ...printableCharges(record),
    taxRate: record.tax_rate,
    taxAmount: fromMinor(tax_amount, currency),
    taxes: record.taxes?.map((tax) => printableTax(tax, currency, details.parties.issuer.locale)),
    pricesIncludeTax: record.prices_include_tax,
    roundingAmount: record.rounding_amount && fromMinor(record.rounding_amount, currency),
    amount: fromMinor(totalOf(record), currency),
    lineItems: linesOf(record),
    subject: line_items ? (description ?? undefined) : undefined,
    notes: record.notes,
    terms: record.terms,
  };
}

/** The sum of the lines as they are priced, and what leads from it to the net amount. */
export function printableCharges({
  amount,
  line_items,
  currency,
  ...charges
}: DocumentCharges & { amount: number; line_items: LineItem[] | null; currency: string }) {
  if (!hasCharges(charges)) return {};
  const { discount_amount, shipping_amount } = charges;
  const major = (minor: number | undefined) => (minor === undefined ? undefined : fromMinor(minor, currency));
  return {
    subtotal: major(sumOfLines(line_items ?? [], currency)),
    discountAmount: major(discount_amount),
    shippingAmount: major(shipping_amount),
    net: major(amount),
  };
}

/** Parties and looks, of any stored document. */
export function looksOf(date: string, currency: string, { parties, isTest }: PartyDetails, query: DocumentLooks) {
  const { issuer } = parties;
  return {
    date,
    isTest: isTest || undefined,
    ...printedParties(parties, query.locale ?? issuer.locale),
    logoUrl: issuer.logo_url,
    brandColor: issuer.brand_color,
    locale: query.locale ?? issuer.locale,
    currency,
    pageSize: query.size,
    fontStyle: query.style,
    layoutType: query.layout,
    showBanner: query.banner,
    accessible: query.accessible,
    // Derived from what is printed: a change that is not visible on paper makes no other file.
    madeAt: Date.parse(date),
    textScale: 1,
    currencySymbol: currency,
    requiresSignature: false,
  };
}

/** The fields that the lines and taxes of a document are computed from. */
type Lined = Pick<
  InvoiceRecord,
  'currency' | 'amount' | 'tax_amount' | 'tax_rate' | 'tax_category' | 'taxes' | 'description' | 'line_items'
>;

/** Returns the lines to print. A document without lines has one line: its description with its amount. */
export function linesOf(record: Lined): PrintableLine[] {
  const { line_items, description, amount, currency } = record;
  const isMixed = taxesOf(record).length > 1;
  if (!line_items) return description ? [{ description: description, amount: fromMinor(amount, currency) }] : [];
  return line_items.map(({ description, qty, rate, discount, unit, ...own }) => {
    return {
      description,
      qty,
      rate,
      discount,
      ...(unit ? { unit } : {}),
      ...(isMixed ? { taxRate: taxOfLine(own, record).rate } : {}),
      amount: fromMinor(lineNet({ qty, rate, discount }, currency), currency),
    };
  });
}

/** The note of the account is printed as it is; the renderer writes ours in the language of the document. */
export function printableTax(
  { rate, category, taxable, tax, note }: DocumentTax,
  currency: string,
  locale: string,
): PrintableTax {
  const isOurs = note === taxNote(category, languageOf(locale));
  return {
    rate,
    ...(category ? { category } : {}),
    ...(note && !isOurs ? { note } : {}),
    taxable: fromMinor(taxable, currency),
    tax: fromMinor(tax, currency),
  };
}

type Loose<Fields> = { [Name in keyof Fields]: Fields[Name] | undefined };

/** Returns the document without fields that are undefined. */
export function present(fields: Loose<PrintableDocument>): PrintableDocument {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as unknown as PrintableDocument;
}
