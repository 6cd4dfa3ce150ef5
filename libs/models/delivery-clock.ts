// The retry clock: which deliveries are due, who makes an attempt, and what follows. MongoDB is the clock, so Redis may forget.

import {
  ATTEMPTS_KEPT,
  type Attempt,
  Delivery,
  type DeliveryRecord,
  deliveryId,
  type FannedOut,
  newDelivery,
  notLeased,
} from './delivery.ts';
import { acrossAccounts, type Id, type StoredId, storedId } from './tenant.ts';

/**
 * Makes the deliveries of an event that do not exist yet, due at once.
 * @param dueAt when the clock looks after those that were lost on the way to the queue.
 * @returns the endpoints whose delivery is new.
 */
export async function insertDeliveries(
  event: FannedOut,
  endpointIds: StoredId[],
  dueAt: Date,
  now: Date = new Date(),
): Promise<StoredId[]> {
  if (endpointIds.length === 0) return [];
  const result = await Delivery.bulkWrite(
    endpointIds.map((endpointId) => ({
      updateOne: {
        filter: { _id: storedId(deliveryId(event._id, endpointId)), account_id: event.account_id },
        update: {
          $setOnInsert: {
            ...newDelivery(event, endpointId, now),
            status: 'pending',
            attempts_made: 0,
            attempts: [],
            next_at: now,
            due_at: dueAt,
            turn: 0,
            postponed: 0,
            updated_at: now,
          },
        },
        upsert: true,
      },
    })),
    // The event is marked as done after this, on the same primary and with a majority: then these are, too.
    { ordered: false, writeConcern: { w: 1 } },
  );
  return endpointIds.filter((_id, index) => result.upsertedIds[index] !== undefined);
}

export type ClaimedDelivery = DeliveryRecord & { lease_until: Date };

/** @returns the delivery, owned until `leaseUntil`, or null: not due, in other hands, or settled. */
export async function claimDelivery(
  accountId: Id,
  id: Id,
  leaseUntil: Date,
  now: Date = new Date(),
): Promise<ClaimedDelivery | null> {
  return Delivery.findOneAndUpdate(
    {
      _id: id,
      account_id: accountId,
      status: 'pending',
      next_at: { $lte: now },
      ...notLeased(now),
    },
    { $set: { lease_until: leaseUntil, due_at: leaseUntil } },
    // A claim lost in a failover costs a second delivery with the same id, which is promised anyway.
    { returnDocument: 'after', writeConcern: { w: 1 } },
  ).lean<ClaimedDelivery>();
}

/** What becomes of a delivery after its attempt. */
export type Verdict =
  | { status: 'delivered' | 'dead' | 'held' }
  | { status: 'pending'; nextAt: Date /** See due_at. */; dueAt: Date };

/** Writes attempt and verdict in one update, if the delivery is still ours. @returns false when it is not. */
export async function settleDelivery(
  delivery: Pick<ClaimedDelivery, '_id' | 'account_id' | 'lease_until'>,
  verdict: Verdict,
  attempt?: Attempt,
  now: Date = new Date(),
): Promise<boolean> {
  const isPending = verdict.status === 'pending';
  const isFinal = verdict.status === 'delivered' || verdict.status === 'dead';
  const result = await Delivery.updateOne(
    { _id: delivery._id, account_id: delivery.account_id, lease_until: delivery.lease_until },
    {
      $set: {
        status: verdict.status,
        postponed: 0,
        updated_at: now,
        ...(isPending ? { next_at: verdict.nextAt, due_at: verdict.dueAt } : {}),
        ...(isFinal ? { settled_at: now } : {}),
      },
      $unset: { lease_until: 1, ...(isPending ? {} : { next_at: 1, due_at: 1 }) },
      $inc: { turn: 1, ...(attempt ? { attempts_made: 1 } : {}) },
      ...(attempt ? { $push: { attempts: { $each: [attempt], $slice: -ATTEMPTS_KEPT } } } : {}),
    },
  );
  return result.modifiedCount === 1;
}

/** 2⁶ times the breaker's half minute is half an hour. */
const GROWTH_MAX = 6;

/**
 * Moves a delivery that is due to later without spending an attempt.
 * @param grows doubles the wait with each time it was postponed so: a long queue does not come back all at once.
 */
export async function postponeDelivery(
  accountId: Id,
  id: Id,
  waitMs: number,
  { grows, now = new Date() }: { grows: boolean; now?: Date },
): Promise<void> {
  const factor = grows ? { $pow: [2, { $min: ['$postponed', GROWTH_MAX] }] } : 1;
  const nextAt = { $add: [now, { $round: { $multiply: [waitMs, factor] } }] };
  const postponed = { $add: ['$postponed', grows ? 1 : 0] };
  await Delivery.updateOne(
    { _id: id, account_id: accountId, status: 'pending', next_at: { $lte: now }, ...notLeased(now) },
    [{ $set: { next_at: nextAt, due_at: nextAt, turn: { $add: ['$turn', 1] }, postponed } }],
    { updatePipeline: true, writeConcern: { w: 1 } },
  );
}

/** The endpoint answers again: what was postponed for it is due now. */
export async function recallPostponed(accountId: Id, endpointId: Id, now: Date = new Date()): Promise<void> {
  await Delivery.updateMany(
    {
      account_id: accountId,
      endpoint_id: endpointId,
      status: 'pending',
      postponed: { $gt: 0 },
      ...notLeased(now),
    },
    { $set: { next_at: now, due_at: now, postponed: 0 }, $inc: { turn: 1 } },
  );
}

export type DueDelivery = Pick<
  DeliveryRecord,
  '_id' | 'account_id' | 'endpoint_id' | 'turn' | 'attempts_made' | 'request_id'
> & { due_at: Date };

/** What the clock must put on the queue now, of all accounts: the clock is the system's, not a tenant's. */
export async function findDueDeliveries(limit: number, now: Date = new Date()): Promise<DueDelivery[]> {
  return Delivery.find({ due_at: { $lte: now } })
    .setOptions(acrossAccounts)
    .sort({ due_at: 1 })
    .limit(limit)
    .select({ account_id: 1, endpoint_id: 1, turn: 1, attempts_made: 1, due_at: 1, request_id: 1 })
    .lean<DueDelivery[]>();
}

/** They are on the queue; the clock looks again at `dueAt`, in case the queue loses them. */
export async function markQueued(deliveries: DueDelivery[], dueAt: Date): Promise<void> {
  await Delivery.bulkWrite(
    deliveries.map(({ _id, account_id, turn, due_at }) => ({
      updateOne: {
        // One that was claimed, settled or marked by another process meanwhile has changed: leave it.
        filter: { _id, account_id, turn, due_at },
        update: { $set: { due_at: dueAt }, $inc: { turn: 1 } },
      },
    })),
    { ordered: false },
  );
}
