// The schedule of attempts: the wait before the next one, and the end after the last one.
import { backoffAfter } from '#libs/backoff.ts';
import { agreedTime } from '#libs/clock.ts';

const SECOND_MS = 1_000;
const DAY_MS = 24 * 3_600 * SECOND_MS;

/** The waits below add up to about 78 hours, so a receiver may be down over a weekend. */
export const ATTEMPTS_MAX = 11;
const WAIT_MAX_MS = DAY_MS;
/** The jitter is Svix's figure. */
const BACKOFF = { firstMs: 5 * SECOND_MS, growth: 4, maxMs: WAIT_MAX_MS, jitter: 0.2 };

export interface Failure {
  /** The number of spent attempts, this one included: 1 or more. */
  attemptsMade: number;
  /** The wait that `Retry-After` asks for. A receiver may delay the next attempt, never hasten it. */
  retryAfterMs?: number | undefined;
}

/**
 * Returns the milliseconds until the next attempt, or undefined when all are spent.
 * @param scale multiplies the schedule's waits (WEBHOOK_RETRY_SCALE), not the receiver's.
 * @param chance 0 to 1, excluding 1.
 */
export function waitAfter({ attemptsMade, retryAfterMs = 0 }: Failure, scale: number, chance = Math.random()) {
  if (attemptsMade >= ATTEMPTS_MAX) return undefined;
  const ownMs = backoffAfter(attemptsMade, BACKOFF, chance) * scale;
  return Math.round(Math.max(ownMs, Math.min(WAIT_MAX_MS, retryAfterMs)));
}

/**
 * Reads the header.
 * @param value whole seconds or an HTTP date.
 * @returns milliseconds, or undefined when it is neither.
 */
export function readRetryAfter(value: unknown, now: number = agreedTime()): number | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^\d{1,10}$/.test(value.trim())) return Number(value) * SECOND_MS;
  // Date.parse would read a small number as a year.
  const at = /GMT$/.test(value.trim()) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
