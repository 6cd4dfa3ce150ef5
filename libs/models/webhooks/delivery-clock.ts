// The retry clock: who makes an attempt, and what follows. MongoDB is the clock, so Redis may forget.
// What every delivery costs goes straight to the driver: all values are stored ones already, and casting them again took a tenth of the time.

import { randomUUID } from 'node:crypto';
import { agreedDate } from '../../clock.ts';
import { duplicatesIn } from '../../mongo/errors.ts';
import { driverOf, type Owned } from '../records.ts';
import { type Id, type StoredId, storedId, wireId } from '../tenant.ts';
import { Delivery, type DeliveryRecord, deliveryId, type FannedOut, newDelivery, notLeased } from './delivery.ts';

export interface FanOut {
  event: FannedOut;
  endpointIds: StoredId[];
  /** By endpoint: when it can be tried, if that is not now. */
  later?: ReadonlyMap<Id, Postponement>;
}

export interface Postponement {
  nextAt: Date;
  /** How often in a row its turn came and no attempt could be made. */
  postponed: number;
}

/** A lease from birth for whoever takes the job of a first attempt: it saves the write and the read of a claim. */
export interface Reservation {
  leaseId: string;
  until: Date;
}

/** A delivery that was made now. */
export interface AddedDelivery {
  id: Id;
  endpointId: StoredId;
}

/**
 * Makes the deliveries that do not exist yet, due at once or later.
 * @param dueAt when the clock looks after those that were lost on the way to the queue.
 * @param reservation of those that are due now.
 * @returns for each fan-out those that are new and due now.
 */
export async function insertDeliveries(
  fanOuts: readonly FanOut[],
  dueAt: Date,
  reservation?: Reservation,
  now: Date = agreedDate(),
): Promise<AddedDelivery[][]> {
  const pairs = fanOuts.flatMap((fanOut) => {
    const { event, endpointIds, later } = fanOut;
    const eventId = wireId(event._id);
    return endpointIds.map((stored) => {
      const endpointId = wireId(stored);
      return { fanOut, event, stored, id: deliveryId(eventId, endpointId), wait: later?.get(endpointId) };
    });
  });
  if (pairs.length === 0) return fanOuts.map(() => []);
  const existing = await insertNew(
    pairs.map(({ event, stored, id, wait }) => ({
      _id: storedId(id),
      account_id: event.account_id,
      ...newDelivery(event, stored, now),
      status: 'pending',
      attempts_made: 0,
      attempts: [],
      next_at: wait?.nextAt ?? now,
      due_at: wait?.nextAt ?? dueAt,
      turn: 0,
      postponed: wait?.postponed ?? 0,
      ...(reservation && !wait ? { lease_id: reservation.leaseId, lease_until: reservation.until } : {}),
      updated_at: now,
    })),
  );
  const isAdded = ({ wait }: (typeof pairs)[number], position: number) => !wait && !existing.has(position);
  const added = Map.groupBy(pairs.filter(isAdded), ({ fanOut }) => fanOut);
  return fanOuts.map((fanOut) => (added.get(fanOut) ?? []).map(({ id, stored }) => ({ id, endpointId: stored })));
}

/** @returns the positions of those that exist already. */
async function insertNew(deliveries: Owned[]): Promise<Set<number>> {
  try {
    // Acknowledged by a majority, as everything is that does not say otherwise: the events are marked as done after this, maybe
    // on another primary, and what only the one before it had would be gone.
    await driverOf(Delivery).insertMany(deliveries, { ordered: false });
    return new Set();
  } catch (error) {
    const refused = duplicatesIn(error);
    if (!refused) throw error;
    return refused;
  }
}

export type ClaimedDelivery = Pick<
  DeliveryRecord,
  '_id' | 'account_id' | 'event_id' | 'endpoint_id' | 'request_id' | 'attempts_made' | 'turn' | 'postponed'
> & { lease_id: string };

/** One that was reserved when it was made: nobody else touches it until then, so it still is as it was. */
export function reservedDelivery(delivery: {
  deliveryId: Id;
  eventId: Id;
  accountId: Id;
  endpointId: Id;
  requestId?: string | undefined;
  leaseId: string;
}): ClaimedDelivery {
  const { eventId, accountId, endpointId, requestId, leaseId } = delivery;
  return {
    _id: storedId(delivery.deliveryId),
    account_id: storedId(accountId),
    event_id: storedId(eventId),
    endpoint_id: storedId(endpointId),
    ...(requestId ? { request_id: requestId } : {}),
    attempts_made: 0,
    turn: 0,
    postponed: 0,
    lease_id: leaseId,
  };
}

/** The attempt takes longer than its reservation reckons with. */
export async function extendLease(
  { _id, account_id, lease_id }: Pick<ClaimedDelivery, '_id' | 'account_id' | 'lease_id'>,
  until: Date,
): Promise<void> {
  await driverOf(Delivery).updateOne(
    { _id, account_id, lease_id } as object,
    { $set: { lease_until: until } },
    { writeConcern: { w: 1 } },
  );
}

/**
 * Takes deliveries for one attempt each, of whatever accounts: who works off the queue works for all.
 * @param reservations that the caller holds.
 * @returns those that are ours until `leaseUntil`; the others are not due, in other hands, or settled.
 */
export async function claimDeliveries(
  ids: readonly Id[],
  leaseUntil: Date,
  now: Date = agreedDate(),
  reservations: readonly Reservation[] = [],
): Promise<ClaimedDelivery[]> {
  const lease = { lease_id: randomUUID(), lease_until: leaseUntil };
  const _id = { $in: ids.map(storedId) };
  const deliveries = driverOf(Delivery);
  // To the millisecond: one whose lease was extended is being attempted by whoever did that.
  const own = reservations.map(({ leaseId, until }) => ({ lease_id: leaseId, lease_until: until }));
  await deliveries.updateMany(
    { _id, status: 'pending', next_at: { $lte: now }, $or: [...notLeased(now).$or, ...own] } as object,
    // No index knows these two, which makes it the cheapest of writes; so due_at stays, and the clock asks for the lease.
    { $set: lease },
    // A claim lost in a failover costs a second delivery with the same id, which is promised anyway.
    { writeConcern: { w: 1 } },
  );
  const claimed = await deliveries
    .find({ _id, lease_id: lease.lease_id } as object, {
      projection: { attempts: 0 },
      batchSize: ids.length + 1,
      readPreference: 'primary',
      readConcern: { level: 'local' },
    })
    .toArray();
  return claimed as unknown as ClaimedDelivery[];
}
