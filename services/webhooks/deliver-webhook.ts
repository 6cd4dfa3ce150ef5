// The job of one attempt: acquires the delivery, waits for admission, makes the attempt, and records the outcome.
import { agreedDate, agreedTime } from '#libs/clock.ts';
import type { DeliverWebhook } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import type { JobHandler } from '#libs/jobs/worker.ts';
import { findAccountModes } from '#libs/models/accounts/account.ts';
import { openTryAgain } from '#libs/models/operations/round-try.ts';
import { storedId, wireId } from '#libs/models/tenant.ts';
import type { WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import { retryWhileUnavailable } from '#libs/mongo/retry-while-unavailable.ts';
import type { SecretBox } from '#libs/secret-box.ts';
import type { Logger } from '#libs/service/logger.ts';
import { type DeliveryLease, makeAcquireDelivery } from './acquire-delivery.ts';
import { makeAttemptDelivery } from './attempt-delivery.ts';
import { makeConcludeAttempt } from './conclude-attempt.ts';
import { deferralOf, recallIfClosed } from './defer-delivery.ts';
import type { EventLoader } from './loading/event-loader.ts';
import { findInBatches, inBatches, PATIENT } from './loading/in-batches.ts';
import type { CallOutcome, PostSigned } from './post-signed.ts';
import type { LeasedDelivery } from './store/delivery-leases.ts';
import { type DeliverySettlement, settleDeliveries } from './store/delivery-settlement.ts';
import { recallDeferred } from './store/due-deliveries.ts';
import { findEndpoints } from './store/endpoints.ts';
import type { EventHead } from './store/events.ts';
import { makeSuspendDelivery } from './suspend-delivery.ts';
import type { Admitted, Wait } from './traffic/admission.ts';
import { openBodyRoom } from './traffic/body-room.ts';
import type { Traffic } from './traffic/traffic.ts';

/** The least time that must be left of the lease for an attempt to begin. */
const LEASE_LEFT_MIN_MS = 1_000;
/** The least time that an attempt with a large body waits for those in flight. */
const BODY_WAIT_MS = 1_000;

export interface DeliverOptions {
  queues: Queues;
  box: SecretBox;
  traffic: Traffic;
  events: EventLoader;
  postSigned: PostSigned;
  /** Longer than any attempt. After it another worker makes the attempt again. */
  leaseMs: number;
  retryScale: number;
  onOutcome: (outcome: CallOutcome) => void;
}

export function makeDeliverWebhook(options: DeliverOptions): JobHandler<DeliverWebhook> {
  const { traffic } = options;
  const findAccount = findInBatches(findAccountModes);
  const findEndpoint = findInBatches(findEndpoints);
  const settle = inBatches(async (settlements: DeliverySettlement[]) => {
    await settleDeliveries(settlements);
    return settlements;
  }, PATIENT);
  const recallAllDeferred = inBatches(async (recovered: WebhookEndpointRecord[]) => {
    for (const { account_id, _id } of new Map(recovered.map((endpoint) => [wireId(endpoint._id), endpoint])).values())
      await recallDeferred(wireId(account_id), wireId(_id));
    return recovered;
  }, PATIENT);
  const tryAgain = openTryAgain('attempts of deliveries');
  const bodyRoom = openBodyRoom();
  const acquire = makeAcquireDelivery(options.leaseMs);
  const attemptDelivery = makeAttemptDelivery(options);
  const suspend = makeSuspendDelivery({ settle, findEndpoint });
  const conclude = makeConcludeAttempt({ ...options, settle, suspend });

  return async (job, { log, isFirstRun }) => {
    if (isFirstRun && !job.isAgain) {
      await attempt(job, await acquire(job, isFirstRun), log);
      return;
    }
    const mine: { lease?: DeliveryLease | undefined } = {};
    const record = { id: storedId(job.deliveryId), accountId: job.accountId };
    const tried = await tryAgain(record, async () => {
      mine.lease = await acquire(job, false);
      await attempt(job, mine.lease, log);
    });
    if (tried.isDone) return;
    const { setAside, retryAt, error } = tried;
    if (setAside)
      log.error(
        { err: error, errorId: setAside.id, deliveryId: job.deliveryId },
        'this delivery is set aside and tried again in a day',
      );
    // After a failure the lease still belongs to this worker.
    const lease = retryAt && (mine.lease ?? (await acquire(job, false)));
    if (lease) await postpone(lease, retryAt);
    if (error) throw error;
  };

  async function attempt(job: DeliverWebhook, lease: DeliveryLease | undefined, log: Logger): Promise<void> {
    if (!lease) return;
    try {
      await deliver(lease, job, log);
    } finally {
      lease.release();
    }
  }

  async function postpone({ delivery, release: end }: DeliveryLease, nextAt: Date): Promise<void> {
    end();
    await settle({ delivery, verdict: { move: 'defer', deferral: { nextAt, deferrals: delivery.deferrals } } });
  }

  async function deliver(lease: DeliveryLease, job: DeliverWebhook, log: Logger): Promise<void> {
    const { delivery } = lease;
    const { deliveryId, endpointId } = job;
    const load = () =>
      Promise.all([
        findEndpoint(endpointId),
        options.events.load(wireId(delivery.event_id)),
        findAccount(wireId(delivery.account_id)),
      ]);
    const seen = await retryWhileUnavailable(load);
    // Loading took so long that another worker is about to acquire the delivery.
    if (isRunningOut(lease)) return;
    // A new primary may not show an existing record yet.
    const [endpoint, event, account] = seen.every(Boolean) ? seen : await readAfterElection(load);
    if (!endpoint || !event) return giveUp(delivery);
    if (!endpoint.enabled) return suspend(delivery, endpointId);
    const admission = await traffic.admit(endpointId, delivery.deferrals);
    if (!admission.admitted) return defer(delivery, admission);
    // The endpoint may have been changed, disabled or deleted while the attempt waited here, and the lease goes on
    // running.
    const current = await orRelease(findEndpoint(endpointId), admission);
    if (!current?.enabled || isRunningOut(lease)) {
      admission.release();
      return deliver(lease, job, log);
    }
    const giveBack = bodyRoom.take(event.stored_bytes);
    if (!giveBack) {
      admission.release();
      return defer(delivery, { waitMs: BODY_WAIT_MS * (1 + Math.random()), isOpen: false });
    }
    const isTest = account?.mode === 'test';
    const result = await orRelease(call(current, event, isTest, log).finally(giveBack), admission);
    if (!result) {
      admission.release();
      return giveUp(delivery);
    }
    options.onOutcome(result.outcome);
    await Promise.all([
      release(admission, current, result.outcome, delivery.deferrals > 0),
      conclude(delivery, current, result),
    ]);
    const { status, errorClass, problem, durationMs } = result.outcome;
    const requestId = delivery.request_id ?? undefined;
    log.info({ deliveryId, endpointId, requestId, status, errorClass, problem, durationMs }, 'attempt made');
  }

  /** Gives up a delivery whose endpoint or event does not exist any more. */
  async function giveUp(delivery: LeasedDelivery): Promise<void> {
    const attempt = { at: agreedDate(), error_class: 'endpoint_deleted' };
    await settle({ delivery, verdict: { move: 'giveUp' }, attempt });
  }

  /** Calls the endpoint. @returns undefined when the event does not exist any more. */
  async function call(endpoint: WebhookEndpointRecord, event: EventHead, isTest: boolean, log: Logger) {
    const body = await options.events.bodyOf(event);
    return body === undefined ? undefined : attemptDelivery(endpoint, { eventId: event._id, body, isTest }, log);
  }

  async function defer(delivery: LeasedDelivery, wait: Wait): Promise<void> {
    await settle({ delivery, verdict: { move: 'defer', deferral: deferralOf(wait, delivery.deferrals) } });
    if (wait.isOpen)
      await recallIfClosed(traffic, new Map([[wireId(delivery.endpoint_id), wireId(delivery.account_id)]]));
  }

  async function release(
    admission: Admitted,
    endpoint: WebhookEndpointRecord,
    outcome: CallOutcome,
    wasDeferred: boolean,
  ): Promise<void> {
    // A response that does not end still counts as a call in flight. Otherwise its endpoint could hold any number of
    // connections.
    if (outcome.rest) await outcome.rest;
    const { recovered } = admission.release(outcome);
    // The process whose breaker deferred it may have ended. Then no other process recalls the rest.
    if (recovered || (wasDeferred && outcome.isWell)) await recallAllDeferred(endpoint);
  }
}

function isRunningOut(lease: DeliveryLease): boolean {
  return lease.until() - agreedTime() < LEASE_LEFT_MIN_MS;
}

/** Runs a step of an admitted attempt. If it fails, the admission is released for the next attempt. */
async function orRelease<Result>(step: Promise<Result>, admission: Admitted): Promise<Result> {
  try {
    return await step;
  } catch (error) {
    admission.release();
    throw error;
  }
}
