// The poller. It enqueues deliveries that are due: late retries, replays, and those that the queue has lost.
import { agreedDate, agreedTime } from '#libs/clock.ts';
import { retryWebhook } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { type Id, wireId } from '#libs/models/tenant.ts';
import { deferralOf, recallIfClosed } from './defer-delivery.ts';
import { deliveryJob } from './delivery-job.ts';
import { ENQUEUE_GRACE_MS } from './limits.ts';
import { type DueDelivery, type DueMove, findDueDeliveries, moveDue, revisionAfter } from './store/due-deliveries.ts';
import type { Traffic } from './traffic/traffic.ts';

const BATCH = 500;
/** The number of ready jobs on its queue above which the poller waits. */
const QUEUED_MAX = 2_000;

/**
 * Enqueues due deliveries. All go to a queue and slots of their own, whichever attempt it is: the relay counts the jobs
 * on the queue of first attempts, so a long backlog there would delay the new events of all accounts.
 * @returns true when there is more.
 * @throws while MongoDB or Redis is unavailable; the deliveries stay due.
 */
export async function enqueueDueDeliveries(queues: Queues, traffic: Traffic): Promise<boolean> {
  const due = await findDueDeliveries(BATCH);
  if (due.length === 0) return false;
  const { leased = [], waiting = [] } = Object.groupBy(due, (one) => (isLeased(one) ? 'leased' : 'waiting'));
  const now = agreedTime();
  await moveDue(
    leased.map((delivery) => ({
      move: 'recheckAfterLease',
      delivery,
      dueAt: delivery.lease_until ?? new Date(now),
    })),
  );
  if (waiting.length === 0) return due.length === BATCH;
  const [{ ready }, isPaused] = await Promise.all([queues.counts(retryWebhook), queues.raw(retryWebhook).isPaused()]);
  // Workers have enough to do with a long queue, and deliveries that stay due keep their order. While an operator
  // pauses the queue, first attempts fall due, too: they wait on their own queue, which is paused with it.
  if (isPaused || ready > QUEUED_MAX) return false;
  const openBreakers = new Map<Id, Id>();
  const moves = waiting.map((delivery): DueMove => {
    const wait = traffic.predictWait(String(delivery.endpoint_id), delivery.deferrals);
    if (wait?.isOpen) openBreakers.set(wireId(delivery.endpoint_id), wireId(delivery.account_id));
    if (wait) return { move: 'deferDue', delivery, deferral: deferralOf(wait, delivery.deferrals) };
    // The job of a worker that died exists for up to a minute, until another worker finds it stalled.
    const move = delivery.lease_until ? 'enqueueAgain' : 'enqueue';
    return { move, delivery, dueAt: new Date(now + ENQUEUE_GRACE_MS) };
  });
  const enqueued = moves.filter(({ move }) => move !== 'deferDue');
  await queues.enqueueAll(
    retryWebhook,
    enqueued.map((one) => {
      const isAgain = one.move === 'enqueueAgain';
      return deliveryJob({ ...one.delivery, isAgain }, revisionAfter(one) + 1);
    }),
  );
  // This comes after enqueueing, so that a delivery that did not get on the queue is still due.
  await moveDue(moves);
  await recallIfClosed(traffic, openBreakers);
  return due.length === BATCH;
}

/** True when a worker is making the attempt right now, or died while making it. */
function isLeased({ lease_until }: DueDelivery): boolean {
  return Boolean(lease_until && lease_until > agreedDate());
}
