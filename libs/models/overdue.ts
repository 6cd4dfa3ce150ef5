// Finds the deliveries and messages of all accounts that are due for long and that no worker takes.
import { type AtTime, LEASE_GUARDS } from './moves.ts';
import { driverOf, type Owned } from './records.ts';
import type { StoredId } from './tenant.ts';

/** The time after which a due record is overdue. The poller of a running service hands it to a worker within seconds. */
export const OVERDUE_MS = 5 * 60_000;
/** The most records that are examined: those that the poller looks at first. */
export const DUE_EXAMINED_MAX = 5_000;

/** A record that is due or that a worker has. A message has a `sender` when it leaves by a mail server of its account. */
interface DueRecord {
  account_id: StoredId;
  next_at: Date;
  lease_until?: Date;
  sender?: string;
}

/** Overdue records: how many, counted up to a limit, and how long the oldest has been due. 0 when there is none. */
export interface Overdue {
  count: number;
  oldestMs: number;
}

/**
 * Returns the filter of overdue records: no worker has them, and their attempt has been due for long. `due_at` does not
 * say since when, because the poller moves it each time it enqueues a record, even if no job comes of it.
 */
export function overdueAt({ now }: AtTime) {
  return { next_at: { $lt: new Date(now.getTime() - OVERDUE_MS) }, ...LEASE_GUARDS.isFree.filter({ now }) };
}

/**
 * Returns the records with this condition among those that the poller looks at soon. It looks at a due record at least
 * once a minute, so records that are planned for later are not read.
 */
export async function findDueSoon(
  records: Parameters<typeof driverOf>[0],
  condition: object,
  { now }: AtTime,
): Promise<DueRecord[]> {
  const found = driverOf(records).aggregate<Owned & DueRecord>([
    { $match: { due_at: { $lt: new Date(now.getTime() + OVERDUE_MS) } } },
    { $sort: { due_at: 1 } },
    { $limit: DUE_EXAMINED_MAX },
    { $match: condition },
    { $project: { account_id: 1, next_at: 1, lease_until: 1, sender: 1 } },
  ]);
  return found.toArray();
}

/** Sums up overdue records. @param max the number at which counting stops. */
export function overdueOf(records: readonly Pick<DueRecord, 'next_at'>[], max: number, { now }: AtTime): Overdue {
  const ages = records.map(({ next_at }) => now.getTime() - next_at.getTime());
  return { count: Math.min(ages.length, max), oldestMs: Math.max(0, ...ages) };
}
