// Pages of an account's endpoints and of an endpoint's deliveries, newest first.
import { countAlong, LIST_LIMIT_MS } from '../models/list-total.ts';
import { newestFirst, type RecordPage, type Wanted } from '../models/listing.ts';
import { driverOf } from '../models/records.ts';
import { type Id, storedId } from '../models/tenant.ts';
import {
  Delivery,
  type DeliveryRecord,
  type DeliveryStatus,
  OF_ENDPOINT,
  OF_ENDPOINT_BY_STATUS,
} from '../models/webhooks/delivery.ts';
import { WebhookEndpoint, type WebhookEndpointRecord } from '../models/webhooks/webhook-endpoint.ts';

type Position = Pick<Wanted, 'limit' | 'offset' | 'after'>;

export async function findEndpointPage(accountId: Id, position: Position): Promise<RecordPage<WebhookEndpointRecord>> {
  const filter = { account_id: storedId(accountId) };
  const [page, total] = await Promise.all([
    newestFirst<WebhookEndpointRecord>(driverOf(WebhookEndpoint), filter, position),
    driverOf(WebhookEndpoint).countDocuments(filter, { maxTimeMS: LIST_LIMIT_MS }),
  ]);
  return { ...page, total };
}

export async function findDeliveryPage(
  { accountId, endpointId, status }: { accountId: Id; endpointId: Id; status: DeliveryStatus | undefined },
  position: Position,
): Promise<RecordPage<DeliveryRecord>> {
  const filter = {
    account_id: storedId(accountId),
    endpoint_id: storedId(endpointId),
    ...(status ? { status } : {}),
  };
  const hint = status ? OF_ENDPOINT_BY_STATUS : OF_ENDPOINT;
  const [page, total] = await Promise.all([
    newestFirst<DeliveryRecord>(driverOf(Delivery), filter, position, hint),
    countAlong(hint, Delivery, filter),
  ]);
  return { ...page, total };
}
