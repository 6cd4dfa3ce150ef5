// Lets few tasks of a name run at a time in this process: a storm of conflicts in the database becomes a queue in memory.
import pLimit, { type LimitFunction } from 'p-limit';
import { unavailable } from '#libs/errors.ts';

const queues = new Map<string, LimitFunction>();

/** While the database hangs each task takes its whole limit: who stands behind many is told to come again, and nothing of his was done. */
const WAIT_LIMIT_MS = 15_000;
/** Who has given up keeps its place until its turn would have come, which may be hours for what is read slowly. */
const WAITING_MAX = 5_000;

export interface TurnOptions {
  /** So many of the name run at a time, the same number for all of them. */
  atOnce?: number;
  limitMs?: number;
  /** What who waited too long is told. */
  late?: () => Error;
}

const tooManyChanges = () => unavailable('Too many changes are waiting, please try again later', 1);

/**
 * Runs `task` when fewer than `atOnce` earlier tasks of the same `name` have not ended yet, however they ended.
 * @throws what `late` gives, 503 unless given, when its turn does not come in time or too many wait already; then it never runs.
 */
export async function withConcurrencyLimit<Result>(
  name: string,
  task: () => Promise<Result>,
  { atOnce = 1, limitMs = WAIT_LIMIT_MS, late = tooManyChanges }: TurnOptions = {},
): Promise<Result> {
  const queue = queues.get(name) ?? pLimit(atOnce);
  if (queue.pendingCount >= WAITING_MAX) throw late();
  queues.set(name, queue);
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  let wanted: typeof task | undefined = task;
  const timer = setTimeout(() => {
    wanted = undefined; // With all that it holds.
    reject(late());
  }, limitMs);
  const turn = queue(() => {
    clearTimeout(timer);
    return wanted ? wanted() : tooLate;
  });
  const forget = () => {
    if (queue.activeCount + queue.pendingCount === 0) queues.delete(name);
  };
  void turn.catch(() => undefined).then(forget);
  return await Promise.race([turn, tooLate]);
}
