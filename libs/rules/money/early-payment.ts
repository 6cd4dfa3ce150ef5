// Discounts for early payment ("Skonto"): a percentage that a client may keep when the money comes within some days.
import Big from 'big.js';
import { addDays } from '../../day.ts';
import { type Balance, totalOf } from './balance.ts';

/** A percentage of the total with tax, for money that comes until so many days after the issue date. */
export interface EarlyPaymentDiscount {
  days: number;
  percent: number;
}

export const EARLY_DISCOUNTS_MAX = 3;

/** The reason of the write-off that a discount is booked as. */
export const EARLY_PAYMENT = 'early_payment';

/** An invoice, with what decides its discount. Amounts are in the smallest unit. */
export interface Discounted extends Balance {
  early_payment_discounts?: readonly EarlyPaymentDiscount[] | undefined;
  issue_date?: string | undefined;
  total_credited?: number | undefined;
  write_offs?: readonly DiscountWriteOff[] | undefined;
}

interface DiscountWriteOff {
  amount: number;
  reason: string;
  payment_id?: unknown;
  reversed_on?: string | undefined;
}

/** Returns the last day on which money earns the discount. */
export function lastDayOf({ days }: EarlyPaymentDiscount, issueDate: string): string {
  return addDays(issueDate, days);
}

/** Returns the amount that the discount takes off what is not credited, rounded half up. */
export function discountAmount({ percent }: EarlyPaymentDiscount, invoice: Discounted): number {
  const base = totalOf(invoice) - (invoice.total_credited ?? 0);
  return new Big(Math.max(0, base)).times(percent).div(100).round(0, Big.roundHalfUp).toNumber();
}

/** Returns the most that money of this day may leave open. 0 when it comes too late, or a discount was taken already. */
export function discountOn(invoice: Discounted, paidOn: string): number {
  const { early_payment_discounts = [], issue_date } = invoice;
  if (issue_date === undefined || discountTaken(invoice) > 0) return 0;
  const inTime = early_payment_discounts.filter((one) => paidOn <= lastDayOf(one, issue_date));
  return Math.max(0, ...inTime.map((one) => discountAmount(one, invoice)));
}

/** True for a write-off that is the discount of a payment. */
export function isDiscount({ reason, payment_id }: DiscountWriteOff): boolean {
  return reason === EARLY_PAYMENT && payment_id !== undefined;
}

/** Returns the discount that stands. */
export function discountTaken({ write_offs = [] }: Pick<Discounted, 'write_offs'>): number {
  return write_offs.reduce((sum, one) => (isDiscount(one) && !one.reversed_on ? sum + one.amount : sum), 0);
}

/**
 * Returns the part of the discount that stands after a credit note: the share of what is not credited, and never more than the agreed
 * discount of it. The client keeps it.
 */
export function discountKept(invoice: Discounted, credit: number): number {
  const taken = discountTaken(invoice);
  const before = totalOf(invoice) - (invoice.total_credited ?? 0);
  const left = before - credit;
  if (taken === 0 || left <= 0) return 0;
  const share = new Big(taken).times(left).div(before).round(0, Big.roundHalfUp).toNumber();
  const rest = { ...invoice, total_credited: totalOf(invoice) - left };
  const agreed = (invoice.early_payment_discounts ?? []).map((one) => discountAmount(one, rest));
  return Math.min(share, Math.max(0, ...agreed));
}

/** Returns what a credit note may put on its invoice: what is due, and what was given up without the discount that the client keeps. */
export function creditableOn(invoice: Discounted, due: number, credit: number): number {
  return Math.min(credit, due + (invoice.amount_written_off ?? 0) - discountKept(invoice, credit));
}
