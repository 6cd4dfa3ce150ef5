// Puts deliveries that are due on the queue: late retries, replays, and whatever the queue has lost.
import { agreedDate, agreedTime } from '#libs/clock.ts';
import { retryWebhook } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { type Id, type StoredId, wireId } from '#libs/models/tenant.ts';
import { postponementOf, recallMissed } from './defer-delivery.ts';
import { type DueDelivery, type DueMove, findDueDeliveries, moveDue } from './store/due-deliveries.ts';
import type { Traffic } from './traffic.ts';

const BATCH = 500;
/** After this a delivery that is due and was put on the queue is put there again, in case Redis has lost it. */
export const QUEUE_GRACE_MS = 10_000;
/** With more than so many jobs ready on its queue the clock waits. */
const QUEUE_MAX = 2_000;

export function entryFor(
  delivery: Pick<DueDelivery, 'account_id' | 'endpoint_id'> & {
    _id: Id | StoredId;
    request_id?: string | null | undefined;
    trace?: string | null | undefined;
  },
  turn: number,
  delayMs = 0,
) {
  const deliveryId = String(delivery._id);
  return {
    id: `${deliveryId}-${turn}`,
    delayMs,
    ...(delivery.trace ? { trace: delivery.trace } : {}),
    payload: {
      deliveryId,
      accountId: wireId(delivery.account_id),
      endpointId: wireId(delivery.endpoint_id),
      ...(delivery.request_id ? { requestId: delivery.request_id } : {}),
    },
  };
}

/**
 * All of it goes to a queue and slots of its own, whichever attempt it is: the relay leaves room for what waits on the queue of first
 * attempts, so what a long backlog put there would keep the events of everybody back.
 * @returns true when there is more. @throws while MongoDB or Redis is away; the deliveries stay due.
 */
export async function putDueDeliveries(queues: Queues, traffic: Traffic): Promise<boolean> {
  const due = await findDueDeliveries(BATCH);
  if (due.length === 0) return false;
  const { inHand = [], waiting = [] } = Object.groupBy(due, (one) => (isInHand(one) ? 'inHand' : 'waiting'));
  const now = agreedTime();
  await moveDue(
    inHand.map((delivery) => ({
      delivery,
      dueAt: delivery.lease_until ?? new Date(now),
      turn: delivery.turn + 1,
    })),
  );
  if (waiting.length === 0) return due.length === BATCH;
  // A queue that is long has work enough. What is left where it is stays in its order.
  const [{ ready }, isPaused] = await Promise.all([queues.counts(retryWebhook), queues.raw(retryWebhook).isPaused()]);
  // Also what waits for its first attempt is due by then: it goes from its own queue, which is paused as well.
  if (isPaused || ready > QUEUE_MAX) return false;
  const aside = new Map<Id, Id>();
  const moves = waiting.map((delivery): DueMove => {
    const wait = traffic.foresee(String(delivery.endpoint_id), delivery.postponed);
    if (wait?.isOpen) aside.set(wireId(delivery.endpoint_id), wireId(delivery.account_id));
    if (!wait) return { delivery, dueAt: new Date(now + QUEUE_GRACE_MS), turn: turnOf(delivery) };
    const postponement = postponementOf(wait, delivery.postponed);
    return { delivery, dueAt: postponement.nextAt, turn: delivery.turn + 1, postponement };
  });
  const going = moves.filter(({ postponement }) => !postponement);
  await queues.enqueueAll(
    retryWebhook,
    going.map(({ delivery, turn }) => entryFor(delivery, turn + 1)),
  );
  // After, not before: what did not get on the queue is still due.
  await moveDue(moves);
  await recallMissed(traffic, aside);
  return due.length === BATCH;
}

/** Somebody makes the attempt right now, or has died while making it. */
function isInHand({ lease_until }: DueDelivery): boolean {
  return Boolean(lease_until && lease_until > agreedDate());
}

/** What waits on the queue is not put there twice. But the job of a process that died lives on until somebody notices, for a minute. */
function turnOf({ turn, lease_until }: DueDelivery): number {
  return lease_until ? turn + 1 : turn;
}
