// The retry clock: which deliveries are due, who makes an attempt, and what follows. MongoDB is the clock, so Redis may forget.
// What every delivery costs goes straight to the driver: all values are stored ones already, and casting them again took a tenth of the time.

import { randomUUID } from 'node:crypto';
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
import { driverOf } from './records.ts';
import { acrossAccounts, type Id, type StoredId, storedId } from './tenant.ts';

export interface FanOut {
  event: FannedOut;
  endpointIds: StoredId[];
}

/**
 * Makes the deliveries that do not exist yet, due at once.
 * @param dueAt when the clock looks after those that were lost on the way to the queue.
 * @returns for each fan-out the endpoints whose delivery is new.
 */
export async function insertDeliveries(
  fanOuts: readonly FanOut[],
  dueAt: Date,
  now: Date = new Date(),
): Promise<StoredId[][]> {
  const pairs = fanOuts.flatMap(({ event, endpointIds }) => endpointIds.map((endpointId) => ({ event, endpointId })));
  if (pairs.length === 0) return fanOuts.map(() => []);
  const { upsertedIds } = await driverOf(Delivery).bulkWrite(
    pairs.map(({ event, endpointId }) => ({
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
    // The events are marked as done after this, on the same primary and with a majority: then these are, too.
    { ordered: false, writeConcern: { w: 1 } },
  );
  let position = 0;
  return fanOuts.map(({ endpointIds }) => endpointIds.filter(() => upsertedIds[position++] !== undefined));
}

export type ClaimedDelivery = DeliveryRecord & { lease_id: string };

/**
 * Takes deliveries for one attempt each, of whatever accounts: who works off the queue works for all.
 * @returns those that are ours until `leaseUntil`; the others are not due, in other hands, or settled.
 */
export async function claimDeliveries(
  ids: readonly Id[],
  leaseUntil: Date,
  now: Date = new Date(),
): Promise<ClaimedDelivery[]> {
  const lease = { lease_id: randomUUID(), lease_until: leaseUntil };
  await Delivery.updateMany(
    { _id: { $in: [...ids] }, status: 'pending', next_at: { $lte: now }, ...notLeased(now) },
    { $set: { ...lease, due_at: leaseUntil } },
    // A claim lost in a failover costs a second delivery with the same id, which is promised anyway.
    { ...acrossAccounts, writeConcern: { w: 1 } },
  );
  return Delivery.find({ _id: { $in: [...ids] }, lease_id: lease.lease_id })
    .setOptions(acrossAccounts)
    .read('primary')
    .readConcern('local')
    .lean<ClaimedDelivery[]>();
}

/** What becomes of a delivery that was claimed. */
export type Verdict =
  | { status: 'delivered' | 'dead' | 'held' }
  /** `postponed`: how often in a row its turn came and no attempt could be made. */
  | { status: 'pending'; nextAt: Date /** See due_at. */; dueAt: Date; postponed?: number };

export interface Settlement {
  delivery: Pick<ClaimedDelivery, '_id' | 'account_id' | 'lease_id'>;
  verdict: Verdict;
  /** Absent when none was made. */
  attempt?: Attempt;
}

/** Writes attempt and verdict of each in one update, unless it is no longer ours: then somebody else writes theirs. */
export async function settleDeliveries(settlements: readonly Settlement[], now: Date = new Date()): Promise<void> {
  await driverOf(Delivery).bulkWrite(
    settlements.map(({ delivery: { _id, account_id, lease_id }, verdict, attempt }) => ({
      updateOne: { filter: { _id, account_id, lease_id }, update: settlementOf(verdict, attempt, now) as object },
    })),
    { ordered: false },
  );
}

function settlementOf(verdict: Verdict, attempt: Attempt | undefined, now: Date) {
  const isPending = verdict.status === 'pending';
  const isFinal = verdict.status === 'delivered' || verdict.status === 'dead';
  return {
    $set: {
      status: verdict.status,
      postponed: (isPending ? verdict.postponed : undefined) ?? 0,
      ...(isPending ? { next_at: verdict.nextAt, due_at: verdict.dueAt } : {}),
      ...(isFinal ? { settled_at: now } : {}),
      // When nothing answered, how long that took is nobody's business, see ErrorClass.
      ...(attempt || !isPending ? { updated_at: attempt?.error_class === 'unreachable' ? attempt.at : now } : {}),
    },
    $unset: {
      lease_id: 1 as const,
      lease_until: 1 as const,
      ...(isPending ? {} : { next_at: 1 as const, due_at: 1 as const }),
    },
    $inc: { turn: 1, ...(attempt ? { attempts_made: 1 } : {}) },
    ...(attempt ? { $push: { attempts: { $each: [attempt], $slice: -ATTEMPTS_KEPT } } } : {}),
  };
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
  '_id' | 'account_id' | 'endpoint_id' | 'turn' | 'attempts_made' | 'request_id' | 'trace'
> & { due_at: Date };

/** What the clock must put on the queue now, of all accounts: the clock is the system's, not a tenant's. */
export async function findDueDeliveries(limit: number, now: Date = new Date()): Promise<DueDelivery[]> {
  return Delivery.find({ due_at: { $lte: now } })
    .setOptions(acrossAccounts)
    .sort({ due_at: 1 })
    .limit(limit)
    .select({ account_id: 1, endpoint_id: 1, turn: 1, attempts_made: 1, due_at: 1, request_id: 1, trace: 1 })
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
