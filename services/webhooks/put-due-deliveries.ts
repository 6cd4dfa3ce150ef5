// Puts deliveries that are due on the queue: late retries, replays, and whatever the queue has lost.
import { type DeliverWebhook, deliverWebhook, type JobDefinition, retryWebhook } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import type { DeliveryRecord } from '#libs/models/delivery.ts';
import { type DueDelivery, findDueDeliveries, markQueued } from '#libs/models/delivery-clock.ts';

const BATCH = 500;
/** After this a delivery that is due and was put on the queue is put there again: Redis has lost it. */
export const QUEUE_GRACE_MS = 10_000;
const QUEUE_MAX = 2_000;
const NO_ROOM_MS = 1_000;
/** From the third attempt on a delivery goes through the slots for late ones. */
const EARLY_ATTEMPTS = 2;

export function queueFor(delivery: Pick<DeliveryRecord, 'attempts_made'>): JobDefinition<DeliverWebhook> {
  return delivery.attempts_made < EARLY_ATTEMPTS ? deliverWebhook : retryWebhook;
}

export function entryFor(delivery: Omit<DueDelivery, 'due_at' | 'attempts_made'>, turn: number, delayMs = 0) {
  return {
    id: `${String(delivery._id)}-${turn}`,
    delayMs,
    ...(delivery.trace ? { trace: delivery.trace } : {}),
    payload: {
      deliveryId: String(delivery._id),
      accountId: String(delivery.account_id),
      endpointId: String(delivery.endpoint_id),
      ...(delivery.request_id ? { requestId: delivery.request_id } : {}),
    },
  };
}

/** @returns true when there is more. @throws while MongoDB or Redis is away; the deliveries stay due. */
export async function putDueDeliveries(queues: Queues): Promise<boolean> {
  const due = await findDueDeliveries(BATCH);
  if (due.length === 0) return false;
  let isRoom = true;
  for (const definition of [deliverWebhook, retryWebhook]) {
    const deliveries = due.filter((delivery) => queueFor(delivery) === definition);
    if (deliveries.length === 0) continue;
    // A queue that is long has work enough; what waits in it must not be put in a second time.
    const hasRoom = (await queues.counts(definition)).ready <= QUEUE_MAX;
    if (hasRoom) {
      await queues.enqueueAll(
        definition,
        deliveries.map((delivery) => entryFor(delivery, delivery.turn + 1)),
      );
    } else isRoom = false;
    // After, not before: what did not get on the queue is still due.
    await markQueued(deliveries, new Date(Date.now() + (hasRoom ? QUEUE_GRACE_MS : NO_ROOM_MS)));
  }
  return isRoom && due.length === BATCH;
}
