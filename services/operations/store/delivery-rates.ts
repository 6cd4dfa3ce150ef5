// Counts how many of an endpoint's latest deliveries arrived.
import pLimit from 'p-limit';
import type { StoredId } from '#libs/models/tenant.ts';
import { Delivery, type DeliveryStatus, OF_ENDPOINT_BY_STATUS } from '#libs/models/webhooks/delivery.ts';
import { SEARCH_LIMIT_MS } from './delivery-search.ts';

const DAY_MS = 24 * 3_600_000;
/** The number at which counting stops. A page has a hundred counts at most. */
export const RATE_COUNTED_MAX = 1_000;
/** Counts at a time, so that a page does not take all connections to MongoDB. */
const COUNTS_AT_ONCE = 10;

/** The deliveries of an endpoint that were made in the last day, each counted up to RATE_COUNTED_MAX. */
export interface DeliveryRate {
  delivered: number;
  /** The number of pending, dead and suspended ones. */
  undelivered: number;
}

/** Returns the rates by the id of the endpoint. No delivery is read: an index has all fields of the filter. */
export async function readDeliveryRates(
  endpoints: readonly { _id: StoredId; account_id: StoredId }[],
  now = new Date(),
): Promise<Map<string, DeliveryRate>> {
  const limit = pLimit(COUNTS_AT_ONCE);
  const created_at = { $gte: new Date(now.getTime() - DAY_MS) };
  const count = ({ _id, account_id }: (typeof endpoints)[number], statuses: DeliveryStatus[]) =>
    limit(() =>
      Delivery.countDocuments(
        { account_id, endpoint_id: _id, status: { $in: statuses }, created_at },
        { limit: RATE_COUNTED_MAX, maxTimeMS: SEARCH_LIMIT_MS, hint: OF_ENDPOINT_BY_STATUS },
      ),
    );
  const rates = endpoints.map(async (endpoint) => {
    const [delivered, undelivered] = await Promise.all([
      count(endpoint, ['delivered']),
      count(endpoint, ['pending', 'dead', 'held']),
    ]);
    return [String(endpoint._id), { delivered, undelivered }] as const;
  });
  return new Map(await Promise.all(rates));
}
