// Makes one delivery of an event for each endpoint that wants it.
import { randomUUID } from 'node:crypto';
import { agreedTime } from '#libs/clock.ts';
import { type DeliverWebhook, deliverWebhook } from '#libs/jobs/catalog.ts';
import type { Entry, Queues } from '#libs/jobs/queue.ts';
import type { Work } from '#libs/jobs/worker.ts';
import { type Id, type StoredId, storedId, wireId } from '#libs/models/tenant.ts';
import {
  type AddedDelivery,
  type FanOut,
  insertDeliveries,
  type Postponement,
  type Reservation,
} from '#libs/models/webhooks/delivery-clock.ts';
import { type EventRecord, markFannedOut } from '#libs/models/webhooks/event.ts';
import { findSubscriptions, isFor, type Subscription, wasEnabledFor } from '#libs/models/webhooks/webhook-endpoint.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import { RESERVED_MS } from './acquire-delivery.ts';
import { postponementOf, recallMissed } from './defer-delivery.ts';
import { entryFor } from './enqueue-due-deliveries.ts';
import type { EventReader } from './event-reader.ts';
import { inBatches, PATIENT } from './in-batches.ts';
import type { Traffic } from './traffic.ts';

export interface FanOutOptions {
  queues: Queues;
  traffic: Traffic;
  events: EventReader;
  /** Hears how many deliveries were put on the queue. */
  onFannedOut: (deliveries: number) => void;
}

export function makeFanOutEvent({
  queues,
  traffic,
  events,
  onFannedOut,
}: FanOutOptions): Work<{ eventId: string; accountId: string }> {
  const subscriptionsOf = inBatches(async (accountIds: StoredId[]) => {
    const subscriptions = await findSubscriptions(accountIds);
    return accountIds.map((id) => subscriptions.get(wireId(id)) ?? []);
  });
  const insert = inBatches(async (fanOuts: FanOut[]) => {
    const reservation = { leaseId: randomUUID(), until: new Date(agreedTime() + RESERVED_MS) };
    const added = await insertDeliveries(fanOuts, reservation.until, reservation);
    return added.map((deliveries) => ({ deliveries, reservation }));
  });
  const put = inBatches(async (batch: Entry<DeliverWebhook>[][]) => {
    await queues.enqueueAll(deliverWebhook, batch.flat());
    return batch;
  });
  const markDone = inBatches(async (ids: StoredId[]) => {
    await markFannedOut(ids);
    return ids;
  }, PATIENT);

  return async ({ eventId, accountId }, { log }) => {
    // An endpoint that a new primary does not show yet would never get the event.
    const [event, subscriptions] = await readAfterElection(() =>
      Promise.all([events.read(eventId), subscriptionsOf(storedId(accountId))]),
    );
    if (!event?.due_at) return; // Another job was quicker.
    const endpointIds = wanting(event, subscriptions);
    const { later, aside } = postponementsOf(endpointIds);
    const added = await insert({ event, endpointIds, later });
    onFannedOut(added.deliveries.length);
    // All rows exist: from here on the retry clock answers for them, whatever happens to the queue.
    const entries = added.deliveries.map((delivery) => entryOf(event, delivery, added.reservation));
    await Promise.all([
      markDone(event._id),
      put(entries).catch((error) => log.warn({ err: error, eventId }, 'the retry clock will bring these deliveries')),
      recallMissed(traffic, new Map(aside.map((endpointId) => [endpointId, accountId]))),
    ]);
  };

  function postponementsOf(endpointIds: readonly StoredId[]) {
    const later = new Map<Id, Postponement>();
    /** By their breakers. */
    const aside: Id[] = [];
    for (const endpointId of endpointIds.map(wireId)) {
      const wait = traffic.foresee(endpointId);
      if (wait) later.set(endpointId, postponementOf(wait, 0));
      if (wait?.isOpen) aside.push(endpointId);
    }
    return { later, aside };
  }
}

function entryOf(
  { _id, account_id, request_id, trace }: EventRecord,
  { id, endpointId }: AddedDelivery,
  { leaseId, until }: Reservation,
): Entry<DeliverWebhook> {
  const entry = entryFor({ _id: id, account_id, endpoint_id: endpointId, request_id, trace }, 0);
  const reservation = { eventId: wireId(_id), leaseId, until: until.getTime() };
  return { ...entry, payload: { ...entry.payload, reservation } };
}

function wanting(event: EventRecord, subscriptions: readonly Subscription[]): StoredId[] {
  return subscriptions
    .filter((subscription) => wasEnabledFor(subscription, event) && isFor(subscription, event))
    .map(({ _id }) => _id);
}
