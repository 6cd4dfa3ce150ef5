// Waits until something is true, with a limit that only ends a hang.
import { setTimeout as pause } from 'node:timers/promises';

const LIMIT_MS = 60_000;
const STEP_MS = 25;
const STEP_MAX_MS = 100;
/** The part of the time so far that the next step takes: a long wait looks less often, and ends hardly later. */
const STEP_SHARE = 0.05;

/** Calls `look` until it returns something that counts as true, so neither 0 nor nothing, and returns that. Throws what `look` threw last. */
export async function eventually<Result>(
  look: () => Promise<Result> | Result,
  limitMs = LIMIT_MS,
): Promise<NonNullable<Exclude<Result, false>>> {
  const since = Date.now();
  const until = since + limitMs;
  for (;;) {
    let problem: unknown = new Error(`not true within ${limitMs} ms: ${String(look)}`);
    try {
      const result = await look();
      if (result) return result as NonNullable<Exclude<Result, false>>;
    } catch (error) {
      problem = error;
    }
    if (Date.now() >= until) throw problem;
    await pause(Math.min(Math.max(STEP_MS, STEP_SHARE * (Date.now() - since)), STEP_MAX_MS));
  }
}
