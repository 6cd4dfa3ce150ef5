// Loads records in batches and caches them: one event goes to many endpoints, and one endpoint gets many events.
import { LRUCache } from 'lru-cache';
import type { Id } from '#libs/models/tenant.ts';
import { inBatches } from './in-batches.ts';

export interface CachedLoader<Stored> {
  /** Returns the cached record, or reads it. */
  load(id: Id): Promise<Stored | undefined>;
  /** Reads the record from the database. */
  loadFresh(id: Id): Promise<Stored | undefined>;
}

type Room<Stored> = { max: number } & Pick<LRUCache.Options<Id, Stored, unknown>, 'maxSize' | 'sizeCalculation'>;

/**
 * Opens a loader.
 * @param options.max the most records in the cache.
 * @param options.maxSize their largest sum, as sizeCalculation counts.
 * @param options.ttl the longest time in milliseconds that each is cached. If it is absent, a record stays until others
 * need the room.
 */
export function openCachedLoader<Stored extends object>(
  find: (ids: Id[]) => Promise<Map<Id, Stored>>,
  { ttl, ...room }: Room<Stored> & { ttl?: number },
): CachedLoader<Stored> {
  const cache = new LRUCache<Id, Stored>(room);
  // All records expire at the same moment, so the loads that follow share one batch.
  const life = ttl === undefined ? () => ({}) : () => ({ ttl: ttl - (performance.now() % ttl) });
  const loadFresh = inBatches(async (ids: Id[]) => {
    const options = life();
    const found = await find(ids);
    for (const [id, record] of found) cache.set(id, record, options);
    return ids.map((id) => found.get(id));
  });
  return { loadFresh, load: async (id) => cache.get(id) ?? (await loadFresh(id)) };
}
