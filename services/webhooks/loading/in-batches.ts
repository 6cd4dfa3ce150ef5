// Combines calls made at about the same time into one round trip to the database.
import DataLoader from 'dataloader';
import type { Id } from '#libs/models/tenant.ts';

const BATCH_MAX = 200;
/** The window of a batch. Every delivery waits for it once or twice, so it is short beside the call of an endpoint. */
const WINDOW_MS = 2;
/** The window for work that delays no call, because the attempt is made or the jobs are on the queue. */
export const PATIENT = { windowMs: 60 };

/**
 * Combines calls.
 * @param work gets items in the order in which they were asked for, and returns one result for each.
 * @param options.windowMs the time after the first item in which others join its batch.
 * @returns a function for one item. When a batch fails, each of its items fails with that error.
 */
export function inBatches<Item, Result>(
  work: (items: Item[]) => Promise<Result[]>,
  { windowMs = WINDOW_MS }: { windowMs?: number } = {},
): (item: Item) => Promise<Result> {
  const loader = new DataLoader<Item, Result>((items) => work([...items]), {
    cache: false,
    maxBatchSize: BATCH_MAX,
    batchScheduleFn: (run) => void setTimeout(run, windowMs),
  });
  return (item) => loader.load(item);
}

/** Returns a function that reads one record, and undefined for an id without a record. Reads at about the same time share a query. */
export function findInBatches<Stored>(
  find: (ids: Id[]) => Promise<Map<Id, Stored>>,
): (id: Id) => Promise<Stored | undefined> {
  return inBatches(async (ids: Id[]) => {
    const found = await find(ids);
    return ids.map((id) => found.get(id));
  });
}
