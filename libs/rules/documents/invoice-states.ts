// The states of an invoice, and the transitions between them.
import { appError } from '../../errors.ts';

export const INVOICE_STATUSES = ['Draft', 'Sent', 'Paid', 'Overdue', 'Cancelled'] as const;

export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];

/**
 * The statuses that a caller may set after each status. Paid and Cancelled are final, except that a paid invoice of 0
 * can be cancelled.
 */
const INVOICE_MOVES: Readonly<Record<InvoiceStatus, readonly InvoiceStatus[]>> = {
  Draft: ['Sent', 'Cancelled'],
  Sent: ['Paid', 'Overdue', 'Cancelled'],
  Overdue: ['Paid', 'Sent', 'Cancelled'],
  Paid: [],
  Cancelled: [],
};

/** Checks a change of status. @param from the status as it is today. @throws AppError 409 when `to` may not follow it. */
export function requireMove(invoice: { amount: number }, from: InvoiceStatus, to: InvoiceStatus): void {
  const isOfNothing = from === 'Paid' && to === 'Cancelled' && !isPayable(invoice);
  if (from !== to && !isOfNothing && !INVOICE_MOVES[from].includes(to))
    throw appError('invoice_status_not_possible', { from, to });
  if (to === 'Overdue' && !isPayable(invoice)) throw appError('invoice_nothing_overdue');
}

/**
 * True for an invoice with something to pay. One of 0, as after a discount of 100 %, is never overdue. Without an
 * amount there is no tax.
 */
export function isPayable({ amount }: { amount: number }): boolean {
  return amount > 0;
}

/**
 * Returns the status on the calendar day `today` of the account. A sent invoice is overdue from the day after its due
 * date.
 */
export function effectiveInvoiceStatus(
  { status, due_date, amount }: { status: InvoiceStatus; due_date: string; amount: number },
  today: string,
): InvoiceStatus {
  return status === 'Sent' && due_date < today && isPayable({ amount }) ? 'Overdue' : status;
}
