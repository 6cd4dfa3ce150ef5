// Releases everything that an invoice bills: time, expenses, its part of a fixed amount and its prepaid hours.
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import { releaseExpenses } from '../expenses/bill-expenses.ts';
import { giveHoursBack } from '../hour-packages/draw-hours.ts';
import { releaseFixedPart } from '../quotes/fixed-amount.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { releaseTime } from './claim-time.ts';

/** The fields that an invoice loses when it gave everything back. */
export const NOTHING_BILLED = {
  time: undefined,
  expenses: undefined,
  fixed_part: undefined,
  quote_claim: undefined,
} as const satisfies Partial<InvoiceRecord>;

/**
 * Releases the work of a draft that is deleted, or an invoice that is cancelled. The caller writes the invoice itself,
 * see NOTHING_BILLED.
 */
export async function releaseBilled(unit: UnitOfWork, invoice: InvoiceRecord): Promise<void> {
  await releaseTime(unit, invoice);
  await giveHoursBack(unit, invoice);
  await releaseExpenses(unit, invoice);
  await releaseFixedPart(unit, invoice);
}
