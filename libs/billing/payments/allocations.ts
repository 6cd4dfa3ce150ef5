// Makes the allocations of payments and credit notes, and finds those that can be released.
import { appError } from '../../errors.ts';
import type { CreditAllocation } from '../../models/billing/allocation.ts';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import type { Allocation } from '../../models/billing/payment.ts';
import { type Id, newId, type StoredId, storedId } from '../../models/tenant.ts';
import { writtenAmount } from '../../rules/money/balance.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { findInvoices, requirePayable } from './payable-invoices.ts';
import { ALLOCATIONS_MAX, type NamedPart, type PaymentPart, partOf } from './payment-parts.ts';

/** Makes an allocation of a payment. @param date `YYYY-MM-DD`, the day of the movement. */
export function allocationOf(part: PaymentPart, date: string): Allocation {
  return { ...creditAllocation(part, date), refunded: 0 };
}

/**
 * Makes an allocation of a credit note. It counts no refunds, because a credit note refunds only what is unallocated.
 */
export function creditAllocation({ invoice, amount }: PaymentPart, date: string): CreditAllocation {
  const invoice_number = printedNumber('invoice', invoice);
  return { _id: storedId(newId()), invoice_id: invoice._id, invoice_number, amount, date };
}

/** A payment or a credit note with an unallocated amount. */
interface Source {
  currency: string;
  client_id: StoredId;
  unallocated: number;
  allocations: readonly unknown[];
}

/**
 * Returns the part to allocate from the unallocated amount.
 * @param noun names the source in messages.
 * @param number printed on the source.
 * @throws AppError 404, 400 or 409 for an invoice that cannot be paid, and when less is left.
 */
export async function furtherPart(
  unit: UnitOfWork,
  { currency, client_id, unallocated, allocations }: Source,
  { noun, number, invoice_id, amount }: NamedPart & { noun: string; number: string },
): Promise<PaymentPart> {
  const [invoice] = (await findInvoices(unit, [invoice_id])) as [InvoiceRecord];
  requirePayable(invoice, { currency, client_id });
  if (unallocated === 0) throw appError('nothing_unallocated', { number });
  if (allocations.length >= ALLOCATIONS_MAX) {
    throw appError('allocation_limit_reached', { record: noun, limit: ALLOCATIONS_MAX });
  }
  const part = partOf(invoice, amount, unallocated);
  if (part.amount > unallocated) {
    const [sum, left] = [writtenAmount(part.amount, currency), writtenAmount(unallocated, currency)];
    throw appError('allocation_exceeds_rest', { amount: sum, left, number });
  }
  return part;
}

/**
 * Returns the allocations that are worth something.
 * @param id one of them, or all when absent.
 * @throws AppError 404 when there is no such allocation, 409 when there is nothing to release.
 */
export function releasable<Allocated extends CreditAllocation>(
  allocations: readonly Allocated[],
  id: Id | undefined,
  { noun, worth }: { noun: string; worth: (part: Allocated) => number },
): Allocated[] {
  const named = allocations.filter(({ _id }) => id === undefined || String(_id) === id);
  if (id !== undefined && named.length === 0) throw appError('allocation_not_found');
  const released = named.filter((part) => worth(part) > 0);
  if (released.length === 0) {
    throw id === undefined ? appError('nothing_allocated', { record: noun }) : appError('allocation_released');
  }
  return released;
}
