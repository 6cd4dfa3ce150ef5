// Marks documents that will expire: a sent invoice becomes overdue, a sent quote expires. The scheduler writes the
// event once.

/** Returns the mark that the scheduler searches for. Only a sent document has an expiry event. */
export function expiryOf(status: string, lastDay: string): { expires_on: string | undefined } {
  return { expires_on: status === 'Sent' ? lastDay : undefined };
}

/**
 * True when reads already show `status` and its event is not written yet. A PATCH that sets it before the scheduler
 * runs writes the event.
 * @param expired the status once the day has passed.
 */
export function isUnannounced(
  { expires_on }: { expires_on?: string | undefined },
  status: string,
  expired: string,
): boolean {
  return status === expired && expires_on !== undefined;
}

/**
 * Returns the status to store when a caller sets `asked`. A status that follows from the day is not stored, because
 * with a later day the document is Sent again.
 * @param now.looks the status that reads show for the new day.
 */
export function statusToStore<Status extends string>(
  now: { stored: Status; looks: Status },
  asked: Status | undefined,
): Status {
  return asked === undefined || now.looks === asked ? now.stored : asked;
}

/**
 * True when the scheduler must watch the new day. It need not where a passed day replaces one whose event was written.
 */
export function isDayToWatch(
  before: { expires_on?: string | undefined; lastDay: string },
  lastDay: string,
  today: string,
): boolean {
  return lastDay !== before.lastDay && (before.expires_on !== undefined || lastDay >= today);
}
