// Waits for work that may never end: until it is done, its time is over, or nobody wants it any more.
import { AppError } from '#libs/errors.ts';

/** The wait ended before the work did. `reason` is what the caller should hear. */
export class GaveUp extends Error {
  readonly reason: unknown;

  constructor(reason: unknown) {
    super('The wait ended before the work did');
    this.reason = reason;
  }
}

/** @throws GaveUp when the limit passes (504) or the signal aborts; whatever the work throws otherwise. */
export async function inTime<Value>(
  work: Promise<Value>,
  { limitMs, signal }: { limitMs: number; signal: AbortSignal },
): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(new GaveUp(signal.reason));
  const timer = setTimeout(() => reject(new GaveUp(tookTooLong())), Math.max(0, limitMs));
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
    work.catch(() => undefined); // Given up, its failure is nobody's.
  }
}

/** What who waits is told when the time is over. */
export function tookTooLong() {
  return new AppError(504, 'The document was not ready before its deadline');
}

/** Who waits should hear why, not that somebody gave up. */
export function asReason(error: unknown): never {
  throw error instanceof GaveUp ? error.reason : error;
}
