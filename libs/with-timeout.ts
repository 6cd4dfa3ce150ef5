// Waits for work for a limited time. The work itself goes on after the wait has ended, and its late failure is ignored.
import { agreedTime } from './clock.ts';

export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

export interface WaitOptions {
  /** Ends the wait when it aborts. */
  signal?: AbortSignal | undefined;
  /** Makes the error of a timeout. Defaults to a TimeoutError. */
  error?: () => Error;
}

/**
 * Waits for work.
 * @throws the result of `error` after `ms` milliseconds, `signal.reason` when aborted, and before that whatever the
 * work throws.
 */
export async function withTimeout<Result>(
  ms: number,
  work: Promise<Result>,
  { signal, error = () => new TimeoutError(`no answer within ${ms} ms`) }: WaitOptions = {},
): Promise<Result> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal?.reason);
  // A process that was suspended runs its timers before it reads what came meanwhile. The detour lets an answer that
  // has come count as in time.
  const onTimeout = () => setImmediate(() => reject(error()));
  const timer = setTimeout(onTimeout, Math.max(0, ms));
  // AbortSignal.any and AbortSignal.timeout would not do: their listeners stay in memory until a full garbage
  // collection.
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

/**
 * Waits for work until a deadline.
 * @param deadlineAt milliseconds since the epoch, by the agreed clock.
 * @throws as `withTimeout`.
 */
export function withDeadline<Result>(
  deadlineAt: number,
  work: Promise<Result>,
  options?: WaitOptions,
): Promise<Result> {
  return withTimeout(deadlineAt - agreedTime(), work, options);
}

/**
 * Waits for work.
 * @returns undefined when it is not done after `ms` milliseconds.
 * @throws whatever the work throws until then.
 */
export async function resultWithin<Result>(ms: number, work: Promise<Result>): Promise<Result | undefined> {
  // The error is made only when it is needed, because its stack costs more than the wait.
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
