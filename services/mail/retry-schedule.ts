// The schedule of attempts to send a mail.
import { backoffAfter } from '#libs/backoff.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const BACKOFF = { firstMs: MINUTE_MS, growth: 3, maxMs: 6 * HOUR_MS, jitter: 0.2 };
/** The time after which no other attempt is made. */
const TRIED_FOR_MS = 48 * HOUR_MS;
/** The time until a mail of which nothing is known is sent once more: the server may still be working on it. */
const UNKNOWN_WAIT_MS = 10 * MINUTE_MS;

/**
 * Returns the time of the next attempt, or undefined when the mail was tried for long enough.
 * @param attemptsMade the number of attempts, this one included.
 * @param since the first attempt: the time for which no mail service ran does not count.
 * @param scale multiplies all waits (MAIL_RETRY_SCALE).
 */
export function nextAttemptAt(
  { attemptsMade, since, now }: { attemptsMade: number; since: Date; now: Date },
  scale: number,
  chance = Math.random(),
): Date | undefined {
  const at = now.getTime() + backoffAfter(attemptsMade, BACKOFF, chance) * scale;
  return at - since.getTime() > TRIED_FOR_MS * scale ? undefined : new Date(Math.round(at));
}

/** Returns the time at which a mail of which nothing is known is sent once more. */
export function repetitionAt(now: Date, scale: number): Date {
  return new Date(now.getTime() + UNKNOWN_WAIT_MS * scale);
}
