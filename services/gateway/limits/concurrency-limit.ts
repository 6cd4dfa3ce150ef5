// Runs few tasks of a name at a time in this process: conflicts in the database become a queue in memory.
import pLimit, { type LimitFunction } from 'p-limit';
import { appError, retryAfter } from '#libs/errors.ts';

const queues = new Map<string, LimitFunction>();

/** Longest wait of a task. It is then rejected and never runs: each task before it takes its whole time limit while the database hangs. */
export const WAIT_LIMIT_MS = 15_000;
/** A task that gave up keeps its place in the queue until it would have run, which may take hours behind slow readers. */
const WAITING_MAX = 5_000;

export interface LimitOptions {
  /** Tasks of the name at a time; the same number in every call. */
  atOnce?: number;
  limitMs?: number;
  /** The error of a task that waited too long. */
  late?: () => Error;
}

const tooManyChanges = () => appError('too_many_waiting_changes', undefined, { headers: retryAfter(1) });

/**
 * Runs `task` when fewer than `atOnce` earlier tasks of the same `name` have not ended yet, however they ended.
 * @throws what `late` gives, 503 unless given, when it does not start in time or too many wait already; then it never runs.
 */
export async function withConcurrencyLimit<Result>(
  name: string,
  task: () => Promise<Result>,
  { atOnce = 1, limitMs = WAIT_LIMIT_MS, late = tooManyChanges }: LimitOptions = {},
): Promise<Result> {
  const queue = queues.get(name) ?? pLimit(atOnce);
  if (queue.pendingCount >= WAITING_MAX) throw late();
  queues.set(name, queue);
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  let wanted: typeof task | undefined = task;
  const timer = setTimeout(() => {
    wanted = undefined; // Frees all that the task refers to.
    reject(late());
  }, limitMs);
  const run = queue(() => {
    clearTimeout(timer);
    return wanted ? wanted() : tooLate;
  });
  const forget = () => {
    // A task that ended a moment before may have done so already, and another one of the name may have begun.
    if (queues.get(name) === queue && queue.activeCount + queue.pendingCount === 0) queues.delete(name);
  };
  void run.catch(() => undefined).then(forget);
  return await Promise.race([run, tooLate]);
}
