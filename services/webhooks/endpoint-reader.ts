// Reads endpoints in batches and keeps them for a moment: a busy endpoint gets hundreds of deliveries a second.
import { LRUCache } from 'lru-cache';
import type { Id } from '#libs/models/tenant.ts';
import { findEndpoints, type WebhookEndpointRecord } from '#libs/models/webhook-endpoint.ts';
import { inBatches } from './in-batches.ts';

const KEPT = 1_000;
/** An endpoint that is changed may get calls as it was for so long: no more than a call that was on its way. */
const KEPT_MS = 100;

/** As it is now, or was a moment ago: since fan-out it may have been disabled, moved or given another secret. */
export type EndpointReader = (id: Id) => Promise<WebhookEndpointRecord | undefined>;

export function openEndpointReader(): EndpointReader {
  const kept = new LRUCache<Id, WebhookEndpointRecord>({ max: KEPT, ttl: KEPT_MS });
  const read = inBatches(async (ids: Id[]) => {
    const found = await findEndpoints(ids);
    for (const [id, endpoint] of found) kept.set(id, endpoint);
    return ids.map((id) => found.get(id));
  });
  return async (id) => kept.get(id) ?? (await read(id));
}
