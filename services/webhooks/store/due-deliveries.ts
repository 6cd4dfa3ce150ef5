// What the retry clock looks at: deliveries that are due, and when it looks at them again.
import { agreedDate } from '#libs/clock.ts';
import { driverOf } from '#libs/models/records.ts';
import { acrossAccounts, type Id, wireId } from '#libs/models/tenant.ts';
import { Delivery, type DeliveryRecord, notLeased } from '#libs/models/webhooks/delivery.ts';
import type { Postponement } from '#libs/models/webhooks/delivery-clock.ts';

/** The endpoint answers again: what was postponed for it is due now. */
export async function recallPostponed(accountId: Id, endpointId: Id, now: Date = agreedDate()): Promise<void> {
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
  '_id' | 'account_id' | 'endpoint_id' | 'turn' | 'attempts_made' | 'postponed' | 'lease_until' | 'request_id' | 'trace'
> & { due_at: Date };

/**
 * What the clock must look at now, of all accounts: the clock is the system's, not a tenant's. When there is more than that, half of it
 * is what fell due last: the backlog of one account, which may last for hours, makes no retry of another one late.
 */
export async function findDueDeliveries(limit: number, now: Date = agreedDate()): Promise<DueDelivery[]> {
  const oldest = await lookDue(1, limit, now);
  if (oldest.length < limit) return oldest;
  const newest = await lookDue(-1, Math.floor(limit / 2), now);
  const byId = new Map([...newest, ...oldest].map((delivery) => [wireId(delivery._id), delivery]));
  return [...byId.values()].slice(0, limit);
}

async function lookDue(direction: 1 | -1, limit: number, now: Date): Promise<DueDelivery[]> {
  return Delivery.find({ due_at: { $lte: now } })
    .setOptions(acrossAccounts)
    .sort({ due_at: direction })
    .limit(limit)
    .select({
      account_id: 1,
      endpoint_id: 1,
      turn: 1,
      attempts_made: 1,
      postponed: 1,
      lease_until: 1,
      due_at: 1,
      request_id: 1,
      trace: 1,
    })
    .lean<DueDelivery[]>();
}

/** What the clock did with a delivery that was due. */
export interface DueMove {
  delivery: DueDelivery;
  /** When the clock looks again: after a lease, or in case the queue loses what was put there. */
  dueAt: Date;
  /** Absent when the delivery is put on the queue or left where it is. */
  postponement?: Postponement;
  /** From now on. While the job of a turn lives, to put that on the queue again does nothing. */
  turn: number;
}

/** Sets when the clock looks at them again, unless they were settled or moved by another process meanwhile. */
export async function moveDue(moves: readonly DueMove[]): Promise<void> {
  if (moves.length === 0) return;
  await driverOf(Delivery).bulkWrite(
    moves.map(({ delivery: { _id, account_id, turn: before, due_at }, dueAt, postponement, turn }) => ({
      // As in settleDeliveries; what fails is still due.
      updateMany: {
        filter: { _id, account_id, turn: before, due_at } as object,
        hint: { _id: 1 },
        update: {
          $set: {
            due_at: dueAt,
            turn,
            ...(postponement ? { next_at: postponement.nextAt, postponed: postponement.postponed } : {}),
          },
        },
      },
    })),
    { ordered: false },
  );
}
