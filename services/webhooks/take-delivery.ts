// Takes a delivery in hand for one attempt: by its reservation while that is fresh, else by a claim in the database.
import { agreedDate, agreedTime } from '#libs/clock.ts';
import type { DeliverWebhook } from '#libs/jobs/catalog.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  extendLease,
  type Reservation,
  reservedDelivery,
} from '#libs/models/delivery-clock.ts';
import { whileAway } from '#libs/while-away.ts';
import { inBatches } from './in-batches.ts';

/** How long a first attempt is reserved for the job that was put on the queue for it. Then the clock looks after it. */
export const RESERVED_MS = 30_000;
/** With less left than this an attempt is not begun on a reservation: a process may stand still so long, and it is not made twice. */
const RESERVED_LEAST_MS = 20_000;
/** Most attempts are over by then; the others get a lease. */
const EXTEND_AFTER_MS = 1_000;

export interface Hold {
  delivery: ClaimedDelivery;
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
    const claimed = await claimDeliveries(
      jobs.map(({ deliveryId }) => deliveryId),
      new Date(agreedTime() + leaseMs),
      agreedDate(),
      reservationsOf(jobs),
    );
    const byId = new Map(claimed.map((delivery) => [String(delivery._id), delivery]));
    // Two jobs of one delivery meet here when the first was late: with one lease between them, one would undo what the other has done.
    return jobs.map(({ deliveryId }) => {
      const delivery = byId.get(deliveryId);
      byId.delete(deliveryId);
      return delivery;
    });
  });

  return async (job, isFirstRun) => {
    const { reservation } = job;
    if (!reservation || !isFirstRun || reservation.until - agreedTime() < RESERVED_LEAST_MS) {
      const delivery = await claim(job);
      return delivery && { delivery, release: () => undefined };
    }
    const delivery = reservedDelivery({ ...job, ...reservation });
    const timer = setTimeout(() => {
      // MongoDB is away for long: at worst the attempt is made twice.
      whileAway(() => extendLease(delivery, new Date(agreedTime() + leaseMs))).catch(() => undefined);
    }, EXTEND_AFTER_MS);
    return { delivery, release: () => clearTimeout(timer) };
  };
}

function reservationsOf(jobs: readonly DeliverWebhook[]): Reservation[] {
  const untilById = new Map(jobs.flatMap(({ reservation: one }) => (one ? [[one.leaseId, one.until] as const] : [])));
  return [...untilById].map(([leaseId, until]) => ({ leaseId, until: new Date(until) }));
}
