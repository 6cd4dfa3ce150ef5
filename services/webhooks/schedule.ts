// When the next attempt is made, and when there is none.
import { agreedTime } from '#libs/clock.ts';

const SECOND_MS = 1_000;
const DAY_MS = 24 * 3_600 * SECOND_MS;

/** About 78 hours with the waits below: a receiver may be down over a weekend. */
export const ATTEMPTS_MAX = 11;
const FIRST_WAIT_MS = 5 * SECOND_MS;
const GROWTH = 4;
const WAIT_MAX_MS = DAY_MS;
/** Svix's figure: deliveries that failed together are not retried together. */
const JITTER = 0.2;

export interface Failure {
  /** How many attempts are spent, this one included: 1 or more. */
  attemptsMade: number;
  /** From `Retry-After`. A receiver may delay the next attempt, never hasten it. */
  retryAfterMs?: number | undefined;
}

/**
 * @param scale multiplies the schedule's waits (WEBHOOK_RETRY_SCALE), not the receiver's.
 * @param chance 0 to 1, excluding 1.
 * @returns milliseconds until the next attempt, or undefined when all are spent.
 */
export function waitAfter({ attemptsMade, retryAfterMs = 0 }: Failure, scale: number, chance = Math.random()) {
  if (attemptsMade >= ATTEMPTS_MAX) return undefined;
  const nominalMs = Math.min(WAIT_MAX_MS, FIRST_WAIT_MS * GROWTH ** (attemptsMade - 1));
  const ownMs = Math.min(WAIT_MAX_MS, nominalMs * (1 - JITTER + 2 * JITTER * chance)) * scale;
  return Math.round(Math.max(ownMs, Math.min(WAIT_MAX_MS, retryAfterMs)));
}

/** @param value of the header: whole seconds or an HTTP date. @returns milliseconds, undefined when it is neither. */
export function readRetryAfter(value: unknown, now: number = agreedTime()): number | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^\d{1,10}$/.test(value.trim())) return Number(value) * SECOND_MS;
  // Date.parse would read a small number as a year.
  const at = /GMT$/.test(value.trim()) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
