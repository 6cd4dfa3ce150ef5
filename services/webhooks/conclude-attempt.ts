// Decides what follows from an attempt: delivered, another attempt later, dead, or suspended. It also updates the
// health of the endpoint.
import { agreedTime } from '#libs/clock.ts';
import { deliverWebhook, retryWebhook } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { wireId } from '#libs/models/tenant.ts';
import type { Attempt } from '#libs/models/webhooks/delivery.ts';
import type { WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { deliveryJob } from './delivery-job.ts';
import { recordFailure, recordGone, recordSuccess } from './endpoint-health.ts';
import { ENQUEUE_GRACE_MS } from './limits.ts';
import type { CallOutcome } from './post-signed.ts';
import { waitAfter } from './schedule.ts';
import type { LeasedDelivery } from './store/delivery-leases.ts';
import type { DeliverySettlement, Verdict } from './store/delivery-settlement.ts';
import type { SuspendDelivery } from './suspend-delivery.ts';

/** Shorter waits use the queue's own timer, which is exact. Longer ones use the poller, which looks once a second. */
const SHORT_WAIT_MS = 60_000;
/** The third and later attempts use the queue for late ones. The second comes so soon that it counts as a first. */
const EARLY_ATTEMPTS = 2;

export interface ConcludeOptions {
  queues: Queues;
  retryScale: number;
  settle: (settlement: DeliverySettlement) => Promise<unknown>;
  suspend: SuspendDelivery;
}

export type ConcludeAttempt = (
  delivery: LeasedDelivery,
  endpoint: WebhookEndpointRecord,
  result: { outcome: CallOutcome; attempt: Attempt },
) => Promise<void>;

export function makeConcludeAttempt({ queues, retryScale, settle, suspend }: ConcludeOptions): ConcludeAttempt {
  return async (delivery, endpoint, { outcome, attempt }) => {
    if (outcome.errorClass === 'gone' && (await recordGone(endpoint, attempt)))
      return suspend(delivery, wireId(endpoint._id), attempt);
    const attemptsMade = delivery.attempts_made + 1;
    const waitMs = waitAfter({ attemptsMade, retryAfterMs: outcome.retryAfterMs }, retryScale);
    const verdict = verdictOn(outcome, waitMs);
    await settle({ delivery, verdict, attempt });
    await (outcome.isWell ? recordSuccess(endpoint) : recordFailure(endpoint, attempt));
    if (verdict.move !== 'retryLater' || waitMs === undefined || waitMs > SHORT_WAIT_MS) return;
    // This adds 2 to the revision. The running job may already have revision + 1, and BullMQ ignores a job whose id is
    // still in use.
    const job = deliveryJob(delivery, delivery.revision + 2, waitMs);
    await queues
      .enqueue(attemptsMade < EARLY_ATTEMPTS ? deliverWebhook : retryWebhook, job)
      // If Redis is unavailable, the poller enqueues the delivery, see due_at.
      .catch(() => undefined);
  };
}

function verdictOn(outcome: CallOutcome, waitMs: number | undefined): Verdict {
  if (outcome.isWell) return { move: 'deliver' };
  if (waitMs === undefined) return { move: 'giveUp' };
  const nextAt = agreedTime() + waitMs;
  const dueAt = waitMs > SHORT_WAIT_MS ? nextAt : nextAt + ENQUEUE_GRACE_MS;
  return { move: 'retryLater', nextAt: new Date(nextAt), dueAt: new Date(dueAt) };
}
