// What is due on the calendar of its account, of records of all accounts.
import { dayIn } from '../../day.ts';
import type { StoredId } from '../tenant.ts';
import { Account } from './account.ts';

/** Looked at together: the time zones of their accounts are one query. */
const AT_ONCE = 500;

interface Due<Candidate> {
  at: Date;
  most: number;
  /** @param today in the time zone of the candidate's account, `YYYY-MM-DD`. */
  isDue(candidate: Candidate, today: string): boolean;
}

/**
 * @param candidates whose day may have come, the longest due first. Those whose day has only come in other time zones are passed over: they may
 * be more than `most`. @returns those that are due, in the same order, with the zone of their account: UTC for an account that does not exist.
 */
export async function firstDue<Candidate extends { account_id: StoredId }>(
  candidates: AsyncIterable<Candidate>,
  { at, most, isDue }: Due<Candidate>,
): Promise<(Candidate & { zone: string })[]> {
  const due: (Candidate & { zone: string })[] = [];
  let together: Candidate[] = [];

  async function look() {
    const zones = await zonesOf(together.map(({ account_id }) => account_id));
    for (const candidate of together) {
      const zone = zones.get(String(candidate.account_id)) ?? 'UTC';
      if (isDue(candidate, dayIn(zone, at))) due.push({ ...candidate, zone });
    }
    together = [];
  }

  for await (const candidate of candidates) {
    together.push(candidate);
    if (together.length === AT_ONCE) await look();
    if (due.length >= most) break;
  }
  await look();
  return due.slice(0, most);
}

async function zonesOf(ids: StoredId[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const distinct = new Map(ids.map((id) => [String(id), id]));
  const accounts = await Account.find({ _id: { $in: [...distinct.values()] } }, { time_zone: 1 }).lean();
  return new Map(accounts.map(({ _id, time_zone }) => [String(_id), time_zone ?? 'UTC']));
}
