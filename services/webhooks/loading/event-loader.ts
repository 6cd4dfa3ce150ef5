// Events, cached for a while: the body of one changes only when a client is anonymised.
import { wireId } from '#libs/models/tenant.ts';
import { FIRST_ATTEMPTS_QUEUED_MAX } from '../limits.ts';
import { type EventHead, findBodies, findEvents } from '../store/events.ts';
import { type CachedLoader, openCachedLoader } from './cached-loader.ts';

/** As many as may wait on the queue, each for one endpoint: between its fan-out and its last call an event is read once. */
const CACHED_MAX = FIRST_ATTEMPTS_QUEUED_MAX;
/** After this long no worker sends an erased body. An event is usually loaded for its last call within a second. */
const CACHED_MS = 60_000;
/** Of bodies, small and large ones each: the largest is a thousand times the usual one. */
const CACHED_CHARACTERS = 16 * 1024 * 1024;

/** A cached event is good enough for its body. */
export interface EventLoader extends CachedLoader<EventHead> {
  /** @returns undefined when the event does not exist any more. */
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
