// Makes one delivery of an event for each endpoint that subscribes to it.
import { randomUUID } from 'node:crypto';
import { agreedTime } from '#libs/clock.ts';
import { type DeliverWebhook, deliverWebhook } from '#libs/jobs/catalog.ts';
import type { Entry, Queues } from '#libs/jobs/queue.ts';
import type { JobHandler } from '#libs/jobs/worker.ts';
import { openTryAgain } from '#libs/models/operations/round-try.ts';
import { type Id, type StoredId, storedId, wireId } from '#libs/models/tenant.ts';
import type { Reservation } from '#libs/models/webhooks/delivery-guards.ts';
import { wasEnabledFor } from '#libs/models/webhooks/endpoint-pauses.ts';
import { isSubscribed } from '#libs/models/webhooks/event-filter.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import type { Logger } from '#libs/service/logger.ts';
import { deferralOf, recallIfClosed } from './defer-delivery.ts';
import { deliveryJob } from './delivery-job.ts';
import { RESERVED_MS } from './limits.ts';
import type { EventLoader } from './loading/event-loader.ts';
import { inBatches, PATIENT } from './loading/in-batches.ts';
import { findSubscriptions, type Subscription } from './store/endpoints.ts';
import { type EventHead, markFannedOut, postponeFanOut } from './store/events.ts';
import { type AddedDelivery, type Deferral, type FanOut, insertDeliveries } from './store/new-deliveries.ts';
import type { Traffic } from './traffic/traffic.ts';

export interface FanOutOptions {
  queues: Queues;
  traffic: Traffic;
  events: EventLoader;
  /** Called with the number of deliveries of an event that were enqueued. */
  onFannedOut: (deliveries: number) => void;
}

export function makeFanOutEvent({
  queues,
  traffic,
  events,
  onFannedOut,
}: FanOutOptions): JobHandler<{ eventId: string; accountId: string }> {
  const tryAgain = openTryAgain('fan-outs of events');
  const subscriptionsOf = inBatches(async (accountIds: StoredId[]) => {
    const subscriptions = await findSubscriptions(accountIds);
    return accountIds.map((id) => subscriptions.get(wireId(id)) ?? []);
  });
  const insert = inBatches(async (fanOuts: FanOut[]) => {
    const reservation = { leaseId: randomUUID(), until: new Date(agreedTime() + RESERVED_MS) };
    const added = await insertDeliveries(fanOuts, reservation.until, reservation);
    return added.map((deliveries) => ({ deliveries, reservation }));
  });
  const enqueue = inBatches(async (batch: Entry<DeliverWebhook>[][]) => {
    await queues.enqueueAll(deliverWebhook, batch.flat());
    return batch;
  });
  const markDone = inBatches(async (ids: StoredId[]) => {
    await markFannedOut(ids);
    return ids;
  }, PATIENT);

  return async ({ eventId, accountId }, { log, isFirstRun }) => {
    // An endpoint that a new primary does not show yet would never get the event.
    const [event, subscriptions] = await readAfterElection(() =>
      Promise.all([events.loadFresh(eventId), subscriptionsOf(storedId(accountId))]),
    );
    if (!event?.due_at) return; // Another job has fanned it out.
    if (isFirstRun && event.enqueue_count <= 1) return fanOut(event, accountId, subscriptions, log);
    const tried = await tryAgain({ id: event._id, accountId }, () => fanOut(event, accountId, subscriptions, log));
    if (tried.isDone) return;
    const { setAside, retryAt, error } = tried;
    if (setAside)
      log.error(
        { err: error, errorId: setAside.id, eventId },
        'the fan-out of this event is set aside and tried again in a day',
      );
    if (retryAt) await postponeFanOut(event, retryAt);
    if (error) throw error;
  };

  async function fanOut(event: EventHead, accountId: Id, subscriptions: readonly Subscription[], log: Logger) {
    const endpointIds = subscribersOf(event, subscriptions);
    const { deferred, openIds } = deferralsOf(endpointIds);
    const added = await insert({ event, endpointIds, deferred });
    onFannedOut(added.deliveries.length);
    // All deliveries are stored. From here on the poller enqueues those that the queue loses.
    const entries = added.deliveries.map((delivery) => entryOf(event, delivery, added.reservation));
    await Promise.all([
      markDone(event._id),
      enqueue(entries).catch((error) =>
        log.warn(
          { err: error, eventId: wireId(event._id) },
          'enqueueing the deliveries of this event failed; the poller enqueues them',
        ),
      ),
      recallIfClosed(traffic, new Map(openIds.map((endpointId) => [endpointId, accountId]))),
    ]);
  }

  function deferralsOf(endpointIds: readonly StoredId[]) {
    const deferred = new Map<Id, Deferral>();
    /** The endpoints with an open breaker. */
    const openIds: Id[] = [];
    for (const endpointId of endpointIds.map(wireId)) {
      const wait = traffic.predictWait(endpointId);
      if (wait) deferred.set(endpointId, deferralOf(wait, 0));
      if (wait?.isOpen) openIds.push(endpointId);
    }
    return { deferred, openIds };
  }
}

function entryOf(
  { _id, account_id, request_id, trace }: EventHead,
  { id, endpointId }: AddedDelivery,
  { leaseId, until }: Reservation,
): Entry<DeliverWebhook> {
  const entry = deliveryJob({ _id: id, account_id, endpoint_id: endpointId, request_id, trace }, 0);
  const reservation = { eventId: wireId(_id), leaseId, until: until.getTime() };
  return { ...entry, payload: { ...entry.payload, reservation } };
}

function subscribersOf(event: EventHead, subscriptions: readonly Subscription[]): StoredId[] {
  return subscriptions
    .filter((subscription) => wasEnabledFor(subscription, event) && isSubscribed(subscription, event))
    .map(({ _id }) => _id);
}
