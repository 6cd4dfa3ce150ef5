// Puts events whose deliveries do not exist yet on the queue. Any number of relays may run: the fan-out does nothing twice.
import { agreedTime } from '#libs/clock.ts';
import { deliverWebhook, fanOutEvent } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { type Id, wireId } from '#libs/models/tenant.ts';
import { findDueEvents, markRelayed } from './store/due-events.ts';

const BATCH = 200;
/** After this an event that was put on the queue and not fanned out is put there again: Redis or a worker has lost it. */
export const RELAY_LEASE_MS = 10_000;
/**
 * So many deliveries wait on the queue at most, counted as those that the events on the other queue will make. MongoDB holds the
 * backlog, not Redis, and no attempt waits there so long that its reservation gets old. Nobody else puts anything on that queue but
 * each first attempt its second one, so no backlog can keep new events back.
 */
export const AHEAD_MAX = 4_000;
/** How much the last event says about the next one. */
const SMOOTHING = 0.1;

export interface Relay {
  /** @returns true when there is more. @throws while MongoDB or Redis is away; the events stay due. */
  relay(): Promise<boolean>;
  /** An event was fanned out, to so many deliveries that are due at once. */
  fannedOut(deliveries: number): void;
}

export function openRelay(queues: Queues): Relay {
  /** Deliveries of an event, as it was of late. */
  let width = 1;
  /** The account that had its turn last. */
  let after: Id | undefined;

  return {
    async relay() {
      const [found, fanOuts, deliveries] = await Promise.all([
        findDueEvents({ limit: BATCH, after }),
        queues.counts(fanOutEvent),
        queues.counts(deliverWebhook),
      ]);
      const room = Math.floor((AHEAD_MAX - deliveries.ready) / width) - fanOuts.ready;
      const events = found.slice(0, Math.max(0, room));
      const last = events.at(-1);
      if (!last) return false;
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
      after = wireId(last.account_id);
      return events.length === BATCH;
    },
    fannedOut(deliveries) {
      width = Math.max(1, width + SMOOTHING * (deliveries - width));
    },
  };
}
