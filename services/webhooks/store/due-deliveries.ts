// Finds the deliveries that are due for the poller, and sets when they are due again.
import { agreedDate } from '#libs/clock.ts';
import { driverOf } from '#libs/models/records.ts';
import { acrossAccounts, type Id, wireId } from '#libs/models/tenant.ts';
import { Delivery, type DeliveryRecord } from '#libs/models/webhooks/delivery.ts';
import { changeOf, guardOf } from '#libs/models/webhooks/delivery-moves.ts';
import { DELIVERY_MOVES } from '#libs/models/webhooks/delivery-states.ts';
import type { Deferral } from './new-deliveries.ts';

/** Makes the deferred deliveries of an endpoint due now, because it responds again. */
export async function recallDeferred(accountId: Id, endpointId: Id, now: Date = agreedDate()): Promise<void> {
  await Delivery.updateMany(
    { account_id: accountId, endpoint_id: endpointId, ...guardOf('recall', { now }) },
    changeOf('recall', { nextAt: now, dueAt: now, deferrals: 0 }),
  );
}

export type DueDelivery = Pick<
  DeliveryRecord,
  '_id' | 'account_id' | 'endpoint_id' | 'revision' | 'deferrals' | 'lease_until' | 'request_id' | 'trace'
> & { due_at: Date };

/**
 * Returns deliveries of all accounts that are due now. When there are more than `limit`, half of them are the ones that
 * fell due last: the backlog of one account may last for hours, and must not delay the retries of another.
 */
export async function findDueDeliveries(limit: number, now: Date = agreedDate()): Promise<DueDelivery[]> {
  const oldest = await findDue(1, limit, now);
  if (oldest.length < limit) return oldest;
  const newest = await findDue(-1, Math.floor(limit / 2), now);
  const byId = new Map([...newest, ...oldest].map((delivery) => [wireId(delivery._id), delivery]));
  return [...byId.values()].slice(0, limit);
}

async function findDue(direction: 1 | -1, limit: number, now: Date): Promise<DueDelivery[]> {
  return Delivery.find({ due_at: { $lte: now } })
    .setOptions(acrossAccounts)
    .sort({ due_at: direction })
    .limit(limit)
    .select({
      account_id: 1,
      endpoint_id: 1,
      revision: 1,
      deferrals: 1,
      lease_until: 1,
      due_at: 1,
      request_id: 1,
      trace: 1,
    })
    .lean<DueDelivery[]>();
}

/** The move that the poller makes with a due delivery. */
export type DueMove = { delivery: DueDelivery } & (
  | { move: 'enqueue' | 'enqueueAgain' | 'recheckAfterLease' /** When the poller looks again. */; dueAt: Date }
  | { move: 'deferDue'; deferral: Deferral }
);

/** Returns the revision that a delivery has after the move, for the id of its job. */
export function revisionAfter({ delivery: { revision }, move }: DueMove): number {
  return revision + (DELIVERY_MOVES[move].raisesRevision ? 1 : 0);
}

/** Makes the moves, except where another process has changed the delivery meanwhile. */
export async function moveDue(moves: readonly DueMove[]): Promise<void> {
  if (moves.length === 0) return;
  await driverOf(Delivery).bulkWrite(
    moves.map((one) => {
      const { _id, account_id, revision, due_at } = one.delivery;
      return {
        // updateMany has the reason given in settleDeliveries. A write that fails leaves the delivery due.
        updateMany: {
          filter: { _id, account_id, ...guardOf(one.move, { revision, dueAt: due_at }) } as object,
          hint: { _id: 1 },
          update: changeOf(one.move, valuesOf(one)),
        },
      };
    }),
    { ordered: false },
  );
}

function valuesOf(one: DueMove) {
  if (one.move !== 'deferDue') return { dueAt: one.dueAt };
  const { nextAt, deferrals } = one.deferral;
  return { nextAt, dueAt: nextAt, deferrals };
}
