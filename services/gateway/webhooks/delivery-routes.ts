// Deliveries over HTTP: what was tried, and sending again.
import { deliveryView } from '#libs/models/webhooks/delivery.ts';
import { deliveryResponse, replayResponse } from '#libs/responses/webhook.ts';
import { type Since, since } from '#libs/webhooks/endpoint-input.ts';
import { endpointDisabled, requireEndpoint } from '#libs/webhooks/own-endpoint.ts';
import { findDelivery, replayOwnDelivery, replaySince } from '#libs/webhooks/send-again.ts';
import { findDeliveryPage } from '#libs/webhooks/webhook-pages.ts';
import { listed, updated } from '../http/response.ts';
import { type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import { type DeliveryQuery, deliveryQuery } from './input.ts';

const webhooks = '/api/v1/webhooks/{id}';
const deliveries = '/api/v1/deliveries/{id}';

export const deliveryRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: `${webhooks}/deliveries`,
    operation: 'listWebhookDeliveries',
    scope: 'webhooks:read',
    query: deliveryQuery,
    missing: 'Webhook not found',
    docs: {
      title: 'List the deliveries of an endpoint',
      summary: 'List the deliveries of an endpoint, newest first',
      response: deliveryResponse,
    },
    handler: listDeliveries,
  }),
  route({
    method: 'post',
    path: `${webhooks}/replay`,
    operation: 'replayWebhook',
    // 5,000 events are 10,000 writes.
    isLarge: true,
    scope: 'webhooks:write',
    body: since,
    missing: 'Webhook not found or access denied',
    docs: {
      title: 'Replay events to an endpoint',
      summary: 'Send an endpoint the events since a time again',
      description:
        'Also those it never got, because it was disabled or not yet registered. They keep their `webhook-id`. With `"only": "undelivered"` ' +
        'those of the last 90 days: of older ones it may be forgotten that they were delivered.',
      response: replayResponse,
      status: 200,
      conflict: endpointDisabled(),
    },
    handler: replayEvents,
  }),
  singleRead({
    path: deliveries,
    operation: 'getDelivery',
    scope: 'webhooks:read',
    missing: 'Delivery not found',
    docs: {
      title: 'Get a delivery',
      summary: 'Get a delivery with its attempts',
      response: deliveryResponse,
    },
    read: readDelivery,
  }),
  route({
    method: 'post',
    path: `${deliveries}/replay`,
    operation: 'replayDelivery',
    scope: 'webhooks:write',
    missing: 'Delivery not found or access denied',
    docs: {
      title: 'Replay a delivery',
      summary: 'Send a delivery again, whatever became of it',
      response: deliveryResponse,
      status: 200,
      conflict: endpointDisabled(),
    },
    handler: replayOne,
  }),
];

async function listDeliveries({ caller, id, query, missing }: Context<unknown, DeliveryQuery>) {
  await requireEndpoint({ accountId: caller.accountId }, { id, missing });
  const wanted = { accountId: caller.accountId, endpointId: id, status: query.status };
  const { records, ...page } = await findDeliveryPage(wanted, query);
  return listed(records.map(deliveryView), page, query);
}

async function replayEvents({ body, caller, id, commit, missing, parts }: Context<Since>) {
  // Skipped when a response is stored under the Idempotency-Key: that one is repeated, whatever the endpoint is now.
  const replayAll = async () => {
    const { deliveries, nextSince } = await replaySince(caller.accountId, { id, missing }, body);
    return updated({ deliveries, next_since: nextSince?.toISOString() ?? null });
  };
  const response = await commit(async (_transaction, replayed) => replayed, replayAll);
  parts.nudge();
  return response;
}

async function readDelivery({ caller: { accountId }, id, session }: Reading) {
  const delivery = await findDelivery({ accountId, session }, id);
  return delivery && deliveryView(delivery);
}

async function replayOne({ caller, id, commit, missing, parts }: Context) {
  const response = await commit(async () =>
    updated(deliveryView(await replayOwnDelivery(caller.accountId, id, missing))),
  );
  parts.nudge();
  return response;
}
