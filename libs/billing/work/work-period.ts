// The service period of an invoice that is made from work: from the first to the last day of its time and expenses,
// unless another is set. The fee of a recurring invoice has a period of its own, which it covers as well.
import { sumBy } from 'es-toolkit/math/sumBy';
import { isEqual } from 'es-toolkit/predicate/isEqual';
import type { DocumentDates, Period } from '../../models/billing/document-dates.ts';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { EXPENSES, TIME, workOn } from './work-records.ts';

interface Dated {
  /** `YYYY-MM-DD`. */
  date: string;
}

/** Returns the period of the work, or undefined for none. */
export function periodOf(work: readonly Dated[]): Period | undefined {
  const days = work.map(({ date }) => date).toSorted();
  const [from, to] = [days[0], days.at(-1)];
  return from === undefined || to === undefined ? undefined : { from, to };
}

/** Returns the period from the first to the last day of fee and work. */
export function coveredPeriod(fee: Period, work: readonly Dated[]): Period {
  return periodOf([{ date: fee.from }, { date: fee.to }, ...work]) ?? fee;
}

/** True where a fee and work have days that differ, so that each line shows its own. */
export function isOutside(fee: Period, work: readonly Dated[]): boolean {
  return work.some(({ date }) => date < fee.from || date > fee.to);
}

/** Returns the period of the fee of a recurring invoice, if its invoice has lines besides those of work. */
export function feePeriodOf({
  recurring,
  line_items,
  time,
  expenses,
}: Pick<InvoiceRecord, 'recurring' | 'line_items' | 'time' | 'expenses'>): Period | undefined {
  const made = [time?.lines, time?.prepaid, time?.included?.at, expenses?.lines];
  const ofWork = sumBy(made, (lines) => lines?.length ?? 0);
  if (!recurring || (line_items?.length ?? 0) <= ofWork) return undefined;
  return { from: recurring.period_from, to: recurring.period_to };
}

/** Returns the days of all work that is on the invoice. */
export async function billedWork(unit: UnitOfWork, { _id }: Pick<InvoiceRecord, '_id'>) {
  const on = { invoice_id: _id, fields: { date: 1 } } as const;
  return { entries: await workOn(TIME, unit, on), expenses: await workOn(EXPENSES, unit, on) };
}

/**
 * Returns the dates of a draft whose work changes. A period that was that of the work, or of a fee and the work,
 * follows it.
 */
export function followedDates(
  { service_date, service_period, recurring }: DocumentDates & Pick<InvoiceRecord, 'recurring'>,
  { before, after }: { before: readonly Dated[]; after: readonly Dated[] },
): DocumentDates {
  if (service_date) return {};
  const fee = recurring && { from: recurring.period_from, to: recurring.period_to };
  if (fee && isEqual(service_period, coveredPeriod(fee, before))) return { service_period: coveredPeriod(fee, after) };
  return isEqual(service_period, periodOf(before)) ? { service_period: periodOf(after) } : {};
}
