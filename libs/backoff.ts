// The wait before another attempt: it grows with each attempt up to a limit, and part of it is random.

export interface Backoff {
  firstMs: number;
  /** The factor from one wait to the next. */
  growth: number;
  maxMs: number;
  /** The random share of a wait, in both directions. It keeps attempts that failed together from being made together again. */
  jitter: number;
}

/**
 * Returns the milliseconds to wait.
 * @param attemptsMade the number of attempts that failed, 1 or more.
 * @param chance 0 to 1, excluding 1.
 */
export function backoffAfter(attemptsMade: number, backoff: Backoff, chance = Math.random()): number {
  const { firstMs, growth, maxMs, jitter } = backoff;
  const nominalMs = Math.min(maxMs, firstMs * growth ** (attemptsMade - 1));
  return Math.min(maxMs, nominalMs * (1 - jitter + 2 * jitter * chance));
}
