// Settles the rate of time when it is logged. A later change elsewhere counts for new work, and for unbilled work on
// request.
import { appError } from '../../errors.ts';
import { driverOf, findIds } from '../../models/records.ts';
import { type StoredId, storedId } from '../../models/tenant.ts';
import { Project } from '../../models/time/project.ts';
import { TimeEntry, type TimeEntryRecord, UNBILLED } from '../../models/time/time-entry.ts';
import { RATE_SOURCES, type RateSource } from '../../rules/time/hourly-rate.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { announceEntries } from '../work/claim-time.ts';
import { changeWork, TIME } from '../work/work-records.ts';
import { timeContext } from './time-context.ts';
import { requireUnlocked } from './time-lock.ts';
import { followTime } from './time-totals.ts';

/** The most entries that one change of a rate changes, and the text in them. Each is announced as a whole. */
const CHANGED_MAX = 5_000;
const CHANGED_MAX_MIB = 16;
const BATCH = 200;

export type SettledRate = Pick<TimeEntryRecord, 'hourly_rate' | 'rate' | 'rate_from'>;

type Placed = Pick<TimeEntryRecord, 'project_id' | 'task_id' | 'member'>;

/** Returns a settled rate that the caller gave. It stays, whatever is set elsewhere. */
export function givenRate(rate: number): SettledRate {
  return { hourly_rate: rate, rate, rate_from: 'entry' };
}

/** Returns the rates of the entries by their member, task, project, client and account, whatever they had before. */
export async function ratesOf(
  entries: readonly Placed[],
  { accountId, session }: Pick<UnitOfWork, 'accountId' | 'session'>,
): Promise<SettledRate[]> {
  const unrated = entries.map(({ project_id, task_id, member = null }) => ({
    project_id,
    task_id,
    member,
    hourly_rate: null,
  }));
  const contextOf = await timeContext(unrated, accountId, session);
  return unrated.map((entry) => {
    const { rate } = contextOf(entry);
    // The specification has an entry show the rate of its task as its own.
    return { hourly_rate: rate?.from === 'task' ? rate.rate : null, rate: rate?.rate, rate_from: rate?.from };
  });
}

/** The record whose rate was changed. */
type RateHolder =
  | { from: 'account' }
  | { from: 'client'; client_id: StoredId }
  | { from: 'project'; project_id: StoredId }
  | { from: 'task'; task_id: StoredId };

/**
 * Settles unbilled time anew after the rate of a task, project, client or account was changed. Time with a closer rate
 * keeps it.
 * @throws AppError 409 for more time than one transaction should change, and where some of it is locked.
 */
export async function applyRate(unit: UnitOfWork, holder: RateHolder): Promise<void> {
  const { session, accountId } = unit;
  const cursor = driverOf(TimeEntry).find(
    {
      account_id: storedId(accountId),
      ...UNBILLED,
      ...(await placesOf(unit, holder)),
      rate_from: { $in: [...fromOrBeyond(holder.from), null] },
    } as object,
    { session, sort: { _id: 1 }, limit: CHANGED_MAX + 1, batchSize: BATCH },
  );
  const found: TimeEntryRecord[] = [];
  let bytes = 0;
  for await (const entry of cursor as unknown as AsyncIterable<TimeEntryRecord>) {
    found.push(entry);
    bytes += Buffer.byteLength(entry.description ?? '');
    if (found.length > CHANGED_MAX || bytes > CHANGED_MAX_MIB * 1024 * 1024) {
      throw appError('rate_of_too_many_entries', { limit: CHANGED_MAX, limit_mib: CHANGED_MAX_MIB });
    }
  }
  // A rate that a caller gave stays, even where an older version has not stored its origin.
  const entries = found.filter((entry) => entry.rate_from || entry.hourly_rate === null);
  const rates = await ratesOf(entries, unit);
  const changing = entries.flatMap((entry, index) => {
    const rate = rates[index] as SettledRate;
    const isSame = entry.rate === rate.rate && entry.rate_from === rate.rate_from;
    return isSame ? [] : [{ entry, rate }];
  });
  await requireUnlocked(
    unit,
    changing.map(({ entry }) => entry.date),
  );
  for (const group of Map.groupBy(changing, ({ rate }) => `${rate.rate} ${rate.rate_from}`).values()) {
    const { hourly_rate, ...rate } = (group[0] as (typeof changing)[number]).rate;
    const work = group.map(({ entry }) => entry);
    const isRated = rate.rate !== undefined;
    const updated_at = await changeWork(TIME, unit, {
      work,
      when: { invoice_id: null, settled: null },
      set: isRated ? { hourly_rate, ...rate } : { hourly_rate },
      ...(isRated ? {} : { unset: { rate: 1, rate_from: 1 } }),
    });
    await announceEntries(
      unit,
      work.map((entry) => ({ ...entry, hourly_rate, ...rate, updated_at })),
    );
  }
  const changes = changing.map(({ entry, rate }) => ({ before: entry, after: { ...entry, ...rate } }));
  await followTime(changes, unit);
}

/** Returns the sources that are affected. A closer rate is not. */
function fromOrBeyond(from: RateSource): readonly RateSource[] {
  return RATE_SOURCES.slice(RATE_SOURCES.indexOf(from));
}

async function placesOf({ accountId, session }: UnitOfWork, holder: RateHolder): Promise<object> {
  if (holder.from === 'account') return {};
  if (holder.from === 'client') {
    const own = { account_id: storedId(accountId), client_id: holder.client_id };
    return { project_id: { $in: await findIds(Project, own, { session }) } };
  }
  return holder.from === 'project' ? { project_id: holder.project_id } : { task_id: holder.task_id };
}
