// Reads the filters of a search from its URL.
import { RENDER_STATUSES, type RenderStatus } from '#libs/models/documents/render-record.ts';
import { MESSAGE_KINDS } from '#libs/models/messages/message-kinds.ts';
import { isId } from '#libs/models/tenant.ts';
import { DELIVERY_STATUSES, type DeliveryStatus } from '#libs/models/webhooks/delivery.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { statusesOf, textOf, timeOf } from '#libs/pages/query.ts';
import type { DeliverySearch } from '../store/delivery-search.ts';
import { MAIL_SERVERS, MAIL_STATES, type MailSearch } from '../store/mail-search.ts';
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

export function mailSearchOf(params: URLSearchParams): MailSearch {
  const accountId = textOf(params, 'account');
  if (accountId !== undefined && !isId(accountId)) throw new PageError(400, 'Account must be an id.');
  return {
    id: textOf(params, 'id'),
    accountId,
    state: oneOf(params, 'state', MAIL_STATES),
    kind: oneOf(params, 'kind', MESSAGE_KINDS),
    server: oneOf(params, 'server', MAIL_SERVERS),
    number: textOf(params, 'number'),
    address: textOf(params, 'address'),
    cause: textOf(params, 'cause'),
    from: timeOf(params, 'from'),
    to: timeOf(params, 'to'),
  };
}

/** Reads one of the known values. @throws PageError 400 for another one. */
export function oneOf<Value extends string>(
  params: URLSearchParams,
  name: string,
  known: readonly Value[],
): Value | undefined {
  const given = textOf(params, name);
  if (given === undefined || (known as readonly string[]).includes(given)) return given as Value | undefined;
  throw new PageError(400, `Unknown ${name} ${given}. Known: ${known.join(', ')}.`);
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
