// How far the scheduler is behind: documents whose last day has passed without an event, and recurring invoices that were not made.
import { agreedDate } from '../../clock.ts';
import { addDays, dayIn, EARLIEST_ZONE, startOfDay } from '../../day.ts';
import { Account } from '../accounts/account.ts';
import { acrossAccounts, type StoredId } from '../tenant.ts';
import { Invoice } from './invoice.ts';
import { Quote } from './quote.ts';
import { RecurringInvoice, type RecurringInvoiceRecord } from './recurring-invoice.ts';

export interface SchedulerBacklog {
  /** Events and invoices that are due, counted up to DUE_COUNTED_MAX. */
  due: number;
  /** How long ago the oldest of them became due, 0 when none is. */
  oldestMs: number;
}

export const DUE_COUNTED_MAX = 1_000;

interface Candidate {
  account_id: StoredId;
  /** The day on which it is due, `YYYY-MM-DD`. */
  due_on: string;
}

/** Covers all accounts, as the scheduler does. */
export async function readSchedulerBacklog(now: Date = agreedDate()): Promise<SchedulerBacklog> {
  const candidates = (await Promise.all([expiring(Invoice, now), expiring(Quote, now), recurringInvoices(now)])).flat();
  const zones = await zonesOf(candidates);
  // Only in its account's own time zone is it certain that a day has passed.
  const dueTimes = candidates
    .map(({ account_id, due_on }) => ({ due_on, zone: zones.get(String(account_id)) ?? 'UTC' }))
    .filter(({ due_on, zone }) => due_on <= dayIn(zone, now))
    .map(({ due_on, zone }) => startOfDay(zone, due_on).getTime());
  const oldest = Math.min(now.getTime(), ...dueTimes);
  return { due: Math.min(DUE_COUNTED_MAX, dueTimes.length), oldestMs: now.getTime() - oldest };
}

async function expiring(model: typeof Invoice | typeof Quote, now: Date): Promise<Candidate[]> {
  const documents = await (model as typeof Invoice)
    .find({ expires_on: { $lt: dayIn(EARLIEST_ZONE, now) } })
    .setOptions(acrossAccounts)
    .sort({ expires_on: 1 })
    .limit(DUE_COUNTED_MAX)
    .select({ _id: 0, account_id: 1, expires_on: 1 })
    .lean<{ account_id: StoredId; expires_on: string }[]>();
  return documents.map(({ account_id, expires_on }) => ({ account_id, due_on: addDays(expires_on, 1) }));
}

/** One that failed waits for the day of its next try. */
async function recurringInvoices(now: Date): Promise<Candidate[]> {
  const records = await RecurringInvoice.find({ status: 'Active', next_on: { $lte: dayIn(EARLIEST_ZONE, now) } })
    .setOptions(acrossAccounts)
    .sort({ next_on: 1 })
    .limit(DUE_COUNTED_MAX)
    .select({ _id: 0, account_id: 1, next_on: 1, retry_on: 1 })
    .lean<Pick<RecurringInvoiceRecord, 'account_id' | 'next_on' | 'retry_on'>[]>();
  return records.map(({ account_id, next_on, retry_on }) => ({ account_id, due_on: retry_on ?? next_on ?? '' }));
}

async function zonesOf(candidates: Candidate[]): Promise<Map<string, string>> {
  const ids = new Map(candidates.map(({ account_id }) => [String(account_id), account_id]));
  if (ids.size === 0) return new Map();
  const accounts = await Account.find({ _id: { $in: [...ids.values()] } }, { time_zone: 1 }).lean();
  return new Map(accounts.map(({ _id, time_zone }) => [String(_id), time_zone ?? 'UTC']));
}
