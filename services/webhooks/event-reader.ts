// Events, kept for a while: the body of one changes only when a client is anonymised.
import { type EventRecord, findEvents } from '#libs/models/webhooks/event.ts';
import { type KeptReader, openKeptReader } from './cached-loader.ts';
import { AHEAD_MAX } from './relay-events.ts';

/** As many as may wait on the queue, each for one endpoint: between its fan-out and its last call an event is read once. */
const KEPT = AHEAD_MAX;
/** After so long no worker sends what was erased. Until its last call an event is usually recalled within a second. */
const KEPT_MS = 60_000;
/** Of bodies: the largest is a thousand times the usual one. */
const KEPT_CHARACTERS = 16 * 1024 * 1024;

/** To recall one is enough for its body. */
export type EventReader = KeptReader<EventRecord>;

export const openEventReader = (): EventReader =>
  openKeptReader(findEvents, {
    max: KEPT,
    ttl: KEPT_MS,
    maxSize: KEPT_CHARACTERS,
    sizeCalculation: ({ body }) => Math.max(1, body.length),
  });
