// The job of one attempt: acquires the delivery, waits for admission, makes the attempt, and records what follows.
import { agreedDate, agreedTime } from '#libs/clock.ts';
import type { DeliverWebhook } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import type { Work } from '#libs/jobs/worker.ts';
import { wireId } from '#libs/models/tenant.ts';
import type { WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import { retryWhileUnavailable } from '#libs/mongo/retry-while-unavailable.ts';
import type { SecretBox } from '#libs/secret-box.ts';
import type { Logger } from '#libs/service/logger.ts';
import { type DeliveryLease, makeAcquireDelivery } from './acquire-delivery.ts';
import { makeAttemptDelivery } from './attempt-delivery.ts';
import { makeConcludeAttempt } from './conclude-attempt.ts';
import { deferralOf, recallIfClosed } from './defer-delivery.ts';
import { openAccountLoader } from './loading/account-loader.ts';
import { openEndpointLoader } from './loading/endpoint-loader.ts';
import type { EventLoader } from './loading/event-loader.ts';
import { inBatches, PATIENT } from './loading/in-batches.ts';
import type { Outcome, PostSigned } from './post-signed.ts';
import type { LeasedDelivery } from './store/delivery-leases.ts';
import { type Settlement, settleDeliveries } from './store/delivery-settlement.ts';
import { recallDeferred } from './store/due-deliveries.ts';
import { makeSuspendDelivery } from './suspend-delivery.ts';
import type { Admitted, Wait } from './traffic/admission.ts';
import type { Traffic } from './traffic/traffic.ts';

/** With less left of its lease no attempt begins. */
const LEASE_LEFT_MIN_MS = 1_000;

export interface DeliverOptions {
  queues: Queues;
  box: SecretBox;
  traffic: Traffic;
  events: EventLoader;
  postSigned: PostSigned;
  /** Longer than any attempt: after it another worker makes the attempt again. */
  leaseMs: number;
  retryScale: number;
  onOutcome: (outcome: Outcome) => void;
}

export function makeDeliverWebhook(options: DeliverOptions): Work<DeliverWebhook> {
  const { traffic } = options;
  const accounts = openAccountLoader();
  const endpoints = openEndpointLoader();
  const settle = inBatches(async (settlements: Settlement[]) => {
    await settleDeliveries(settlements);
    return settlements;
  }, PATIENT);
  const recallAllDeferred = inBatches(async (recovered: WebhookEndpointRecord[]) => {
    for (const { account_id, _id } of new Map(recovered.map((endpoint) => [wireId(endpoint._id), endpoint])).values())
      await recallDeferred(wireId(account_id), wireId(_id));
    return recovered;
  }, PATIENT);
  const acquire = makeAcquireDelivery(options.leaseMs);
  const attemptDelivery = makeAttemptDelivery(options);
  const suspend = makeSuspendDelivery({ settle, endpoints });
  const conclude = makeConcludeAttempt({ ...options, settle, suspend });

  return async (job, { log, isFirstRun }) => {
    const lease = await acquire(job, isFirstRun);
    if (!lease) return;
    try {
      await deliver(lease, job, log);
    } finally {
      lease.release();
    }
  };

  async function deliver(lease: DeliveryLease, job: DeliverWebhook, log: Logger): Promise<void> {
    const { delivery } = lease;
    const { deliveryId, endpointId } = job;
    const load = () =>
      Promise.all([
        endpoints.load(endpointId),
        options.events.load(wireId(delivery.event_id)),
        accounts.load(wireId(delivery.account_id)),
      ]);
    const seen = await retryWhileUnavailable(load);
    // Loading took so long that another worker is about to acquire the delivery.
    if (isRunningOut(lease)) return;
    // A new primary may not show a record yet that exists.
    const [endpoint, event, account] = seen.every(Boolean) ? seen : await readAfterElection(load);
    if (!endpoint || !event) {
      const attempt = { at: agreedDate(), error_class: 'endpoint_deleted' };
      await settle({ delivery, verdict: { move: 'giveUp' }, attempt });
      return;
    }
    if (!endpoint.enabled) return suspend(delivery, endpointId);
    const admission = await traffic.admit(endpointId, delivery.deferrals);
    if (!admission.admitted) return defer(delivery, admission);
    // While the attempt waited here, the endpoint may have been changed, disabled or deleted, and the lease goes on running.
    const current = await orRelease(endpoints.load(endpointId), admission);
    if (!current?.enabled || isRunningOut(lease)) {
      admission.release();
      return deliver(lease, job, log);
    }
    const result = await orRelease(
      attemptDelivery(current, { event, isTest: account?.mode === 'test' }, log),
      admission,
    );
    options.onOutcome(result.outcome);
    await Promise.all([
      release(admission, current, result.outcome, delivery.deferrals > 0),
      conclude(delivery, current, result),
    ]);
    const { status, errorClass, problem, durationMs } = result.outcome;
    const requestId = delivery.request_id ?? undefined;
    log.info({ deliveryId, endpointId, requestId, status, errorClass, problem, durationMs }, 'attempt made');
  }

  async function defer(delivery: LeasedDelivery, wait: Wait): Promise<void> {
    await settle({ delivery, verdict: { move: 'defer', deferral: deferralOf(wait, delivery.deferrals) } });
    if (wait.isOpen)
      await recallIfClosed(traffic, new Map([[wireId(delivery.endpoint_id), wireId(delivery.account_id)]]));
  }

  async function release(
    admission: Admitted,
    endpoint: WebhookEndpointRecord,
    outcome: Outcome,
    wasDeferred: boolean,
  ): Promise<void> {
    // A response that does not end still counts as a call in flight: otherwise its endpoint could hold any number of connections.
    if (outcome.rest) await outcome.rest;
    const { recovered } = admission.release(outcome);
    // The process whose breaker deferred it may have ended: then no other process recalls the rest.
    if (recovered || (wasDeferred && outcome.isWell)) await recallAllDeferred(endpoint);
  }
}

function isRunningOut(lease: DeliveryLease): boolean {
  return lease.until() - agreedTime() < LEASE_LEFT_MIN_MS;
}

/** An attempt that was admitted and fails on the way makes room for the next one. */
async function orRelease<Result>(step: Promise<Result>, admission: Admitted): Promise<Result> {
  try {
    return await step;
  } catch (error) {
    admission.release();
    throw error;
  }
}
