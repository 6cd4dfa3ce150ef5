// Combines calls made at about the same time into one round trip to the database.
import { setTimeout as pause } from 'node:timers/promises';

const BATCH_MAX = 200;
/** More items share a batch under load, and a single item waits for nothing. */
const APART_MS = 5;
/** For work that delays no call: the attempt is made, the jobs are on the queue. */
export const PATIENT = { apartMs: 60 };

/**
 * @param work gets items in the order they were asked for and returns one result for each.
 * @param options.apartMs batches begin at least this far apart.
 * @returns a function for one item. The first starts at once. Items that come within that time, or while a batch is being worked on,
 * make the next batch. When a batch fails, each of its items fails with that error.
 */
export function inBatches<Item, Result>(
  work: (items: Item[]) => Promise<Result[]>,
  { apartMs = APART_MS }: { apartMs?: number } = {},
): (item: Item) => Promise<Result> {
  let waiting: Array<{ item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void }> = [];
  let isWorking = false;
  let nextAt = 0;

  async function workOff() {
    isWorking = true;
    while (waiting.length > 0) {
      const restMs = nextAt - performance.now();
      if (restMs > 0 && waiting.length < BATCH_MAX) await pause(restMs);
      nextAt = performance.now() + apartMs;
      const batch = waiting.slice(0, BATCH_MAX);
      waiting = waiting.slice(BATCH_MAX);
      try {
        const results = await work(batch.map(({ item }) => item));
        // One result for each item is the contract of `work`.
        for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isWorking = false;
  }

  return (item) =>
    new Promise<Result>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isWorking) void workOff();
    });
}
