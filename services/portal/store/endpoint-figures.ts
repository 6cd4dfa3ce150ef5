// Reads the figures of an endpoint: the outcomes of its latest deliveries, and its last response.
import { LIST_LIMIT_MS } from '#libs/models/list-total.ts';
import { type Id, storedId } from '#libs/models/tenant.ts';
import { type Attempt, Delivery, type DeliveryStatus, OF_ENDPOINT } from '#libs/models/webhooks/delivery.ts';

/** The number of latest deliveries that count. */
export const COUNTED_LATEST = 100;

export interface EndpointFigures {
  delivered: number;
  /** The deliveries that were tried: delivered, dead, or being retried. */
  tried: number;
  /** The latest attempt of the latest delivery that was tried. */
  last?: Attempt | undefined;
}

interface Row {
  status: DeliveryStatus;
  last?: Attempt;
}

/** Reads the figures of one endpoint of the account along an index. */
export async function readFigures(accountId: Id, endpointId: Id): Promise<EndpointFigures> {
  const rows = await Delivery.aggregate<Row>(
    [
      { $match: { account_id: storedId(accountId), endpoint_id: storedId(endpointId) } },
      { $sort: { created_at: -1, _id: -1 } },
      { $limit: COUNTED_LATEST },
      { $project: { status: 1, last: { $last: '$attempts' } } },
    ],
    { hint: OF_ENDPOINT, maxTimeMS: LIST_LIMIT_MS },
  );
  const tried = rows.filter(({ last }) => last);
  const delivered = tried.filter(({ status }) => status === 'delivered').length;
  return { delivered, tried: tried.length, last: tried[0]?.last };
}
