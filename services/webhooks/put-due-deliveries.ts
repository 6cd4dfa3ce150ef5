// Puts deliveries that are due on the queue: late retries, replays, and whatever the queue has lost.
import { agreedDate, agreedTime } from '#libs/clock.ts';
import { type DeliverWebhook, deliverWebhook, type JobDefinition, retryWebhook } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import type { DeliveryRecord } from '#libs/models/delivery.ts';
import { type DueDelivery, type DueMove, findDueDeliveries, moveDue } from '#libs/models/due-deliveries.ts';
import { type Id, type StoredId, wireId } from '#libs/models/tenant.ts';
import { postponementOf } from './postponement.ts';
import { AHEAD_MAX } from './relay-events.ts';
import type { Traffic } from './traffic.ts';

const BATCH = 500;
/** After this a delivery that is due and was put on the queue is put there again: Redis has lost it. */
export const QUEUE_GRACE_MS = 10_000;
/** So many jobs of the clock's may be ready on a queue. */
const QUEUE_MAX = 2_000;
const NO_ROOM_MS = 1_000;
/** From the third attempt on a delivery goes through the slots for late ones. */
const EARLY_ATTEMPTS = 2;

export function queueFor(delivery: Pick<DeliveryRecord, 'attempts_made'>): JobDefinition<DeliverWebhook> {
  return delivery.attempts_made < EARLY_ATTEMPTS ? deliverWebhook : retryWebhook;
}

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

/** @returns true when there is more. @throws while MongoDB or Redis is away; the deliveries stay due. */
export async function putDueDeliveries(queues: Queues, traffic: Traffic): Promise<boolean> {
  const due = await findDueDeliveries(BATCH);
  if (due.length === 0) return false;
  const { inHand = [], early = [], late = [] } = Object.groupBy(due, placeOf);
  const now = agreedTime();
  await moveDue(inHand.map((delivery) => ({ delivery, dueAt: delivery.lease_until ?? new Date(now) })));
  // The relay fills the queue of first attempts as far as it may: retries, replays and trials must find room above that, or a flood
  // of events would keep them waiting for as long as it lasts.
  const hasRoomEarly = await put(deliverWebhook, early, AHEAD_MAX + QUEUE_MAX);
  const hasRoomLate = await put(retryWebhook, late, QUEUE_MAX);
  return hasRoomEarly && hasRoomLate && due.length === BATCH;

  /** @returns false when the queue is full. */
  async function put(
    definition: JobDefinition<DeliverWebhook>,
    deliveries: DueDelivery[],
    readyMax: number,
  ): Promise<boolean> {
    if (deliveries.length === 0) return true;
    // A queue that is long has work enough; what waits in it must not be put in a second time.
    const hasRoom = (await queues.counts(definition)).ready <= readyMax;
    const dueAt = new Date(now + (hasRoom ? QUEUE_GRACE_MS : NO_ROOM_MS));
    const moves = deliveries.map((delivery): DueMove => {
      const wait = hasRoom ? traffic.foresee(String(delivery.endpoint_id), delivery.postponed) : undefined;
      if (!wait) return { delivery, dueAt };
      const postponement = postponementOf(wait, delivery.postponed);
      return { delivery, dueAt: postponement.nextAt, postponement };
    });
    const going = hasRoom ? moves.filter(({ postponement }) => !postponement) : [];
    await queues.enqueueAll(
      definition,
      going.map(({ delivery }) => entryFor(delivery, delivery.turn + 1)),
    );
    // After, not before: what did not get on the queue is still due.
    await moveDue(moves);
    return hasRoom;
  }
}

function placeOf(delivery: DueDelivery): 'inHand' | 'early' | 'late' {
  // Somebody makes the attempt right now, or has died while making it.
  if (delivery.lease_until && delivery.lease_until > agreedDate()) return 'inHand';
  return queueFor(delivery) === deliverWebhook ? 'early' : 'late';
}
