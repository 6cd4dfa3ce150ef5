// Events, kept for as long as there is room: the body of one never changes.
import { type EventRecord, findEvents } from '#libs/models/event.ts';
import { type KeptReader, openKeptReader } from './kept-reader.ts';
import { AHEAD_MAX } from './relay-events.ts';

/** As many as may wait on the queue, each for one endpoint: between its fan-out and its last call an event is read once. */
const KEPT = AHEAD_MAX;
/** Of bodies: the largest is a thousand times the usual one. */
const KEPT_CHARACTERS = 16 * 1024 * 1024;

/** To recall one is enough for its body. */
export type EventReader = KeptReader<EventRecord>;

export const openEventReader = (): EventReader =>
  openKeptReader(findEvents, {
    max: KEPT,
    maxSize: KEPT_CHARACTERS,
    sizeCalculation: ({ body }) => Math.max(1, body.length),
  });
