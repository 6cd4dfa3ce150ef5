// Makes an invoice of a quote: of all of it, of a part, or of what earlier parts have left.
import { sumBy } from 'es-toolkit/math/sumBy';
import { addDays, dayIn } from '../../day.ts';
import { conflict, fieldProblem } from '../../errors.ts';
import { type AccountRecord, readAccount } from '../../models/accounts/account.ts';
import { Client } from '../../models/accounts/client.ts';
import type { InvoiceRecord, QuoteDeduction } from '../../models/billing/invoice.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import { effectiveQuoteStatus, Quote, type QuoteRecord } from '../../models/billing/quote.ts';
import { billedSum, billedTaxes, invoicesOfQuotes, type QuoteInvoice } from '../../models/billing/quote-invoices.ts';
import { changeOwn, findOwn, lockOwn } from '../../models/records.ts';
import type { Id } from '../../models/tenant.ts';
import { givenCharges, hasCharges } from '../../rules/documents/document-charges.ts';
import { type LineItem, lineItem } from '../../rules/documents/line-item.ts';
import { cutToLine } from '../../rules/documents/line-wording.ts';
import { writtenAmount } from '../../rules/money/balance.ts';
import { exactMinor } from '../../rules/money/exact-amount.ts';
import { acceptedBy, isChangedSince } from '../../rules/quotes/acceptance.ts';
import {
  agreedSum,
  type BilledPart,
  deductions,
  groupsLeft,
  leftToBill,
  partLines,
  type QuotePart,
  quotedLines,
  shareOf,
} from '../../rules/quotes/quote-parts.ts';
import { quotedCharges } from '../../rules/quotes/quoted-charges.ts';
import { taxesOf } from '../../rules/taxes/document-taxes.ts';
import { paymentDays } from '../documents/client-terms.ts';
import { createInvoice } from '../documents/create-invoice.ts';
import { issuedFields } from '../documents/issue-document.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { requireLines } from '../work/time-line-links.ts';

export interface Conversion {
  part: QuotePart;
  /** One of the two for a deposit and a progress invoice; the amount in major units, see agreedSum. */
  percent?: number | undefined;
  amount?: number | undefined;
  due_date?: string | undefined;
  status: 'Draft' | 'Sent';
  description?: string | null | undefined;
  /** The owner accepts on behalf of the client. */
  accept: boolean;
  accept_changes: boolean;
}

/** Invoices of a quote: it shows all of them, also in a list. */
const PARTS_MAX = 500;

/** What a conversion did: the caller announces it as it shows quotes. */
export interface Converted {
  quote: QuoteRecord;
  invoice: InvoiceRecord;
  view: Awaited<ReturnType<typeof createInvoice>>['view'];
  isAccepted: boolean;
}

/**
 * The quote is written in every conversion, so that of two at once the second sees the first.
 * @param missing the 404. @throws AppError 409 when nothing, or not so much, is left to bill, or the quote is not accepted as it is.
 */
export async function convertQuote(
  unit: UnitOfWork,
  { id, wanted, missing }: { id: Id; wanted: Conversion; missing: () => Error },
): Promise<Converted> {
  let quote: QuoteRecord | undefined;
  const { invoice, view } = await createInvoice(unit, undefined, async (account) => {
    const found = await lockOwn(Quote, unit.accountId, id, unit.session);
    if (!found) throw missing();
    quote = found;
    requireAgreed(found, account, wanted);
    const parts = (await invoicesOfQuotes([found._id], unit.accountId, unit.session)).get(String(found._id)) ?? [];
    if (parts.length >= PARTS_MAX) throw conflict(`A quote can have at most ${PARTS_MAX} invoices`);
    const client = await findOwn(Client, unit.accountId, found.client_id, unit.session);
    const days = paymentDays(client ?? {}, account);
    const isClaimed = wanted.part === 'full' || wanted.part === 'final';
    const line_items = linesOf(found, parts, { wanted, account });
    requireLines(line_items.length, 'bill what is left as a progress invoice');
    return {
      client_id: found.client_id,
      project_id: found.project_id,
      currency: found.currency,
      // As they were agreed, whatever the client's treatment has become.
      terms: { tax_rate: found.tax_rate, tax_category: found.tax_category },
      prices_include_tax: found.prices_include_tax,
      details: 'list' as const,
      line_items,
      ...(wanted.part === 'full' ? { charges: givenCharges(found) } : {}),
      texts: { notes: found.notes, terms: found.terms },
      dates: { service_date: found.service_date, service_period: found.service_period },
      due_date: wanted.due_date ?? addDays(dayIn(account.time_zone), days),
      status: wanted.status,
      description: wanted.description ?? found.description,
      origin: {
        quote_id: found._id,
        quote_number: printedNumber('quote', found),
        quote_part: wanted.part,
        ...(isClaimed ? { quote_claim: found._id } : {}),
        ...(wanted.part === 'final' ? { quote_deducted: deductedOf(parts) } : {}),
      },
    };
  });
  if (!quote) throw new Error('an invoice was made of no quote');
  return { invoice, view, ...(await recordConversion(unit, quote, wanted)) };
}

