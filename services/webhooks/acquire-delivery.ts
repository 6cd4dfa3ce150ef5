// Takes a delivery in hand for one attempt: by its reservation while that is fresh, else by a claim in the database.
import { agreedDate, agreedTime } from '#libs/clock.ts';
import type { DeliverWebhook } from '#libs/jobs/catalog.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  extendLease,
  type Reservation,
  reservedDelivery,
} from '#libs/models/webhooks/delivery-clock.ts';
import { retryWhileUnavailable } from '#libs/mongo/retry-while-unavailable.ts';
import { inBatches } from './in-batches.ts';

/** How long a first attempt is reserved for the job that was put on the queue for it. Then the clock looks after it. */
export const RESERVED_MS = 30_000;
/** With less left than this an attempt is not begun on a reservation: a process may stand still so long, and it is not made twice. */
const RESERVED_LEAST_MS = 20_000;
/** Most attempts are over by then; the others get a lease. */
const EXTEND_AFTER_MS = 1_000;

export interface Hold {
  delivery: ClaimedDelivery;
  /** Milliseconds since the epoch: from then on somebody else may take it in hand. */
  until(): number;
  /** The attempt is over: the lease need not be extended any more. */
  release(): void;
}

/**
 * @param isFirstRun a job that comes again, because Redis was away when it ended, finds its reservation spent, or claims it.
 * @returns undefined when the job is stale: its delivery is done, held, not due yet, or in other hands.
 */
export type TakeDelivery = (job: DeliverWebhook, isFirstRun: boolean) => Promise<Hold | undefined>;

/** @param leaseMs longer than any attempt: what is not settled by then is tried again by somebody else. */
export function makeTakeDelivery(leaseMs: number): TakeDelivery {
  const claim = inBatches(async (jobs: DeliverWebhook[]) => {
    const until = agreedTime() + leaseMs;
    const claimed = await claimDeliveries(
      jobs.map(({ deliveryId }) => deliveryId),
      new Date(until),
      agreedDate(),
      reservationsOf(jobs),
    );
    const byId = new Map(claimed.map((delivery) => [String(delivery._id), delivery]));
    // Two jobs of one delivery meet here when the first was late: with one lease between them, one would undo what the other has done.
    return jobs.map(({ deliveryId }) => {
      const delivery = byId.get(deliveryId);
      byId.delete(deliveryId);
      return delivery && { delivery, until };
    });
  });

  return async (job, isFirstRun) => {
    const { reservation } = job;
    if (!reservation || !isFirstRun || reservation.until - agreedTime() < RESERVED_LEAST_MS) {
      const claimed = await claim(job);
      return claimed && { delivery: claimed.delivery, until: () => claimed.until, release: () => undefined };
    }
    const delivery = reservedDelivery({ ...job, ...reservation });
    let { until } = reservation;
    let isOver = false;
    const extend = async () => {
      if (isOver) return;
      const later = agreedTime() + leaseMs;
      await extendLease(delivery, new Date(later));
      until = later;
    };
    // MongoDB is away for long: at worst the attempt is made twice.
    const timer = setTimeout(() => void retryWhileUnavailable(extend).catch(() => undefined), EXTEND_AFTER_MS);
    const release = () => {
      isOver = true;
      clearTimeout(timer);
    };
    return { delivery, until: () => until, release };
  };
}

function reservationsOf(jobs: readonly DeliverWebhook[]): Reservation[] {
  const untilById = new Map(jobs.flatMap(({ reservation: one }) => (one ? [[one.leaseId, one.until] as const] : [])));
  return [...untilById].map(([leaseId, until]) => ({ leaseId, until: new Date(until) }));
}
