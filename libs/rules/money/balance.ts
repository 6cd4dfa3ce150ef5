// What is due of an invoice, and which status follows from it.
import type { InvoiceStatus } from '../documents/invoice-states.ts';
import { decimalsOf, fromMinor } from './money.ts';

/** Amounts are whole numbers of the currency's smallest unit. */
export interface Balance {
  amount: number;
  tax_amount: number;
  /** Live allocations of payments and of credit from other invoices, without what was refunded of them. */
  amount_paid: number;
  /** What its credit notes took off what was due; absent on an invoice without one. */
  amount_credited?: number | undefined;
  /** The amount written off; absent on an invoice without a write-off. */
  amount_written_off?: number | undefined;
}

export function totalOf({ amount, tax_amount }: Pick<Balance, 'amount' | 'tax_amount'>): number {
  return amount + tax_amount;
}

/** What the client still owes. Never below 0: an allocation is never more than what is due. */
export function dueOf(invoice: Balance): number {
  return totalOf(invoice) - invoice.amount_paid - (invoice.amount_credited ?? 0) - (invoice.amount_written_off ?? 0);
}

/**
 * The status of an issued invoice after a movement. It is Paid when nothing is due and money came, and Cancelled when nothing is due
 * and no money ever came: it was credited or written off. One that was settled and is due again is Sent; reads make it Overdue by its date.
 * One of nothing is Cancelled when it is reversed.
 */
export function settledStatus(
  invoice: Balance & { status: InvoiceStatus; is_reversed?: true | undefined },
): InvoiceStatus {
  if (totalOf(invoice) === 0) return invoice.is_reversed ? 'Cancelled' : invoice.status;
  if (dueOf(invoice) === 0) return invoice.amount_paid > 0 ? 'Paid' : 'Cancelled';
  return invoice.status === 'Paid' || invoice.status === 'Cancelled' ? 'Sent' : invoice.status;
}

/** For messages: 33500 in USD → `335.00`. */
export function writtenAmount(minor: number, currency: string): string {
  return fromMinor(minor, currency).toFixed(decimalsOf(currency));
}
