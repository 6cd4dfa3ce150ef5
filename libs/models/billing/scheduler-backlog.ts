// How far the scheduler is behind: documents whose last day has passed and whose expiry event has not been written.
import { agreedDate } from '../../clock.ts';
import { addDays, dayIn, EARLIEST_ZONE, startOfDay } from '../../day.ts';
import { Account } from '../accounts/account.ts';
import { acrossAccounts, type StoredId } from '../tenant.ts';
import { Invoice } from './invoice.ts';
import { Quote } from './quote.ts';

export interface SchedulerBacklog {
  /** Documents that are due, counted up to DUE_COUNTED_MAX. */
  due: number;
  /** How long ago the oldest of them became due, 0 when none is. */
  oldestMs: number;
}

export const DUE_COUNTED_MAX = 1_000;

interface Candidate {
  account_id: StoredId;
  expires_on: string;
}

/** Covers all accounts, as the scheduler does. */
export async function readSchedulerBacklog(now: Date = agreedDate()): Promise<SchedulerBacklog> {
  const candidates = (await Promise.all([candidatesOf(Invoice, now), candidatesOf(Quote, now)])).flat();
  const zones = await zonesOf(candidates);
  // Only in its account's own time zone is it certain that a day has passed.
  const dueTimes = candidates
    .map(({ account_id, expires_on }) => ({ expires_on, zone: zones.get(String(account_id)) ?? 'UTC' }))
    .filter(({ expires_on, zone }) => expires_on < dayIn(zone, now))
    .map(({ expires_on, zone }) => startOfDay(zone, addDays(expires_on, 1)).getTime());
  const oldest = Math.min(now.getTime(), ...dueTimes);
  return { due: Math.min(DUE_COUNTED_MAX, dueTimes.length), oldestMs: now.getTime() - oldest };
}

function candidatesOf(model: typeof Invoice | typeof Quote, now: Date): Promise<Candidate[]> {
  return (model as typeof Invoice)
    .find({ expires_on: { $lt: dayIn(EARLIEST_ZONE, now) } })
    .setOptions(acrossAccounts)
    .sort({ expires_on: 1 })
    .limit(DUE_COUNTED_MAX)
    .select({ _id: 0, account_id: 1, expires_on: 1 })
    .lean<Candidate[]>();
}

async function zonesOf(candidates: Candidate[]): Promise<Map<string, string>> {
  const ids = new Map(candidates.map(({ account_id }) => [String(account_id), account_id]));
  if (ids.size === 0) return new Map();
  const accounts = await Account.find({ _id: { $in: [...ids.values()] } }, { time_zone: 1 }).lean();
  return new Map(accounts.map(({ _id, time_zone }) => [String(_id), time_zone ?? 'UTC']));
}
