// Combines calls made at about the same time into one round trip to the database.
import DataLoader from 'dataloader';

const BATCH_MAX = 200;
/** Short beside the call of an endpoint: every delivery waits for it once or twice. */
const WINDOW_MS = 2;
/** For work that delays no call: the attempt is made, the jobs are on the queue. */
export const PATIENT = { windowMs: 60 };

/**
 * @param work gets items in the order they were asked for and returns one result for each.
 * @param options.windowMs items that come within this time after the first share its batch.
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
