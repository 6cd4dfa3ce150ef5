// Reads records in batches and keeps them for those who ask next: one event goes to many endpoints, and one endpoint gets many events.
import { LRUCache } from 'lru-cache';
import type { Id } from '#libs/models/tenant.ts';
import { inBatches } from './in-batches.ts';

export interface KeptReader<Stored> {
  /** As it is now. */
  read(id: Id): Promise<Stored | undefined>;
  /** As it was when it was last read, while that is kept. */
  recall(id: Id): Promise<Stored | undefined>;
}

type Room<Stored> = { max: number } & Pick<LRUCache.Options<Id, Stored, unknown>, 'maxSize' | 'sizeCalculation'>;

/**
 * @param options.max so many are kept. @param options.maxSize no more together than this, as sizeCalculation counts.
 * @param options.ttl milliseconds each is kept at most; without it, until others take its room.
 */
export function openKeptReader<Stored extends object>(
  find: (ids: Id[]) => Promise<Map<Id, Stored>>,
  { ttl, ...room }: Room<Stored> & { ttl?: number },
): KeptReader<Stored> {
  const kept = new LRUCache<Id, Stored>(room);
  // All end in the same moment, and who then reads reads together.
  const life = ttl === undefined ? () => ({}) : () => ({ ttl: ttl - (performance.now() % ttl) });
  const read = inBatches(async (ids: Id[]) => {
    const options = life();
    const found = await find(ids);
    for (const [id, record] of found) kept.set(id, record, options);
    return ids.map((id) => found.get(id));
  });
  return { read, recall: async (id) => kept.get(id) ?? (await read(id)) };
}
