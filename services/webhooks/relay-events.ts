// Puts events whose deliveries do not exist yet on the queue. Any number of relays may run: the fan-out does nothing twice.
import { agreedTime } from '#libs/clock.ts';
import { deliverWebhook, fanOutEvent } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { findDueEvents, markRelayed } from '#libs/models/event.ts';

const BATCH = 200;
/** After this an event that was put on the queue and not fanned out is put there again: Redis or a worker has lost it. */
export const RELAY_LEASE_MS = 10_000;
/** MongoDB holds the backlog, not Redis: with a short queue the lease above is never too short for it. */
const QUEUE_MAX = 2_000;

/** @returns true when there is more. @throws while MongoDB or Redis is away; the events stay due. */
export async function relayEvents(queues: Queues): Promise<boolean> {
  const [events, fanOuts, deliveries] = await Promise.all([
    findDueEvents(BATCH),
    queues.counts(fanOutEvent),
    queues.counts(deliverWebhook),
  ]);
  if (events.length === 0 || fanOuts.ready > QUEUE_MAX || deliveries.ready > QUEUE_MAX) return false;
  await queues.enqueueAll(
    fanOutEvent,
    events.map(({ _id, account_id, generation, trace }) => ({
      id: `${String(_id)}-${generation + 1}`,
      payload: { eventId: String(_id), accountId: String(account_id) },
      ...(trace ? { trace } : {}),
    })),
  );
  // After, not before: an event that did not get on the queue is still due.
  await markRelayed(events, new Date(agreedTime() + RELAY_LEASE_MS));
  return events.length === BATCH;
}
