// Events, cached for a while: the body of one changes only when a client is anonymised.
import type { EventRecord } from '#libs/models/webhooks/event.ts';
import { FIRST_ATTEMPTS_QUEUED_MAX } from '../limits.ts';
import { findEvents } from '../store/events.ts';
import { type CachedLoader, openCachedLoader } from './cached-loader.ts';

/** As many as may wait on the queue, each for one endpoint: between its fan-out and its last call an event is read once. */
const CACHED_MAX = FIRST_ATTEMPTS_QUEUED_MAX;
/** After this long no worker sends an erased body. An event is usually loaded for its last call within a second. */
const CACHED_MS = 60_000;
/** Of bodies: the largest is a thousand times the usual one. */
const CACHED_CHARACTERS = 16 * 1024 * 1024;

/** A cached event is good enough for its body. */
export type EventLoader = CachedLoader<EventRecord>;

export const openEventLoader = (): EventLoader =>
  openCachedLoader(findEvents, {
    max: CACHED_MAX,
    ttl: CACHED_MS,
    maxSize: CACHED_CHARACTERS,
    sizeCalculation: ({ body }) => Math.max(1, body.length),
  });
