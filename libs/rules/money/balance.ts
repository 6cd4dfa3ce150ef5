// Computes what is due of an invoice, and its status after a movement of money.
import type { InvoiceStatus } from '../documents/invoice-states.ts';
import { decimalsOf, fromMinor } from './money.ts';

/** The fields of an invoice that decide what is due. Amounts are in the currency's smallest unit. */
export interface Balance {
  amount: number;
  tax_amount: number;
  /** The amount that rounds the total with tax. Absent where there is none. */
  rounding_amount?: number | undefined;
  /** Allocations of payments and of credit from other invoices, less refunds. */
  amount_paid: number;
  /** The amount that credit notes took off what was due. Absent on an invoice without one. */
  amount_credited?: number | undefined;
  /** The amount written off; absent on an invoice without a write-off. */
  amount_written_off?: number | undefined;
}

/** Returns the amount with tax and the rounding of the total, in the smallest unit. */
export function totalOf({
  amount,
  tax_amount,
  rounding_amount = 0,
}: Pick<Balance, 'amount' | 'tax_amount' | 'rounding_amount'>): number {
  return amount + tax_amount + rounding_amount;
}

/**
 * Returns the amount that the client still owes. It is never below 0, because an allocation never exceeds what is due.
 */
export function dueOf(invoice: Balance): number {
  return totalOf(invoice) - invoice.amount_paid - (invoice.amount_credited ?? 0) - (invoice.amount_written_off ?? 0);
}

/** True for an invoice of which nothing was paid and the rest was written off. That is still owed, so it is not cancelled. */
export function isWrittenOff(invoice: Balance & { status: InvoiceStatus }): boolean {
  return invoice.status === 'Cancelled' && dueOf(invoice) === 0 && (invoice.amount_written_off ?? 0) > 0;
}

/**
 * Returns the status of an issued invoice after a movement of money:
 * - Paid when nothing is due and money came.
 * - Cancelled when nothing is due and no money ever came: the invoice was credited or written off.
 * - Cancelled when an invoice of 0 is reversed.
 * - Sent when something is due. Reads show it as Overdue by its date.
 */
export function settledStatus(
  invoice: Balance & { status: InvoiceStatus; is_reversed?: true | undefined },
): InvoiceStatus {
  if (totalOf(invoice) === 0) return invoice.is_reversed ? 'Cancelled' : invoice.status;
  if (dueOf(invoice) === 0) return invoice.amount_paid > 0 ? 'Paid' : 'Cancelled';
  return invoice.status === 'Paid' || invoice.status === 'Cancelled' ? 'Sent' : invoice.status;
}

/** Writes an amount for messages: 33500 in USD → `335.00`. */
export function writtenAmount(minor: number, currency: string): string {
  return fromMinor(minor, currency).toFixed(decimalsOf(currency));
}
