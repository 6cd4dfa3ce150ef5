// What waits for its day: a sent invoice to be overdue, a sent quote to expire. The scheduler tells of it, once.

/** @returns the mark that the scheduler looks for: only what was sent has something to announce. */
export function lapseOf(status: string, lastDay: string): { lapses_on: string | undefined } {
  return { lapses_on: status === 'Sent' ? lastDay : undefined };
}

/**
 * Whether `status` is how it looks already and nobody was told: who sets it before the scheduler comes has the event to write.
 * @param lapsed what its status is called once its day has passed.
 */
export function isUntold({ lapses_on }: { lapses_on?: string | undefined }, status: string, lapsed: string): boolean {
  return status === lapsed && lapses_on !== undefined;
}