async function recordConversion(unit: UnitOfWork, quote: QuoteRecord, { accept, accept_changes }: Conversion) {
  const isAccepted = accept && quote.status !== 'Accepted';
  const { session, accountId } = unit;
  const issuing = { kind: 'quote', isIssued: !quote.parties, accountId, session, details: 'list' } as const;
  const changes: Partial<QuoteRecord> = {
    converted_at: quote.converted_at ?? new Date(),
    ...(isAccepted ? { status: 'Accepted', expires_on: undefined, ...(await issuedFields(quote, {}, issuing)) } : {}),
    ...(isAccepted || (accept_changes && isChangedSince(quote)) ? { acceptance: acceptedBy('owner', quote) } : {}),
  };
  return { quote: await changeOwn(Quote, quote, changes, session), isAccepted };
}

/** @throws AppError 409 unless the quote was accepted as it is, or is accepted with this call. */
function requireAgreed(quote: QuoteRecord, { time_zone }: AccountRecord, { accept, accept_changes }: Conversion): void {
  const status = effectiveQuoteStatus(quote, dayIn(time_zone));
  if (status === 'Declined') throw conflict('Cannot convert a declined quote');
  if (status !== 'Accepted') {
    if (!accept) throw conflict('Cannot convert a quote that is not accepted');
    return;
  }
  if (isChangedSince(quote) && !accept_changes) throw conflict('Quote was changed after it was accepted');
}

function linesOf(
  quote: QuoteRecord,
  parts: readonly QuoteInvoice[],
  { wanted, account }: { wanted: Conversion; account: AccountRecord },
): LineItem[] {
  const { part, percent } = wanted;
  const quoted = agreedSum(quote);
  const billed = parts.map((one) => billedPart(one, account));
  const left = leftToBill(quoted, billed);
  const claimed = parts.find(({ quote_part }) => quote_part === 'full' || quote_part === 'final');
  const isWhole = part === 'full' || part === 'final';
  if (claimed && (isWhole || left === 0)) {
    throw conflict(`Quote was already converted to ${printedNumber('invoice', claimed)}`);
  }
  if (!isWhole) {
    const amount = amountOfPart(quote, wanted);
    if (amount > left) throw onlyLeft(quote, left);
    const taxes = groupsLeft({ ...quote, taxes: taxesOf(quote) }, billed);
    const quoteNumber = printedNumber('quote', quote);
    return partLines(part, { amount, percent, quoteNumber, taxes }, textsOf(quote, account)).map(lineItem);
  }
  if (part === 'final') return finalLines(quote, parts, account);
  if (left < quoted) throw onlyLeft(quote, left);
  return wholeLines(quote, account, false);
}

/** @throws AppError 409 when an earlier part is still a draft, or nothing is left. */
function finalLines(quote: QuoteRecord, parts: readonly QuoteInvoice[], account: AccountRecord): LineItem[] {
  const draft = parts.find(({ status }) => status === 'Draft');
  if (draft) {
    throw conflict(`Cannot make the final invoice while ${printedNumber('invoice', draft)} is a draft`);
  }
  const quoted = agreedSum(quote);
  const billed = parts.map((one) => billedPart(one, account));
  const left = leftToBill(quoted, billed);
  if (left === 0 && quoted > 0) throw onlyLeft(quote, left);
  return [...wholeLines(quote, account, true), ...deductions(billed, textsOf(quote, account)).map(lineItem)];
}

/** On an invoice in full, the discount and the shipping are copied as what they are; on a final one they are lines. */
function wholeLines(quote: QuoteRecord, account: AccountRecord, isFinal: boolean): LineItem[] {
  const { line_items } = quote;
  if (line_items && !isFinal && hasCharges(quote)) return line_items;
  const texts = textsOf(quote, account);
  const whole = quotedLines(
    {
      amount: agreedSum(quote),
      line_items: line_items && (isFinal ? [...line_items, ...quotedCharges(quote, texts)] : line_items),
      taxes: taxesOf(quote),
      whenEmpty: quote.description ?? printedNumber('quote', quote),
    },
    texts,
  );
  return whole.map((line) => lineItem({ ...line, description: cutToLine(line.description) }));
}

function textsOf({ currency, tax_rate, tax_category, prices_include_tax }: QuoteRecord, { locale }: AccountRecord) {
  return { locale, currency, tax_rate, tax_category, prices_include_tax };
}

