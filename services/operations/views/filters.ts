// Reads the filters of a search from its URL.
import { RENDER_STATUSES, type RenderStatus } from '#libs/models/documents/render-record.ts';
import { isId } from '#libs/models/tenant.ts';
import { DELIVERY_STATUSES, type DeliveryStatus } from '#libs/models/webhooks/delivery.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { statusesOf, textOf, timeOf } from '#libs/pages/query.ts';
import type { DeliverySearch } from '../store/delivery-search.ts';
import type { RenderSearch } from '../store/render-search.ts';

export function deliverySearchOf(params: URLSearchParams): DeliverySearch {
  const endpointId = textOf(params, 'endpoint');
  if (endpointId !== undefined && !isId(endpointId)) throw new PageError(400, 'Endpoint must be an id.');
  return {
    id: textOf(params, 'id'),
    endpointId,
    statuses: statusesOf<DeliveryStatus>(params, DELIVERY_STATUSES),
    eventType: textOf(params, 'event'),
    cause: textOf(params, 'cause'),
    from: timeOf(params, 'from'),
    to: timeOf(params, 'to'),
  };
}

export function renderSearchOf(params: URLSearchParams): RenderSearch {
  const seconds = textOf(params, 'seconds');
  if (seconds !== undefined && !(Number(seconds) >= 0)) throw new PageError(400, 'Seconds must be a number.');
  return {
    id: textOf(params, 'id'),
    statuses: statusesOf<RenderStatus>(params, RENDER_STATUSES),
    errorClass: textOf(params, 'cause'),
    minMs: seconds === undefined ? undefined : Number(seconds) * 1000,
    from: timeOf(params, 'from'),
    to: timeOf(params, 'to'),
  };
}
