// Waits for work, but not for ever.
import { setTimeout as pause } from 'node:timers/promises';

/** @returns what the work gives, or undefined when it is not done by then; it goes on all the same. @throws whatever the work throws until then. */
export async function within<Result>(limitMs: number, work: Promise<Result>): Promise<Result | undefined> {
  const limit = new AbortController();
  const late = pause(Math.max(0, limitMs), undefined, { signal: limit.signal }).catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    limit.abort();
  }
}