function billedPart(one: QuoteInvoice, { time_zone }: AccountRecord): BilledPart {
  return {
    number: printedNumber('invoice', one),
    day: one.issue_date ?? dayIn(time_zone, one.created_at),
    amount: billedSum(one),
    taxes: billedTaxes(one),
  };
}

/** What a final invoice takes off for each earlier part, to be compared when it is sent. */
function deductedOf(parts: readonly QuoteInvoice[]): QuoteDeduction[] {
  return parts.map((one) => ({ invoice_id: one._id, number: printedNumber('invoice', one), amount: billedSum(one) }));
}

/** The other parts of the quote of a final invoice. */
async function partsBeside(unit: UnitOfWork, { _id, quote_id }: InvoiceRecord): Promise<QuoteInvoice[]> {
  if (!quote_id) return [];
  const all = await invoicesOfQuotes([quote_id], unit.accountId, unit.session);
  return (all.get(String(quote_id)) ?? []).filter((one) => !one._id.equals(_id));
}

/** @throws AppError 409 that names the part, when one has another amount than the draft takes off. */
export async function requireDeductionsKept(unit: UnitOfWork, invoice: InvoiceRecord): Promise<void> {
  if (!invoice.quote_deducted) return;
  const parts = deductedOf(await partsBeside(unit, invoice));
  const before = new Map(invoice.quote_deducted.map((one) => [String(one.invoice_id), one]));
  const now = new Map(parts.map((one) => [String(one.invoice_id), one]));
  const changed = [...before.values(), ...parts].find(
    ({ invoice_id }) => before.get(String(invoice_id))?.amount !== now.get(String(invoice_id))?.amount,
  );
  if (!changed) return;
  const number = printedNumber('invoice', invoice);
  throw conflict(
    `Cannot send ${number}: ${changed.number} has changed since. Recalculate it, or delete it and convert again`,
  );
}

/**
 * The lines of a draft final invoice as they would be made now. @throws AppError 409 when it is none, or nothing is left to bill.
 */
export async function recalculatedFinal(
  unit: UnitOfWork,
  invoice: InvoiceRecord,
): Promise<Pick<InvoiceRecord, 'line_items' | 'quote_deducted'>> {
  const { quote_id, quote_part, status } = invoice;
  if (!quote_id || quote_part !== 'final' || status !== 'Draft') {
    throw conflict('Can only recalculate the final invoice of a quote with Draft status');
  }
  const account = await readAccount(unit.accountId, unit.session);
  const quote = await lockOwn(Quote, unit.accountId, String(quote_id), unit.session);
  if (!quote) throw conflict('Can only recalculate the final invoice of a quote that exists');
  const parts = await partsBeside(unit, invoice);
  const line_items = finalLines(quote, parts, account);
  requireLines(line_items.length);
  return { line_items, quote_deducted: deductedOf(parts) };
}

/** @throws AppError 400 when it is nothing. */
function amountOfPart(quote: QuoteRecord, { percent, amount }: Conversion): number {
  const { currency } = quote;
  const part = percent === undefined ? exactMinor(amount ?? 0, currency, 'list') : shareOf(agreedSum(quote), percent);
  if (part > 0) return part;
  const field = percent === undefined ? 'amount' : 'percent';
  throw fieldProblem(field, `${field} must be at least the smallest unit of ${currency}`, 'list');
}

function onlyLeft(quote: QuoteRecord, left: number) {
  return conflict(`Only ${writtenAmount(left, quote.currency)} of ${printedNumber('quote', quote)} is left to bill`);
}

/**
 * What is billed stays billed: @throws AppError 409 when a change of the quote would take the ground from its invoices.
 * @param changed the fields that would have other values.
 */
export async function requireBilledKept(
  unit: UnitOfWork,
  quote: QuoteRecord,
  { next, changed }: { next: Partial<QuoteRecord>; changed: readonly string[] },
): Promise<void> {
  const touched = ['amount', 'currency', 'client_id', 'prices_include_tax'].filter((name) => changed.includes(name));
  if (touched.length === 0 || !quote.converted_at) return;
  const parts = (await invoicesOfQuotes([quote._id], unit.accountId, unit.session)).get(String(quote._id)) ?? [];
  const [first] = parts;
  if (!first) return;
  const fixed = touched.filter((name) => name !== 'amount');
  if (fixed.length > 0) throw conflict(`Cannot change ${fixed.join(', ')} of a quote that was billed`);
  const billed = sumBy(parts, billedSum);
  if (agreedSum({ ...quote, ...next }) < Math.min(billed, agreedSum(quote))) {
    throw conflict(`Cannot set an amount below ${writtenAmount(billed, quote.currency)}: so much was billed`);
  }
}
