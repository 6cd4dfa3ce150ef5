// Waits for work for a limited time. The work itself goes on after the wait has ended, and a late failure of it is ignored.
import { agreedTime } from './clock.ts';

export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

export interface WaitOptions {
  /** Ends the wait when it aborts. */
  signal?: AbortSignal | undefined;
  /** Makes the error of a timeout; a TimeoutError unless given. */
  error?: () => Error;
}

/** @throws what `error` makes after `ms` milliseconds, `signal.reason` when aborted, and before that whatever the work throws. */
export async function withTimeout<Result>(
  ms: number,
  work: Promise<Result>,
  { signal, error = () => new TimeoutError(`no answer within ${ms} ms`) }: WaitOptions = {},
): Promise<Result> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal?.reason);
  // A process that stood still runs its timers before it reads what came meanwhile: what has come counts as in time.
  const onTimeout = () => setImmediate(() => reject(error()));
  const timer = setTimeout(onTimeout, Math.max(0, ms));
  // Not AbortSignal.any or AbortSignal.timeout: their listeners stay in memory until a full garbage collection.
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    work.catch(() => undefined);
  }
}

/** @param deadlineAt milliseconds since the epoch, by the clock all machines agree on. @throws as `withTimeout`. */
export function withDeadline<Result>(
  deadlineAt: number,
  work: Promise<Result>,
  options?: WaitOptions,
): Promise<Result> {
  return withTimeout(deadlineAt - agreedTime(), work, options);
}

/** @returns undefined when the work is not done after `ms` milliseconds. @throws whatever the work throws until then. */
export async function resultWithin<Result>(ms: number, work: Promise<Result>): Promise<Result | undefined> {
  // Made only when it is needed: the stack of an error costs more than the wait.
  let timeout: TimeoutError | undefined;
  const error = () => {
    timeout = new TimeoutError();
    return timeout;
  };
  try {
    return await withTimeout(ms, work, { error });
  } catch (thrown) {
    if (timeout && thrown === timeout) return undefined;
    throw thrown;
  }
}
