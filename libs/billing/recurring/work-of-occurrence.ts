// The unbilled work that an occurrence of a recurring invoice includes.
import { addDays } from '../../day.ts';
import { AppError, type ErrorCode } from '../../errors.ts';
import type { IncludedTime } from '../../models/billing/recurring-invoice.ts';
import { requirePrintableContent } from '../documents/printable-size.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { BILLED_ENTRIES_MAX } from '../work/find-unbilled-time.ts';
import { type GatheredWork, gatherWork } from '../work/gather-work.ts';
import { lineFormOf } from '../work/invoice-from-time.ts';
import { NothingToBill } from '../work/select-time.ts';
import type { Due } from './due-occurrence.ts';

/** The included work, and whether more of it was due than fits on one invoice. */
interface TakenAlong {
  work: GatheredWork | undefined;
  isCut: boolean;
}

/**
 * Returns the work to include. Too much work never keeps a fee from being billed: the oldest entries are taken, half as
 * many each time until they fit.
 * @throws NothingToBill when neither work nor a fixed line would be on the invoice, AppError when no part of the work
 * fits on one without a fee.
 */
export async function workToTakeAlong(unit: UnitOfWork, due: Due): Promise<TakenAlong> {
  const { include_time: time, line_items } = due.recurring;
  if (!time) return { work: undefined, isCut: false };
  let problem: unknown;
  let most = BILLED_ENTRIES_MAX;
  while (most >= 1) {
    try {
      const work = await workOf(unit, due, { time, most, takesOldest: problem !== undefined });
      if (!work && !line_items) throw new NothingToBill();
      return { work, isCut: problem !== undefined };
    } catch (error) {
      if (!isTooMuch(error)) throw error;
      // The first problem may only be too many entries, so as many of the oldest are tried next.
      if (problem !== undefined) most = Math.floor(most / 2);
      problem = error;
    }
  }
  if (!line_items) throw problem;
  return { work: undefined, isCut: true };
}

async function workOf(
  unit: UnitOfWork,
  { recurring, client, account, now, period, today }: Due,
  { time, most, takesOldest }: { time: IncludedTime; most: number; takesOldest: boolean },
): Promise<GatheredWork | undefined> {
  const { line_items, currency, description } = recurring;
  const yesterday = addDays(now.on, -1);
  const selection = { ...time, date_to: yesterday < today ? yesterday : today };
  const { included_hours } = time;
  const fee = line_items ? period : undefined;
  const target = { client, account, currency, before: { line_items }, fee, included_hours, most, takesOldest };
  const work = await gatherWork(unit, { selection, form: lineFormOf(time, account) }, target);
  if (work) requirePrintableContent({ line_items: work.line_items, description });
  return work;
}

const TOO_MUCH: readonly ErrorCode[] = [
  'too_many_expenses',
  'too_many_lines',
  'too_many_time_entries',
  'time_entry_texts_too_large',
];

function isTooMuch(error: unknown): boolean {
  return error instanceof AppError && (TOO_MUCH.includes(error.code) || error.status === 422);
}
