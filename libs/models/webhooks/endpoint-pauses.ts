// Which events an endpoint does not get because it was disabled, or not registered yet, when they happened.

/** Counted in the account's events, see event.ts: no two clocks have to agree. */
export interface Pause {
  /** The last event before it. */
  after: number;
  /** The last event in it. None while it lasts. */
  until?: number | null;
}

/** They judge only events that wait in the outbox. Without the older ones an endpoint may get an event too many, never one too few. */
const PAUSES_MAX = 10;

interface Pausable {
  enabled: boolean;
  pauses?: Pause[] | null;
}

/** True when the endpoint was enabled when the event happened, whatever it is now: the event waited in the outbox meanwhile. */
export function wasEnabledFor({ enabled, pauses }: Pausable, { sequence }: { sequence: number }): boolean {
  const known = pauses ?? [];
  const last = known.at(-1);
  if (!enabled && (!last || last.until != null)) return false; // Since when is unknown.
  const ended = endedAt(known, enabled ? undefined : Number.POSITIVE_INFINITY);
  return !ended.some(({ after, until }) => sequence > after && sequence <= until);
}

/**
 * Only the last pause can be open; it lasts until `end`. An operator who enables an endpoint by hand in the database ends no pause:
 * an open one before the last counts as over at its beginning, because an event too many is better than one too few.
 */
function endedAt(pauses: readonly Pause[], end: number | undefined) {
  const last = pauses.at(-1);
  return pauses.map((pause) => ({ ...pause, until: pause.until ?? (pause === last ? end : undefined) ?? pause.after }));
}

/** The update of an endpoint that becomes disabled. @param sequence of the latest event, read in the same transaction. */
export function pausedAfter(sequence: number) {
  return { $push: { pauses: { $each: [{ after: sequence }], $slice: -PAUSES_MAX } } };
}

/** The pauses of an endpoint that becomes enabled. @param sequence as above. */
export function resumedAfter({ pauses }: Pick<Pausable, 'pauses'>, sequence: number): Pause[] {
  return endedAt(pauses ?? [], sequence);
}
