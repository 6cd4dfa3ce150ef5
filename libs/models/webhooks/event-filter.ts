// The events that an endpoint subscribes to: types, `noun.*` or `*`.
import type { StoredId } from '../tenant.ts';
import { EVENT_TYPES } from './event-types.ts';

const NOUNS: ReadonlySet<string> = new Set(
  EVENT_TYPES.filter((type) => type.includes('.')).map((type) => type.replace(/\..*/, '')),
);

/** True for an event type, `noun.*` of a known noun, or `*`. */
export function isEventFilter(text: string): boolean {
  if (text === '*' || (EVENT_TYPES as readonly string[]).includes(text)) return true;
  return text.endsWith('.*') && NOUNS.has(text.slice(0, -2));
}

/** True when one of the filters names the type. */
function matches(filters: readonly string[], type: string): boolean {
  return filters.some(
    (filter) => filter === '*' || filter === type || (filter.endsWith('.*') && type.startsWith(filter.slice(0, -1))),
  );
}

/** True when the event is for this endpoint alone, or when a filter of the endpoint names its type. */
export function isSubscribed(
  { _id, events }: { _id: StoredId; events: readonly string[] },
  { endpoint_id, type }: { endpoint_id?: StoredId | null | undefined; type: string },
): boolean {
  return endpoint_id ? String(endpoint_id) === String(_id) : matches(events, type);
}
