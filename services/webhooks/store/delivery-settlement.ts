// How an attempt ends: what was tried and what follows, written together for as many deliveries as come at the same time.
import { agreedDate } from '#libs/clock.ts';
import { driverOf } from '#libs/models/records.ts';
import { ATTEMPTS_KEPT, type Attempt, Delivery } from '#libs/models/webhooks/delivery.ts';
import type { ClaimedDelivery } from '#libs/models/webhooks/delivery-clock.ts';
import { retryWhileUnavailable } from '#libs/mongo/retry-while-unavailable.ts';

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

/**
 * Writes attempt and verdict of each in one update, unless it is no longer ours: then somebody else writes theirs.
 * What a failover or a crash of the database takes back is another attempt, which is promised anyway; so nobody waits for the disk.
 */
export async function settleDeliveries(settlements: readonly Settlement[], now: Date = agreedDate()): Promise<void> {
  const byLease = Map.groupBy(settlements.filter(isDelivered), ({ delivery }) => delivery.lease_id);
  const others = settlements.filter((settlement) => !isDelivered(settlement));
  const writes = [
    ...[...byLease].map(([leaseId, group]) => deliveredTogether(leaseId, group, now)),
    ...others.map(({ delivery: { _id, account_id, lease_id }, verdict, attempt }) => ({
      filter: { _id, account_id, lease_id },
      update: settlementOf(verdict, attempt, now),
    })),
  ];
  // What was written has no lease any more and stays as it is.
  await retryWhileUnavailable(() =>
    driverOf(Delivery).bulkWrite(
      // Not updateOne: with each of those MongoDB notes that it was done, in case the driver asks again. The lease tells us that.
      // Without the hint it would weigh all indexes that know the account.
      writes.map((one) => ({ updateMany: { ...(one as { filter: object; update: object }), hint: { _id: 1 } } })),
      { ordered: false, writeConcern: { w: 1 } },
    ),
  );
}

interface Delivered extends Settlement {
  attempt: Attempt;
}

function isDelivered(settlement: Settlement): settlement is Delivered {
  return settlement.verdict.status === 'delivered' && settlement.attempt !== undefined;
}

/** Most attempts end like this, and many at a time: one update for all that share a lease costs half of one for each. */
function deliveredTogether(leaseId: string, group: readonly Delivered[], now: Date) {
  const ids = group.map(({ delivery }) => delivery._id);
  const attempts = group.map(({ attempt }) => attempt);
  const ownAttempt = { $arrayElemAt: [{ $literal: attempts }, { $indexOfArray: [{ $literal: ids }, '$_id'] }] };
  return {
    filter: { _id: { $in: ids }, lease_id: leaseId },
    update: [
      {
        $set: {
          status: 'delivered',
          postponed: 0,
          settled_at: now,
          updated_at: now,
          turn: { $add: ['$turn', 1] },
          attempts_made: { $add: ['$attempts_made', 1] },
          attempts: { $slice: [{ $concatArrays: ['$attempts', [ownAttempt]] }, -ATTEMPTS_KEPT] },
        },
      },
      { $unset: ['lease_id', 'lease_until', 'next_at', 'due_at'] },
    ],
  };
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
