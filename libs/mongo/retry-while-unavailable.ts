// Retries work while MongoDB is unavailable, because an election takes some seconds.
import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable } from './errors.ts';

/** The time after which no retry starts. Each try itself waits for a primary, see connection.ts. */
const RETRY_LIMIT_MS = 8_000;
const RETRY_PAUSE_MS = 200;

/**
 * Retries `work` for about ten seconds while MongoDB is unavailable. `work` must be idempotent, because its response
 * may have been lost.
 * @throws the error of the last try.
 */
export async function retryWhileUnavailable<Result>(work: () => Promise<Result>): Promise<Result> {
  const until = performance.now() + RETRY_LIMIT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error) || performance.now() + RETRY_PAUSE_MS >= until) throw error;
    }
    await pause(RETRY_PAUSE_MS);
  }
}
