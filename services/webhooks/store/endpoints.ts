// Reads endpoints of all accounts for fan-out and delivery with the driver, because each delivery reads one.
import { driverOf } from '#libs/models/records.ts';
import { type Id, type StoredId, storedId, wireId } from '#libs/models/tenant.ts';
import { ENDPOINTS_MAX, WebhookEndpoint, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';

/** Returns endpoints by id. */
export async function findEndpoints(ids: readonly Id[]): Promise<Map<Id, WebhookEndpointRecord>> {
  const endpoints = (await driverOf(WebhookEndpoint)
    .find({ _id: { $in: [...new Set(ids)].map(storedId) } }, { batchSize: ids.length + 1 })
    .toArray()) as unknown as WebhookEndpointRecord[];
  return new Map(endpoints.map((endpoint) => [wireId(endpoint._id), endpoint]));
}

export type Subscription = Pick<WebhookEndpointRecord, '_id' | 'account_id' | 'events' | 'enabled' | 'pauses'>;

/**
 * Returns the subscriptions of these accounts, by account. Disabled endpoints are among them (see wasEnabledFor): they
 * are few, and the index has read them anyway.
 */
export async function findSubscriptions(accountIds: readonly StoredId[]): Promise<Map<Id, Subscription[]>> {
  const distinct = new Map(accountIds.map((id) => [String(id), id]));
  const endpoints = (await driverOf(WebhookEndpoint)
    .find({ account_id: { $in: [...distinct.values()] } } as object, {
      projection: { account_id: 1, events: 1, enabled: 1, pauses: 1 },
      batchSize: ENDPOINTS_MAX * distinct.size + 1,
    })
    .toArray()) as unknown as Subscription[];
  return Map.groupBy(endpoints, ({ account_id }) => wireId(account_id));
}
