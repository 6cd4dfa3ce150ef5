// Loads events, and caches them for a while: the body of one changes only when a client is anonymised.
import { LRUCache } from 'lru-cache';
import { type Id, wireId } from '#libs/models/tenant.ts';
import { FIRST_ATTEMPTS_QUEUED_MAX } from '../limits.ts';
import { type EventHead, findBodies, findEvents } from '../store/events.ts';
import { inBatches } from './in-batches.ts';

/**
 * The number of events that may wait on the queue, each for one endpoint. So an event is read once between its
 * fan-out and its last call.
 */
const CACHED_MAX = FIRST_ATTEMPTS_QUEUED_MAX;
/**
 * The time after which no worker sends an erased body. An event is usually loaded for its last call within a second.
 */
const CACHED_MS = 60_000;
/** The limit for small bodies, and for large ones. The largest body is a thousand times the usual one. */
const CACHED_CHARACTERS = 16 * 1024 * 1024;

interface CachedLoader<Stored> {
  /** Returns the cached record, or reads it. */
  load(id: Id): Promise<Stored | undefined>;
  /** Reads the record from the database. */
  loadFresh(id: Id): Promise<Stored | undefined>;
}

/** A loader of events. A cached event is good enough for its body. */
export interface EventLoader extends CachedLoader<EventHead> {
  /** Returns the body, or undefined when the event does not exist any more. */
  bodyOf(event: EventHead): Promise<string | undefined>;
}

export function openEventLoader(): EventLoader {
  const heads = openCachedLoader(findEvents);
  const large = openCachedLoader(findBodies);
  return { ...heads, bodyOf: async ({ _id, body }) => body ?? (await large.load(wireId(_id)))?.body };
}

function openCachedLoader<Stored extends { body?: string }>(
  find: (ids: Id[]) => Promise<Map<Id, Stored>>,
): CachedLoader<Stored> {
  const cache = new LRUCache<Id, Stored>({
    max: CACHED_MAX,
    maxSize: CACHED_CHARACTERS,
    sizeCalculation: ({ body = '' }) => Math.max(1, body.length),
  });
  const loadFresh = inBatches(async (ids: Id[]) => {
    // All records expire at the same moment, so the loads that follow share one batch.
    const ttl = CACHED_MS - (performance.now() % CACHED_MS);
    const found = await find(ids);
    for (const [id, record] of found) cache.set(id, record, { ttl });
    return ids.map((id) => found.get(id));
  });
  return { loadFresh, load: async (id) => cache.get(id) ?? (await loadFresh(id)) };
}
