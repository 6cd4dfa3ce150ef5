// Loads records in batches and caches them: one event goes to many endpoints, and one endpoint gets many events.
import { LRUCache } from 'lru-cache';
import type { Id } from '#libs/models/tenant.ts';
import { inBatches } from './in-batches.ts';

export interface CachedLoader<Stored> {
  /** As it was when it was last read, if that is cached; else as it is now. */
  load(id: Id): Promise<Stored | undefined>;
  /** As it is now. */
  loadFresh(id: Id): Promise<Stored | undefined>;
}

type Room<Stored> = { max: number } & Pick<LRUCache.Options<Id, Stored, unknown>, 'maxSize' | 'sizeCalculation'>;

/**
 * @param options.max records in the cache at most. @param options.maxSize all together at most, as sizeCalculation counts.
 * @param options.ttl milliseconds each is cached at most; without it, until others need the room.
 */
export function openCachedLoader<Stored extends object>(
  find: (ids: Id[]) => Promise<Map<Id, Stored>>,
  { ttl, ...room }: Room<Stored> & { ttl?: number },
): CachedLoader<Stored> {
  const cache = new LRUCache<Id, Stored>(room);
  // All expire at the same moment, so the loads that follow share one batch.
  const life = ttl === undefined ? () => ({}) : () => ({ ttl: ttl - (performance.now() % ttl) });
  const loadFresh = inBatches(async (ids: Id[]) => {
    const options = life();
    const found = await find(ids);
    for (const [id, record] of found) cache.set(id, record, options);
    return ids.map((id) => found.get(id));
  });
  return { loadFresh, load: async (id) => cache.get(id) ?? (await loadFresh(id)) };
}
