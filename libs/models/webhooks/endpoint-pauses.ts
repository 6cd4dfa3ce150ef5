// The pauses of an endpoint: the times before its registration and while it was disabled. It gets no events of a pause.

/** A pause, counted in the account's events (see event.ts), so that no two clocks have to agree. */
export interface Pause {
  /** The sequence of the last event before the pause. */
  after: number;
  /** The sequence of the last event in the pause. None while it lasts. */
  until?: number | null;
}

/**
 * The number of pauses that are kept. They only matter for events that wait in the outbox. If older ones are lost, an
 * endpoint may get an event too many, never one too few.
 */
const PAUSES_MAX = 10;

interface Pausable {
  enabled: boolean;
  pauses?: Pause[] | null;
}

/**
 * True when the endpoint was enabled at the time of the event, whatever it is now. The event has waited in the outbox
 * meanwhile.
 */
export function wasEnabledFor({ enabled, pauses }: Pausable, { sequence }: { sequence: number }): boolean {
  const known = pauses ?? [];
  const last = known.at(-1);
  if (!enabled && (!last || last.until != null)) return false; // The start of the pause is unknown.
  const ended = endedAt(known, enabled ? undefined : Number.POSITIVE_INFINITY);
  return !ended.some(({ after, until }) => sequence > after && sequence <= until);
}

/**
 * Returns the pauses with the last one ended. Only the last pause can be open. An operator who enables an endpoint by
 * hand in the database ends no pause: an open one before the last counts as empty, because an event too many is better
 * than one too few.
 */
function endedAt(pauses: readonly Pause[], end: number | undefined) {
  const last = pauses.at(-1);
  return pauses.map((pause) => ({ ...pause, until: pause.until ?? (pause === last ? end : undefined) ?? pause.after }));
}

/**
 * Returns the update of an endpoint that becomes disabled.
 * @param sequence of the latest event, read in the same transaction.
 */
export function pausedAfter(sequence: number) {
  return { $push: { pauses: { $each: [{ after: sequence }], $slice: -PAUSES_MAX } } };
}

/** Returns the pauses of an endpoint that becomes enabled. @param sequence as in pausedAfter. */
export function resumedAfter({ pauses }: Pick<Pausable, 'pauses'>, sequence: number): Pause[] {
  return endedAt(pauses ?? [], sequence);
}
