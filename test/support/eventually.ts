// Waits until something is true, with a limit that only ends a hang.
import { setTimeout as pause } from 'node:timers/promises';

const LIMIT_MS = 60_000;
const STEP_MS = 25;

/** Calls `look` until it returns something that counts as true, so neither 0 nor nothing, and returns that. Throws what `look` threw last. */
export async function eventually<Result>(
  look: () => Promise<Result> | Result,
  limitMs = LIMIT_MS,
): Promise<NonNullable<Exclude<Result, false>>> {
  const until = Date.now() + limitMs;
  for (;;) {
    let problem: unknown = new Error(`not true within ${limitMs} ms: ${String(look)}`);
    try {
      const result = await look();
      if (result) return result as NonNullable<Exclude<Result, false>>;
    } catch (error) {
      problem = error;
    }
    if (Date.now() >= until) throw problem;
    await pause(STEP_MS);
  }
}
