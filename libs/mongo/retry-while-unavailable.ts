// Waits for MongoDB to come back: an election takes some seconds.
import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable } from './errors.ts';

/** No new try begins after this. Each waits for a primary by itself, see mongo.ts. */
const BEGINS_LIMIT_MS = 8_000;
const APART_MS = 200;

/**
 * Does `work` again while the store is away, for about ten seconds. It must be harmless when it is done twice: its answer may have been lost.
 * @throws what the last try threw.
 */
export async function retryWhileUnavailable<Result>(work: () => Promise<Result>): Promise<Result> {
  const until = performance.now() + BEGINS_LIMIT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error) || performance.now() + APART_MS >= until) throw error;
    }
    await pause(APART_MS);
  }
}
