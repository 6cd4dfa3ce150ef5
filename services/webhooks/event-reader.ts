// Reads events in batches and keeps the latest: an event goes to several endpoints at about the same time, and its body never changes.
import { LRUCache } from 'lru-cache';
import { type EventRecord, findEvents } from '#libs/models/event.ts';
import type { Id } from '#libs/models/tenant.ts';
import { inBatches } from './in-batches.ts';

const KEPT = 500;

export interface EventReader {
  /** As it is now. */
  read(id: Id): Promise<EventRecord | undefined>;
  /** As it once was, which is enough for its body. */
  recall(id: Id): Promise<EventRecord | undefined>;
}

export function openEventReader(): EventReader {
  const kept = new LRUCache<Id, EventRecord>({ max: KEPT });
  const read = inBatches(async (ids: Id[]) => {
    const found = await findEvents(ids);
    for (const [id, event] of found) kept.set(id, event);
    return ids.map((id) => found.get(id));
  });
  return { read, recall: async (id) => kept.get(id) ?? (await read(id)) };
}
