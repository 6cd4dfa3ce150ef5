// The relay. It enqueues events whose deliveries do not exist yet. Any number of relays may run, because fan-out is
// idempotent.
import { agreedTime } from '#libs/clock.ts';
import { deliverWebhook, fanOutEvent } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { type Id, wireId } from '#libs/models/tenant.ts';
import { FIRST_ATTEMPTS_QUEUED_MAX } from './limits.ts';
import { findDueEvents, markRelayed } from './store/due-events.ts';

const BATCH = 200;
/**
 * The time after which an event that was enqueued and not fanned out is enqueued again, because Redis or a worker has
 * lost it.
 */
const RELAY_LEASE_MS = 10_000;
/** The weight of the latest event in the average. */
const SMOOTHING = 0.1;

export interface Relay {
  /**
   * Enqueues due events.
   * @returns true when there is more.
   * @throws while MongoDB or Redis is unavailable; the events stay due.
   */
  relay(): Promise<boolean>;
  /** Tells the relay about an event that was fanned out, with the number of its deliveries that are due at once. */
  fannedOut(deliveries: number): void;
}

export function openRelay(queues: Queues): Relay {
  /** The deliveries per event, a moving average. */
  let width = 1;
  /** The last account of the previous round. */
  let after: Id | undefined;

  return {
    async relay() {
      const [found, fanOuts, deliveries] = await Promise.all([
        findDueEvents({ limit: BATCH, after }),
        queues.counts(fanOutEvent),
        queues.counts(deliverWebhook),
      ]);
      const room = Math.floor((FIRST_ATTEMPTS_QUEUED_MAX - deliveries.ready) / width) - fanOuts.ready;
      const events = found.slice(0, Math.max(0, room));
      const last = events.at(-1);
      if (!last) return false;
      await queues.enqueueAll(
        fanOutEvent,
        events.map(({ _id, account_id, enqueue_count, trace }) => ({
          id: `${String(_id)}-${enqueue_count + 1}`,
          payload: { eventId: String(_id), accountId: String(account_id) },
          ...(trace ? { trace } : {}),
        })),
      );
      // This comes after enqueueing, so that an event that did not get on the queue is still due.
      await markRelayed(events, new Date(agreedTime() + RELAY_LEASE_MS));
      after = wireId(last.account_id);
      return events.length === BATCH;
    },
    fannedOut(deliveries) {
      width = Math.max(1, width + SMOOTHING * (deliveries - width));
    },
  };
}
