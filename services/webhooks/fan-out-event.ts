// Makes one delivery of an event for each endpoint that wants it.
import { type DeliverWebhook, deliverWebhook } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import type { Work } from '#libs/jobs/worker.ts';
import { deliveryId } from '#libs/models/delivery.ts';
import { type FanOut, insertDeliveries } from '#libs/models/delivery-clock.ts';
import { type EventRecord, findEvents, markFannedOut } from '#libs/models/event.ts';
import { type Id, type StoredId, storedId } from '#libs/models/tenant.ts';
import { findSubscriptions, type Subscription, subscribes } from '#libs/models/webhook-endpoint.ts';
import { inBatches } from './in-batches.ts';
import { QUEUE_GRACE_MS } from './put-due-deliveries.ts';

export function makeFanOutEvent(queues: Queues): Work<{ eventId: string; accountId: string }> {
  const eventOf = inBatches(async (ids: Id[]) => {
    const events = await findEvents(ids);
    return ids.map((id) => events.get(id));
  });
  const subscriptionsOf = inBatches(async (accountIds: StoredId[]) => {
    const subscriptions = await findSubscriptions(accountIds);
    return accountIds.map((id) => subscriptions.get(String(id)) ?? []);
  });
  const insert = inBatches((fanOuts: FanOut[]) => insertDeliveries(fanOuts, new Date(Date.now() + QUEUE_GRACE_MS)));
  const markDone = inBatches(async (ids: StoredId[]) => {
    await markFannedOut(ids);
    return ids;
  });

  return async ({ eventId, accountId }, { log }) => {
    const [event, subscriptions] = await Promise.all([eventOf(eventId), subscriptionsOf(storedId(accountId))]);
    if (!event?.due_at) return; // Another job was quicker.
    const added = await insert({ event, endpointIds: wanting(event, subscriptions) });
    // All rows exist: from here on the retry clock answers for them, whatever happens to the queue.
    const put = queues.enqueueAll(
      deliverWebhook,
      added.map((endpointId) => ({
        id: `${deliveryId(event._id, endpointId)}-0`,
        ...(event.trace ? { trace: event.trace } : {}),
        payload: payloadOf(event, endpointId),
      })),
    );
    await Promise.all([
      markDone(event._id),
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

function wanting(event: EventRecord, subscriptions: readonly Subscription[]): StoredId[] {
  const isFor = ({ _id, events }: Subscription) =>
    event.endpoint_id ? String(event.endpoint_id) === String(_id) : subscribes(events, event.type);
  return subscriptions.filter(isFor).map(({ _id }) => _id);
}
