// Finds the records of all accounts that are due on the calendar day of their account.
import { dayIn } from '../../day.ts';
import type { StoredId } from '../tenant.ts';
import { Account } from './account.ts';

/** The number of records whose time zones are read in one query. */
const AT_ONCE = 500;

interface Due<Candidate> {
  at: Date;
  /** True when the candidate is due. @param today in the time zone of the candidate's account, `YYYY-MM-DD`. */
  isDue(candidate: Candidate, today: string): boolean;
}

interface OfAccount {
  account_id: StoredId;
}

/**
 * Yields the candidates that are due, in their order, with the time zone of their account. A deleted account counts as
 * UTC.
 */
async function* allDue<Candidate extends OfAccount>(
  candidates: AsyncIterable<Candidate>,
  due: Due<Candidate>,
): AsyncGenerator<Candidate & { zone: string }> {
  let together: Candidate[] = [];
  for await (const candidate of candidates) {
    together.push(candidate);
    if (together.length < AT_ONCE) continue;
    yield* await dueAmong(together, due);
    together = [];
  }
  yield* await dueAmong(together, due);
}

/**
 * Returns the first candidates that are due, as `allDue` yields them. Candidates whose day has only come in other time
 * zones are passed over, and there may be more of them than `most`.
 * @param candidates whose day may have come, the longest due first.
 */
export async function firstDue<Candidate extends OfAccount>(
  candidates: AsyncIterable<Candidate>,
  { most, ...due }: Due<Candidate> & { most: number },
): Promise<(Candidate & { zone: string })[]> {
  const first: (Candidate & { zone: string })[] = [];
  for await (const one of allDue(candidates, due)) if (first.push(one) === most) break;
  return first;
}

async function dueAmong<Candidate extends OfAccount>(candidates: Candidate[], { at, isDue }: Due<Candidate>) {
  const zones = await zonesOf(candidates.map(({ account_id }) => account_id));
  return candidates
    .map((candidate) => ({ ...candidate, zone: zones.get(String(candidate.account_id)) ?? 'UTC' }))
    .filter((candidate) => isDue(candidate, dayIn(candidate.zone, at)));
}

async function zonesOf(ids: StoredId[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const distinct = new Map(ids.map((id) => [String(id), id]));
  const accounts = await Account.find({ _id: { $in: [...distinct.values()] } }, { time_zone: 1 }).lean();
  return new Map(accounts.map(({ _id, time_zone }) => [String(_id), time_zone ?? 'UTC']));
}
