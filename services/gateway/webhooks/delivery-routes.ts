// Deliveries over HTTP: what was tried, and sending again.
import { LIST_LIMIT_MS } from '#libs/models/list-total.ts';
import type { Id } from '#libs/models/tenant.ts';
import { Delivery, type DeliveryRecord, deliveryView } from '#libs/models/webhooks/delivery.ts';
import { Event, type EventRecord } from '#libs/models/webhooks/event.ts';
import { isSubscribed } from '#libs/models/webhooks/event-filter.ts';
import { replayDelivery, replayEvents } from '#libs/models/webhooks/replay-deliveries.ts';
import type { WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import { deliveryResponse, replayResponse } from '#libs/responses/webhook.ts';
import { listed, updated } from '../http/response.ts';
import { type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import { type DeliveryQuery, deliveryQuery, type Since, since } from './input.ts';
import { disabled, enabledEndpoint, ownEndpoint } from './own-endpoint.ts';
import { findDeliveryPage } from './store/webhook-pages.ts';

const webhooks = '/api/v1/webhooks/{id}';
const deliveries = '/api/v1/deliveries/{id}';
/** Events per call: more would take longer than a request may. */
const REPLAY_EVENTS_MAX = 5_000;
const REPLAY_BATCH = 500;

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
      conflict: disabled(),
    },
    handler: replaySince,
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
      conflict: disabled(),
    },
    handler: replayOne,
  }),
];

async function listDeliveries({ caller, id, query, missing }: Context<unknown, DeliveryQuery>) {
  await ownEndpoint({ caller, id, missing });
  const wanted = { accountId: caller.accountId, endpointId: id, status: query.status };
  const { records, ...page } = await findDeliveryPage(wanted, query);
  return listed(records.map(deliveryView), page, query);
}

async function replaySince({ body, caller, id, commit, missing, parts }: Context<Since>) {
  // Outside of the transaction: thousands of deliveries take seconds, and other writes of the account must not wait for them.
  // Skipped when a response is stored under the Idempotency-Key: that one is repeated, whatever the endpoint is now.
  const replayAll = async () => {
    const events = await readAfterElection(() => eventsSince(caller.accountId, body.since));
    const endpoint = await enabledEndpoint({ caller, id, missing });
    return updated(await replayTo(endpoint, events, body));
  };
  const response = await commit(async (_transaction, replayed) => replayed, replayAll);
  parts.nudge();
  return response;
}

/** One more than a call replays: the next call continues there. Events of one millisecond come in any order, so it begins with all of them. */
async function eventsSince(accountId: Id, since: Date): Promise<EventRecord[]> {
  const filter = { account_id: accountId, created_at: { $gte: since } };
  return Event.find(filter, undefined, { maxTimeMS: LIST_LIMIT_MS, hint: { account_id: 1, created_at: 1 } })
    .sort({ created_at: 1 })
    .limit(REPLAY_EVENTS_MAX + 1)
    .select({ account_id: 1, type: 1, endpoint_id: 1, request_id: 1, created_at: 1 })
    .lean<EventRecord[]>();
}

async function replayTo(endpoint: WebhookEndpointRecord, events: readonly EventRecord[], { only }: Since) {
  const page = events.slice(0, REPLAY_EVENTS_MAX).filter((event) => isSubscribed(endpoint, event));
  let count = 0;
  for (let start = 0; start < page.length; start += REPLAY_BATCH) {
    const batch = page.slice(start, start + REPLAY_BATCH);
    count += await replayEvents(batch, String(endpoint._id), { skipDelivered: only === 'undelivered' });
  }
  return { deliveries: count, next_since: events[REPLAY_EVENTS_MAX]?.created_at.toISOString() ?? null };
}

async function readDelivery({ caller, id, session }: Reading) {
  const delivery = await Delivery.findOne({ _id: id, account_id: caller.accountId })
    .session(session ?? null)
    .lean<DeliveryRecord>();
  return delivery && deliveryView(delivery);
}

async function replayOne({ caller, id, commit, missing, parts }: Context) {
  const { accountId } = caller;
  const response = await commit(async () => {
    const own = { _id: id, account_id: accountId };
    const delivery = await readAfterElection(() => Delivery.findOne(own).lean<DeliveryRecord>());
    if (!delivery) throw missing();
    await enabledEndpoint({ caller, id: String(delivery.endpoint_id), missing });
    const replayed = await replayDelivery(accountId, id);
    if (!replayed) throw missing();
    return updated(deliveryView(replayed));
  });
  parts.nudge();
  return response;
}
