// One signed attempt to bring one event to one endpoint, and what follows from how it went.
import type { DeliverWebhook } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import type { Work } from '#libs/jobs/worker.ts';
import type { Attempt } from '#libs/models/delivery.ts';
import {
  type ClaimedDelivery,
  claimDelivery,
  postponeDelivery,
  recallPostponed,
  settleDelivery,
  type Verdict,
} from '#libs/models/delivery-clock.ts';
import { Event, type EventRecord } from '#libs/models/event.ts';
import { secretsOf, WebhookEndpoint, type WebhookEndpointRecord } from '#libs/models/webhook-endpoint.ts';
import type { SecretBox } from '#libs/secret-box.ts';
import { noteFailure, noteSuccess } from './endpoint-health.ts';
import type { Outcome, PostSigned } from './post-signed.ts';
import { entryFor, QUEUE_GRACE_MS, queueFor } from './put-due-deliveries.ts';
import { waitAfter } from './schedule.ts';
import type { Traffic } from './traffic.ts';

/** Shorter waits go through the queue's own timer, which is exact; longer ones through the clock, which looks once a second. */
const SHORT_WAIT_MS = 60_000;

export interface DeliverOptions {
  queues: Queues;
  box: SecretBox;
  traffic: Traffic;
  postSigned: PostSigned;
  /** Longer than any attempt: what is not settled by then is tried again by somebody else. */
  leaseMs: number;
  retryScale: number;
  onOutcome: (outcome: Outcome) => void;
}

export function makeDeliverWebhook(options: DeliverOptions): Work<DeliverWebhook> {
  return async ({ deliveryId, accountId, endpointId, requestId }, { log }) => {
    const admission = await options.traffic.enter(endpointId);
    if (!admission.admitted) {
      return postponeDelivery(accountId, deliveryId, admission.waitMs, { grows: admission.isOpen });
    }
    let outcome: Outcome | undefined;
    try {
      const delivery = await claimDelivery(accountId, deliveryId, new Date(Date.now() + options.leaseMs));
      if (!delivery) return; // Done, held, not due yet, or in other hands: this job is stale.
      outcome = await attempt(delivery, options);
      if (outcome) {
        const { status, errorClass, problem, durationMs } = outcome;
        log.info({ deliveryId, endpointId, requestId, status, errorClass, problem, durationMs }, 'attempt made');
      }
    } finally {
      const { recovered } = admission.leave(outcome);
      if (recovered) await recallPostponed(accountId, endpointId);
    }
  };
}

async function attempt(delivery: ClaimedDelivery, options: DeliverOptions): Promise<Outcome | undefined> {
  const filter = { account_id: delivery.account_id };
  // Read now, not at fan-out: it may have been disabled, moved or given another secret since.
  const [endpoint, event] = await Promise.all([
    WebhookEndpoint.findOne({ ...filter, _id: delivery.endpoint_id }).lean<WebhookEndpointRecord>(),
    Event.findOne({ ...filter, _id: delivery.event_id }).lean<EventRecord>(),
  ]);
  if (!endpoint || !event) {
    await settleDelivery(delivery, { status: 'dead' }, { at: new Date(), error_class: 'endpoint_deleted' });
    return undefined;
  }
  if (!endpoint.enabled) {
    await settleDelivery(delivery, { status: 'held' });
    return undefined;
  }
  const at = new Date();
  const secrets = secretsOf(endpoint, options.box);
  const outcome = await options.postSigned({
    url: endpoint.url,
    eventId: String(event._id),
    body: event.body,
    secrets,
  });
  await settle(delivery, at, outcome, options);
  await (outcome.isWell ? noteSuccess(endpoint) : noteFailure(endpoint, outcome, at));
  options.onOutcome(outcome);
  return outcome;
}

async function settle(delivery: ClaimedDelivery, at: Date, outcome: Outcome, options: DeliverOptions): Promise<void> {
  const attemptsMade = delivery.attempts_made + 1;
  const waitMs = waitAfter({ attemptsMade, retryAfterMs: outcome.retryAfterMs }, options.retryScale);
  const verdict = verdictOn(outcome, waitMs);
  const isOurs = await settleDelivery(delivery, verdict, attemptOf(at, outcome));
  if (!isOurs || verdict.status !== 'pending' || waitMs === undefined || waitMs > SHORT_WAIT_MS) return;
  const next = { ...delivery, attempts_made: attemptsMade };
  await options.queues
    .enqueue(queueFor(next), entryFor(next, delivery.turn + 1, waitMs))
    // Redis is away: the clock brings it, see due_at.
    .catch(() => undefined);
}

function verdictOn(outcome: Outcome, waitMs: number | undefined): Verdict {
  if (outcome.isWell) return { status: 'delivered' };
  if (outcome.errorClass === 'gone') return { status: 'held' };
  if (waitMs === undefined) return { status: 'dead' };
  const nextAt = Date.now() + waitMs;
  const dueAt = waitMs > SHORT_WAIT_MS ? nextAt : nextAt + QUEUE_GRACE_MS;
  return { status: 'pending', nextAt: new Date(nextAt), dueAt: new Date(dueAt) };
}

function attemptOf(at: Date, { durationMs, status, errorClass }: Outcome): Attempt {
  return {
    at,
    ...(errorClass === 'unreachable' ? {} : { duration_ms: durationMs }),
    ...(status === undefined ? {} : { response_status: status }),
    ...(errorClass ? { error_class: errorClass } : {}),
  };
}
