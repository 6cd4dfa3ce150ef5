// Acquires the lease of a delivery for one attempt: by its reservation while that is fresh, else in the database.
import { agreedDate, agreedTime } from '#libs/clock.ts';
import type { DeliverWebhook } from '#libs/jobs/catalog.ts';
import type { Reservation } from '#libs/models/webhooks/delivery-guards.ts';
import { retryWhileUnavailable } from '#libs/mongo/retry-while-unavailable.ts';
import { inBatches } from './loading/in-batches.ts';
import { acquireDeliveries, extendLease, type LeasedDelivery, reservedDelivery } from './store/delivery-leases.ts';

/**
 * The least time that must be left of a reservation. The process may stall for that long, and the attempt must not be
 * made twice.
 */
const RESERVATION_LEFT_MIN_MS = 20_000;
/** Most attempts have ended after this time. The others extend their reservation to a lease. */
const EXTEND_AFTER_MS = 1_000;

export interface DeliveryLease {
  delivery: LeasedDelivery;
  /** Returns the time in milliseconds since the epoch after which another worker may acquire the delivery. */
  until(): number;
  /** Stops extending the lease, because the attempt is over. */
  release(): void;
}

/**
 * Acquires the lease of a delivery.
 * @param isFirstRun false for a job that runs again, because Redis was unavailable when it ended. Its reservation may
 * be used up.
 * @returns undefined when the job is stale: its delivery is not pending, not due yet, or leased to another worker.
 */
export type AcquireDelivery = (job: DeliverWebhook, isFirstRun: boolean) => Promise<DeliveryLease | undefined>;

/** Makes the function. @param leaseMs longer than any attempt. After it another worker makes the attempt again. */
export function makeAcquireDelivery(leaseMs: number): AcquireDelivery {
  const acquireStored = inBatches(async (jobs: DeliverWebhook[]) => {
    const until = agreedTime() + leaseMs;
    const leased = await acquireDeliveries(
      jobs.map(({ deliveryId }) => deliveryId),
      new Date(until),
      agreedDate(),
      reservationsOf(jobs),
    );
    const byId = new Map(leased.map((delivery) => [String(delivery._id), delivery]));
    // Two jobs of one delivery meet here when the first was late. If they shared one lease, one would undo what the
    // other has done.
    return jobs.map(({ deliveryId }) => {
      const delivery = byId.get(deliveryId);
      byId.delete(deliveryId);
      return delivery && { delivery, until: () => until, release: () => undefined };
    });
  });

  return async (job, isFirstRun) => {
    const { reservation } = job;
    const leftMs = reservation ? reservation.until - agreedTime() : 0;
    if (!reservation || !isFirstRun || leftMs < RESERVATION_LEFT_MIN_MS) return acquireStored(job);
    return leaseReserved(reservedDelivery({ ...job, ...reservation }), reservation.until, leaseMs);
  };
}

function leaseReserved(delivery: LeasedDelivery, reservedUntil: number, leaseMs: number): DeliveryLease {
  let until = reservedUntil;
  let isOver = false;
  const extend = async () => {
    if (isOver) return;
    const later = agreedTime() + leaseMs;
    // Another worker acquired it, because this process was suspended. An attempt that has not begun must not begin.
    until = (await extendLease(delivery, new Date(later))) ? later : 0;
  };
  // If MongoDB is unavailable for long, the attempt may be made twice.
  const timer = setTimeout(() => void retryWhileUnavailable(extend).catch(() => undefined), EXTEND_AFTER_MS);
  const release = () => {
    isOver = true;
    clearTimeout(timer);
  };
  return { delivery, until: () => until, release };
}

function reservationsOf(jobs: readonly DeliverWebhook[]): Reservation[] {
  const untilById = new Map(jobs.flatMap(({ reservation: one }) => (one ? [[one.leaseId, one.until] as const] : [])));
  return [...untilById].map(([leaseId, until]) => ({ leaseId, until: new Date(until) }));
}
