// Events, kept for as long as there is room: the body of one never changes.
import { type EventRecord, findEvents } from '#libs/models/event.ts';
import { type KeptReader, openKeptReader } from './kept-reader.ts';

const KEPT = 500;

/** To recall one is enough for its body. */
export type EventReader = KeptReader<EventRecord>;

export const openEventReader = (): EventReader => openKeptReader(findEvents, { max: KEPT });
