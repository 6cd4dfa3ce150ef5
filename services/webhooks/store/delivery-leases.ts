// Leases of deliveries. A worker acquires one for each attempt, or extends one that was reserved for it.
import { randomUUID } from 'node:crypto';
import { agreedDate } from '#libs/clock.ts';
import { driverOf } from '#libs/models/records.ts';
import { type Id, storedId } from '#libs/models/tenant.ts';
import { Delivery, type DeliveryRecord } from '#libs/models/webhooks/delivery.ts';
import type { Reservation } from '#libs/models/webhooks/delivery-guards.ts';
import { changeOf, guardOf } from '#libs/models/webhooks/delivery-moves.ts';

export type LeasedDelivery = Pick<
  DeliveryRecord,
  '_id' | 'account_id' | 'event_id' | 'endpoint_id' | 'request_id' | 'attempts_made' | 'revision' | 'deferrals'
> & { lease_id: string };

/**
 * Returns a delivery that was reserved when it was made. No other process changes it until the reservation ends, so it
 * need not be read.
 */
export function reservedDelivery(job: {
  deliveryId: Id;
  eventId: Id;
  accountId: Id;
  endpointId: Id;
  requestId?: string | undefined;
  leaseId: string;
}): LeasedDelivery {
  const { deliveryId, eventId, accountId, endpointId, requestId, leaseId } = job;
  return {
    _id: storedId(deliveryId),
    account_id: storedId(accountId),
    event_id: storedId(eventId),
    endpoint_id: storedId(endpointId),
    ...(requestId ? { request_id: requestId } : {}),
    attempts_made: 0,
    revision: 0,
    deferrals: 0,
    lease_id: leaseId,
  };
}

/** Extends a lease, for an attempt that outlasts its reservation. @returns false when the lease is lost. */
export async function extendLease(
  { _id, account_id, lease_id }: Pick<LeasedDelivery, '_id' | 'account_id' | 'lease_id'>,
  until: Date,
): Promise<boolean> {
  const { matchedCount } = await driverOf(Delivery).updateOne(
    { _id, account_id, ...guardOf('extendLease', { leaseId: lease_id }) } as object,
    changeOf('extendLease', { leaseUntil: until }),
    { writeConcern: { w: 1 } },
  );
  return matchedCount === 1;
}

/**
 * Acquires deliveries of any accounts for one attempt each.
 * @param reservations that the jobs of these deliveries carry.
 * @returns those that are leased to the caller until `leaseUntil`. The others are not due, leased to another worker, or
 * not pending.
 */
export async function acquireDeliveries(
  ids: readonly Id[],
  leaseUntil: Date,
  now: Date = agreedDate(),
  reservations: readonly Reservation[] = [],
): Promise<LeasedDelivery[]> {
  const leaseId = randomUUID();
  const _id = { $in: ids.map(storedId) };
  const deliveries = driverOf(Delivery);
  await deliveries.updateMany(
    { _id, ...guardOf('acquire', { now, reservations }) } as object,
    // No index has the fields of a lease, which makes this the cheapest of writes. So due_at stays, and the poller
    // reads the lease.
    changeOf('acquire', { leaseId, leaseUntil }),
    // A lease that a failover loses costs a second call with the same id, which at-least-once delivery allows.
    { writeConcern: { w: 1 } },
  );
  const leased = await deliveries
    .find({ _id, lease_id: leaseId } as object, {
      projection: { attempts: 0 },
      batchSize: ids.length + 1,
      readPreference: 'primary',
      readConcern: { level: 'local' },
    })
    .toArray();
  return leased as unknown as LeasedDelivery[];
}
