// The states of an invoice, and which may follow which.
import { conflict } from '../../errors.ts';

export const INVOICE_STATUSES = ['Draft', 'Sent', 'Paid', 'Overdue', 'Cancelled'] as const;

export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];

/** Which status a caller may set after which. Paid and Cancelled are final; one of nothing that is Paid has no money to keep. */
const INVOICE_MOVES: Readonly<Record<InvoiceStatus, readonly InvoiceStatus[]>> = {
  Draft: ['Sent', 'Cancelled'],
  Sent: ['Paid', 'Overdue', 'Cancelled'],
  Overdue: ['Paid', 'Sent', 'Cancelled'],
  Paid: [],
  Cancelled: [],
};

/** @param from the status as it is today. @throws AppError 409 when `to` may not follow it. */
export function requireMove(invoice: { amount: number }, from: InvoiceStatus, to: InvoiceStatus): void {
  const isOfNothing = from === 'Paid' && to === 'Cancelled' && !isPayable(invoice);
  if (from !== to && !isOfNothing && !INVOICE_MOVES[from].includes(to))
    throw conflict(`Cannot change status from ${from} to ${to}`);
  if (to === 'Overdue' && !isPayable(invoice)) throw conflict('Cannot set status Overdue: nothing is due');
}

/** False for an invoice of nothing, such as one with a discount of 100 %: it is never overdue. Without an amount there is no tax. */
export function isPayable({ amount }: { amount: number }): boolean {
  return amount > 0;
}

/** The status on the calendar day `today` of the account: a sent invoice is overdue from the day after its due date. */
export function effectiveInvoiceStatus(
  { status, due_date, amount }: { status: InvoiceStatus; due_date: string; amount: number },
  today: string,
): InvoiceStatus {
  return status === 'Sent' && due_date < today && isPayable({ amount }) ? 'Overdue' : status;
}
