// Writes attempts and their verdicts, together for all deliveries that end at about the same time.
import { agreedDate } from '#libs/clock.ts';
import { driverOf } from '#libs/models/records.ts';
import { type Attempt, Delivery } from '#libs/models/webhooks/delivery.ts';
import { changeOf, changeOfMany, guardOf } from '#libs/models/webhooks/delivery-moves.ts';
import { retryWhileUnavailable } from '#libs/mongo/retry-while-unavailable.ts';
import type { LeasedDelivery } from './delivery-leases.ts';
import type { Deferral } from './new-deliveries.ts';

/** The consequence for a leased delivery: one of the worker's moves. */
export type Verdict =
  | { move: 'deliver' | 'giveUp' | 'suspendLeased' }
  /** `dueAt`: the time at which the poller looks after it. */
  | { move: 'retryLater'; nextAt: Date; dueAt: Date }
  | { move: 'defer'; deferral: Deferral };

export interface DeliverySettlement {
  delivery: Pick<LeasedDelivery, '_id' | 'account_id' | 'lease_id'>;
  verdict: Verdict;
  /** Absent when no attempt was made. */
  attempt?: Attempt;
}

/**
 * Writes attempt and verdict of each in one update, unless its lease has passed to another worker, which writes its
 * own. A failover or a crash of the database may lose an outcome. That costs a second call, which at-least-once
 * delivery allows, so no write waits for the disk.
 */
export async function settleDeliveries(
  settlements: readonly DeliverySettlement[],
  now: Date = agreedDate(),
): Promise<void> {
  const byLease = Map.groupBy(settlements.filter(isDelivered), ({ delivery }) => delivery.lease_id);
  const others = settlements.filter((settlement) => !isDelivered(settlement));
  const writes = [
    ...[...byLease].map(([leaseId, group]) => deliveredTogether(leaseId, group, now)),
    ...others.map(({ delivery: { _id, account_id, lease_id }, verdict, attempt }) => ({
      filter: { _id, account_id, ...guardOf(verdict.move, { leaseId: lease_id }) },
      update: changeOf(verdict.move, { ...valuesOf(verdict, attempt, now), attempt }),
    })),
  ];
  // A repetition is safe: a delivery that was written has no lease any more, so the guard leaves it as it is.
  await retryWhileUnavailable(() =>
    driverOf(Delivery).bulkWrite(
      // updateOne would not do: MongoDB would store each of those a second time, in case the driver retries. The lease
      // already makes a retry safe. The hint keeps the planner from weighing all indexes that begin with the account.
      writes.map((one) => ({ updateMany: { ...(one as { filter: object; update: object }), hint: { _id: 1 } } })),
      { ordered: false, writeConcern: { w: 1 } },
    ),
  );
}

interface Delivered extends DeliverySettlement {
  attempt: Attempt;
}

function isDelivered(settlement: DeliverySettlement): settlement is Delivered {
  return settlement.verdict.move === 'deliver' && settlement.attempt !== undefined;
}

/**
 * Returns one update for all delivered ones that share a lease. Most attempts end like this, and it costs half of one
 * update for each.
 */
function deliveredTogether(leaseId: string, group: readonly Delivered[], now: Date) {
  const ids = group.map(({ delivery }) => delivery._id);
  const attempts = group.map(({ attempt }) => attempt);
  const ownAttempt = { $arrayElemAt: [{ $literal: attempts }, { $indexOfArray: [{ $literal: ids }, '$_id'] }] };
  const values = { deferrals: 0, settledAt: now, updatedAt: now };
  return {
    filter: { _id: { $in: ids }, ...guardOf('deliver', { leaseId }) },
    update: changeOfMany('deliver', values, ownAttempt),
  };
}

function valuesOf(verdict: Verdict, attempt: Attempt | undefined, now: Date) {
  // The time that an attempt took must not show where there was no response, see ErrorClass.
  const updatedAt = attempt?.error_class === 'unreachable' ? attempt.at : now;
  switch (verdict.move) {
    case 'defer': {
      const { nextAt, deferrals } = verdict.deferral;
      return { nextAt, dueAt: nextAt, deferrals };
    }
    case 'retryLater':
      return { nextAt: verdict.nextAt, dueAt: verdict.dueAt, deferrals: 0, updatedAt };
    case 'suspendLeased':
      return { deferrals: 0, updatedAt };
    case 'deliver':
    case 'giveUp':
      return { deferrals: 0, settledAt: now, updatedAt };
  }
}
