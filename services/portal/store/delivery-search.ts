// Finds deliveries of an endpoint of the account, newest first.
import { LIST_LIMIT_MS } from '#libs/models/list-total.ts';
import { type Id, storedId } from '#libs/models/tenant.ts';
import {
  Delivery,
  type DeliveryRecord,
  type DeliveryStatus,
  OF_ENDPOINT,
  OF_ENDPOINT_BY_STATUS,
} from '#libs/models/webhooks/delivery.ts';

/** The number of latest deliveries among which those of one event type are searched: no index has the type. */
export const SEARCHED_MAX = 5_000;

export interface DeliverySearch {
  accountId: Id;
  endpointId: Id;
  status?: DeliveryStatus | undefined;
  eventType?: string | undefined;
}

/** Returns one page of matches along an index. */
export function searchDeliveries(
  { accountId, endpointId, status, eventType }: DeliverySearch,
  { skip, limit }: { skip: number; limit: number },
): Promise<DeliveryRecord[]> {
  const own = { account_id: storedId(accountId), endpoint_id: storedId(endpointId), ...(status ? { status } : {}) };
  return Delivery.aggregate<DeliveryRecord>(
    [
      { $match: own },
      { $sort: { created_at: -1, _id: -1 } },
      ...(eventType ? [{ $limit: SEARCHED_MAX }, { $match: { event_type: eventType } }] : []),
      { $skip: skip },
      { $limit: limit },
    ],
    { hint: status ? OF_ENDPOINT_BY_STATUS : OF_ENDPOINT, maxTimeMS: LIST_LIMIT_MS },
  );
}
