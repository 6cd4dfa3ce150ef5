// What waits for its day: a sent invoice to be overdue, a sent quote to expire. The scheduler tells of it, once.

/** @returns the mark that the scheduler looks for: only what was sent has something to announce. */
export function expiryOf(status: string, lastDay: string): { expires_on: string | undefined } {
  return { expires_on: status === 'Sent' ? lastDay : undefined };
}

/**
 * Whether `status` is how it looks already and nobody was told: who sets it before the scheduler comes has the event to write.
 * @param lapsed what its status is called once its day has passed.
 */
export function isUnannounced(
  { expires_on }: { expires_on?: string | undefined },
  status: string,
  lapsed: string,
): boolean {
  return status === lapsed && expires_on !== undefined;
}

/**
 * What to store when `asked` is set. What its day makes of it anyway is not stored: with a later day it is what it was again.
 * @param now.looks the status that its day, as it will be, makes of what is stored.
 */
export function statusToStore<Status extends string>(
  now: { stored: Status; looks: Status },
  asked: Status | undefined,
): Status {
  return asked === undefined || now.looks === asked ? now.stored : asked;
}

/** True when the scheduler has to look at the new day: not where another day that has passed follows one that it has told of. */
export function isDayToWatch(
  before: { expires_on?: string | undefined; lastDay: string },
  lastDay: string,
  today: string,
): boolean {
  return lastDay !== before.lastDay && (before.expires_on !== undefined || lastDay >= today);
}
