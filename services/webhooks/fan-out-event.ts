// Makes one delivery of an event for each endpoint that wants it.
import { type DeliverWebhook, deliverWebhook } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import type { Work } from '#libs/jobs/worker.ts';
import { deliveryId } from '#libs/models/delivery.ts';
import { insertDeliveries } from '#libs/models/delivery-clock.ts';
import { Event, type EventRecord, markFannedOut } from '#libs/models/event.ts';
import type { StoredId } from '#libs/models/tenant.ts';
import { subscribes, WebhookEndpoint, type WebhookEndpointRecord } from '#libs/models/webhook-endpoint.ts';
import { QUEUE_GRACE_MS } from './put-due-deliveries.ts';

export function makeFanOutEvent(queues: Queues): Work<{ eventId: string; accountId: string }> {
  return async ({ eventId, accountId }, { log }) => {
    const event = await Event.findOne({ _id: eventId, account_id: accountId }).lean<EventRecord>();
    if (!event?.due_at) return; // Another job was quicker.
    const wanted = await endpointsFor(event);
    const added = await insertDeliveries(event, wanted, new Date(Date.now() + QUEUE_GRACE_MS));
    // All rows exist: from here on the retry clock answers for them, whatever happens to the queue.
    const put = queues.enqueueAll(
      deliverWebhook,
      added.map((endpointId) => ({
        id: `${deliveryId(event._id, endpointId)}-0`,
        payload: payloadOf(event, endpointId),
      })),
    );
    await Promise.all([
      markFannedOut(event),
      put.catch((error) => log.warn({ err: error, eventId }, 'the retry clock will bring these deliveries')),
    ]);
  };
}

function payloadOf(event: EventRecord, endpointId: StoredId): DeliverWebhook {
  return {
    deliveryId: deliveryId(event._id, endpointId),
    accountId: String(event.account_id),
    endpointId: String(endpointId),
    ...(event.request_id ? { requestId: event.request_id } : {}),
  };
}

async function endpointsFor(event: EventRecord): Promise<StoredId[]> {
  const filter = { account_id: event.account_id, enabled: true };
  if (event.endpoint_id) {
    const only = await WebhookEndpoint.findOne({ ...filter, _id: event.endpoint_id }, { _id: 1 }).lean();
    return only ? [only._id] : [];
  }
  const endpoints = await WebhookEndpoint.find(filter, { events: 1 }).lean<
    Pick<WebhookEndpointRecord, '_id' | 'events'>[]
  >();
  return endpoints.filter(({ events }) => subscribes(events, event.type)).map(({ _id }) => _id);
}
