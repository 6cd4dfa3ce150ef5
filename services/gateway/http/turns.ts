// Lets one task of a name run at a time in this process: a storm of conflicts in the database becomes a queue in memory.
import { unavailable } from '#libs/errors.ts';

const tails = new Map<string, Promise<unknown>>();

/** While the database hangs each task takes its whole limit: who stands behind many is told to come again, and nothing of his was done. */
const WAIT_LIMIT_MS = 15_000;

/**
 * Runs `task` after all earlier tasks of the same `name` have ended, however they ended.
 * @throws AppError 503 when its turn does not come in time; then it never runs.
 */
export async function inTurn<Result>(
  name: string,
  task: () => Promise<Result>,
  limitMs: number = WAIT_LIMIT_MS,
): Promise<Result> {
  const before = tails.get(name) ?? Promise.resolve();
  const late = Promise.withResolvers<never>();
  let hasGivenUp = false;
  const timer = setTimeout(() => {
    hasGivenUp = true;
    late.reject(unavailable('Too many changes are waiting, please try again later', 1));
  }, limitMs);
  const run = async () => {
    clearTimeout(timer);
    return hasGivenUp ? await late.promise : await task();
  };
  const turn = before.then(run, run);
  const tail = turn
    .catch(() => undefined)
    .then(() => {
      if (tails.get(name) === tail) tails.delete(name);
    });
  tails.set(name, tail);
  return await Promise.race([turn, late.promise]);
}
