// Loads events, and caches them for a while: the body of one changes only when a client is anonymised.
import { wireId } from '#libs/models/tenant.ts';
import { FIRST_ATTEMPTS_QUEUED_MAX } from '../limits.ts';
import { type EventHead, findBodies, findEvents } from '../store/events.ts';
import { type CachedLoader, openCachedLoader } from './cached-loader.ts';

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

/** A loader of events. A cached event is good enough for its body. */
export interface EventLoader extends CachedLoader<EventHead> {
  /** Returns the body, or undefined when the event does not exist any more. */
  bodyOf(event: EventHead): Promise<string | undefined>;
}

export function openEventLoader(): EventLoader {
  const room = { ttl: CACHED_MS, maxSize: CACHED_CHARACTERS };
  const heads = openCachedLoader(findEvents, {
    ...room,
    max: CACHED_MAX,
    sizeCalculation: ({ body = '' }) => Math.max(1, body.length),
  });
  const large = openCachedLoader(findBodies, {
    ...room,
    max: CACHED_MAX,
    sizeCalculation: ({ body }) => Math.max(1, body.length),
  });
  return { ...heads, bodyOf: async ({ _id, body }) => body ?? (await large.load(wireId(_id)))?.body };
}
