// The invoices that bill quotes, as quotes show them.
import { fromMinor } from '../../billing/money.ts';
import type { Session } from '../../mongo/connection.ts';
import { driverOf } from '../records.ts';
import { type Id, type StoredId, storedId } from '../tenant.ts';
import { Invoice, type InvoiceRecord } from './invoice.ts';
import { printedNumber } from './number-ledger.ts';

export type QuoteInvoice = Pick<
  InvoiceRecord,
  | '_id'
  | 'number'
  | 'number_text'
  | 'quote_id'
  | 'quote_part'
  | 'currency'
  | 'amount'
  | 'tax_amount'
  | 'tax_rate'
  | 'taxes'
  | 'prices_include_tax'
  | 'status'
  | 'issue_date'
  | 'created_at'
>;

const SHOWN = {
  number: 1,
  number_text: 1,
  quote_id: 1,
  quote_part: 1,
  currency: 1,
  amount: 1,
  tax_amount: 1,
  tax_rate: 1,
  taxes: 1,
  prices_include_tax: 1,
  status: 1,
  issue_date: 1,
  created_at: 1,
} as const;

const SETTLED = { $add: [{ $ifNull: ['$amount_written_off', 0] }, { $ifNull: ['$amount_credited', 0] }] };

/**
 * Cancelled because all of it was written off or credited without any payment: what it billed is given up and not billed again. A full
 * credit that cancels or corrects the invoice is none of these, see `is_reversed`.
 */
export const GIVEN_UP = {
  is_reversed: { $exists: false },
  $expr: { $and: [{ $gt: [SETTLED, 0] }, { $gte: [SETTLED, { $add: ['$amount', '$tax_amount'] }] }] },
} as const;

/** Of an invoice that counts as a part of its quote, and whose time is billed. */
export const BILLED = {
  $or: [{ status: { $ne: 'Cancelled' }, is_reversed: { $exists: false } }, GIVEN_UP],
} as const;

/** @returns the invoices of each quote by its id, oldest first; those that were cancelled or reversed are left out. */
export async function invoicesOfQuotes(
  quoteIds: readonly StoredId[],
  accountId: Id,
  session?: Session,
): Promise<Map<Id, QuoteInvoice[]>> {
  if (quoteIds.length === 0) return new Map();
  const found = (await driverOf(Invoice)
    .find(
      {
        account_id: storedId(accountId),
        quote_id: { $in: [...quoteIds] },
        ...BILLED,
      } as object,
      { projection: SHOWN, sort: { _id: 1 }, ...(session ? { session } : {}) },
    )
    .toArray()) as unknown as QuoteInvoice[];
  return Map.groupBy(found, ({ quote_id }) => String(quote_id));
}

/** The status is the one that was set: only the invoice itself shows whether it is overdue by now. */
export function quoteInvoiceView(invoice: QuoteInvoice) {
  return {
    id: String(invoice._id),
    invoice_number: invoice.number === 0 ? null : printedNumber('invoice', invoice),
    part: invoice.quote_part ?? 'full',
    amount: fromMinor(invoice.amount, invoice.currency),
    status: invoice.status,
  };
}
