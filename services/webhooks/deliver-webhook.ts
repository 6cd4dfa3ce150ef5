// One signed attempt to bring one event to one endpoint, and what follows from how it went.
import { LRUCache } from 'lru-cache';
import { agreedDate, agreedTime } from '#libs/clock.ts';
import { type DeliverWebhook, deliverWebhook, retryWebhook } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import type { Work } from '#libs/jobs/worker.ts';
import { type Id, storedId, wireId } from '#libs/models/tenant.ts';
import type { Attempt } from '#libs/models/webhooks/delivery.ts';
import type { ClaimedDelivery } from '#libs/models/webhooks/delivery-clock.ts';
import { requestReconcile, settleEndpoint } from '#libs/models/webhooks/endpoint-reconcile.ts';
import type { EventRecord } from '#libs/models/webhooks/event.ts';
import { secretsOf, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import { retryWhileUnavailable } from '#libs/mongo/retry-while-unavailable.ts';
import type { SecretBox } from '#libs/secret-box.ts';
import type { Logger } from '#libs/service/logger.ts';
import { openAccountReader } from './account-reader.ts';
import { type Hold, makeTakeDelivery } from './acquire-delivery.ts';
import { postponementOf, recallMissed } from './defer-delivery.ts';
import { noteFailure, noteGone, noteSuccess } from './endpoint-health.ts';
import { openEndpointReader } from './endpoint-reader.ts';
import { entryFor, QUEUE_GRACE_MS } from './enqueue-due-deliveries.ts';
import type { EventReader } from './event-reader.ts';
import { inBatches, PATIENT } from './in-batches.ts';
import type { Outcome, PostSigned } from './post-signed.ts';
import { waitAfter } from './schedule.ts';
import { type Settlement, settleDeliveries, type Verdict } from './store/delivery-settlement.ts';
import { recallPostponed } from './store/due-deliveries.ts';
import type { Admission, Traffic, Wait } from './traffic.ts';

/** Shorter waits go through the queue's own timer, which is exact; longer ones through the clock, which looks once a second. */
const SHORT_WAIT_MS = 60_000;
/** From the third attempt on a delivery goes through the slots for late ones. The second comes so soon that it counts as a first. */
const EARLY_ATTEMPTS = 2;
/** With less left of its lease no attempt is begun. */
const LEASE_LEAST_MS = 1_000;
const SECRETS_KEPT = 1_000;
/** How often the log says of an endpoint that its secret cannot be opened. */
const TOLD_EVERY_MS = 10 * 60_000;
/** Nobody was called: what is not signed is not sent. */
const UNSIGNED: Outcome = { isWell: false, durationMs: 0, errorClass: 'secret_unreadable' };

type Admitted = Extract<Admission, { admitted: true }>;

export interface DeliverOptions {
  queues: Queues;
  box: SecretBox;
  traffic: Traffic;
  events: EventReader;
  postSigned: PostSigned;
  /** Longer than any attempt: what is not settled by then is tried again by somebody else. */
  leaseMs: number;
  retryScale: number;
  onOutcome: (outcome: Outcome) => void;
}

export function makeDeliverWebhook(options: DeliverOptions): Work<DeliverWebhook> {
  // An endpoint gets many deliveries with one secret.
  const opened = new LRUCache<string, string>({ max: SECRETS_KEPT, memoMethod: (sealed) => options.box.open(sealed) });
  const box = { open: (sealed: string) => opened.memo(sealed) };
  const told = new LRUCache<Id, true>({ max: SECRETS_KEPT, ttl: TOLD_EVERY_MS });
  const take = makeTakeDelivery(options.leaseMs);
  const endpoints = openEndpointReader();
  const accounts = openAccountReader();
  const recallOthers = inBatches(async (found: WebhookEndpointRecord[]) => {
    for (const { account_id, _id } of new Map(found.map((endpoint) => [wireId(endpoint._id), endpoint])).values())
      await recallPostponed(wireId(account_id), wireId(_id));
    return found;
  }, PATIENT);
  const settle = inBatches(async (settlements: Settlement[]) => {
    await settleDeliveries(settlements);
    return settlements;
  }, PATIENT);

  const noteHolding = inBatches(async (held: ClaimedDelivery[]) => {
    const accounts = new Map(held.map(({ endpoint_id, account_id }) => [wireId(endpoint_id), account_id]));
    await Promise.all(
      [...accounts].map(([id, account_id]) =>
        retryWhileUnavailable(() => requestReconcile({ _id: storedId(id), account_id })),
      ),
    );
    return held;
  }, PATIENT);

  return async (job, { log, isFirstRun }) => {
    const hold = await take(job, isFirstRun);
    if (!hold) return;
    try {
      await deliver(hold, job, log);
    } finally {
      hold.release();
    }
  };

  async function deliver(held: Hold, job: DeliverWebhook, log: Logger): Promise<void> {
    const { delivery } = held;
    const { deliveryId, endpointId } = job;
    const read = () => Promise.all([endpoints.recall(endpointId), options.events.recall(wireId(delivery.event_id))]);
    const seen = await retryWhileUnavailable(read);
    // It took so long that somebody else is about to have it in hand.
    if (held.until() - agreedTime() < LEASE_LEAST_MS) return;
    // What a new primary does not show yet is not gone.
    const [endpoint, event] = seen.every(Boolean) ? seen : await readAfterElection(read);
    if (!endpoint || !event) {
      await settle({
        delivery,
        verdict: { status: 'dead' },
        attempt: { at: agreedDate(), error_class: 'endpoint_deleted' },
      });
    } else if (!endpoint.enabled) {
      await hold(delivery, endpointId);
    } else {
      const admission = await options.traffic.enter(endpointId, delivery.postponed);
      if (!admission.admitted) return putAside(delivery, admission);
      // While it waited for its turn the endpoint may have been changed, disabled or deleted.
      const current = await orLeave(endpoints.recall(endpointId), admission);
      if (!current?.enabled) {
        admission.leave();
        return deliver(held, job, log);
      }
      const { outcome, attempt } = await orLeave(makeAttempt(current, event, log), admission);
      await Promise.all([
        leave(admission, current, outcome, delivery.postponed > 0),
        conclude(delivery, current, outcome, attempt),
      ]);
      const { status, errorClass, problem, durationMs } = outcome;
      const requestId = delivery.request_id ?? undefined;
      log.info({ deliveryId, endpointId, requestId, status, errorClass, problem, durationMs }, 'attempt made');
    }
  }

  async function putAside(delivery: ClaimedDelivery, wait: Wait): Promise<void> {
    await settle({ delivery, verdict: postponed(delivery, wait) });
    if (wait.isOpen)
      await recallMissed(options.traffic, new Map([[wireId(delivery.endpoint_id), wireId(delivery.account_id)]]));
  }

  async function hold(delivery: ClaimedDelivery, endpointId: Id, attempt?: Attempt) {
    // Whoever finds the errand looks again, should we not get there.
    await noteHolding(delivery);
    await settle({ delivery, verdict: { status: 'held' }, ...(attempt ? { attempt } : {}) });
    // Who enabled or deleted it meanwhile has seen to what was held before this one.
    const endpoint = await readAfterElection(() => endpoints.read(endpointId));
    if (!endpoint || endpoint.enabled) await settleEndpoint(wireId(delivery.account_id), endpointId);
  }

  async function makeAttempt(endpoint: WebhookEndpointRecord, event: EventRecord, log: Logger) {
    const account = await retryWhileUnavailable(() => accounts.recall(wireId(event.account_id)));
    const isTest = account?.mode === 'test';
    const at = agreedDate();
    const secrets = signingSecrets(endpoint, log);
    const { url } = endpoint;
    const outcome = secrets
      ? await options.postSigned({ url, eventId: wireId(event._id), body: event.body, secrets, isTest })
      : UNSIGNED;
    return { outcome, attempt: attemptOf(at, outcome) };
  }

  /** @returns undefined when no key opens the current one: that is a failed attempt, or it would be tried for ever. */
  function signingSecrets(endpoint: WebhookEndpointRecord, log: Logger): string[] | undefined {
    try {
      return secretsOf(endpoint, box);
    } catch (error) {
      const endpointId = wireId(endpoint._id);
      if (!told.has(endpointId)) {
        told.set(endpointId, true);
        log.error({ err: error, endpointId }, 'the secret of an endpoint cannot be opened: is its key in SECRET_KEY?');
      }
      return undefined;
    }
  }

  async function leave(
    admission: Admitted,
    endpoint: WebhookEndpointRecord,
    outcome: Outcome,
    wasPostponed: boolean,
  ): Promise<void> {
    // An answer that does not end is one of the calls at a time: otherwise its endpoint could hold any number of connections.
    if (outcome.rest) await outcome.rest;
    const { recovered } = admission.leave(outcome);
    // The breaker that put it aside may have ended with its process: nobody else sends for the others then.
    if (recovered || (wasPostponed && outcome.isWell)) await recallOthers(endpoint);
  }

  async function conclude(
    delivery: ClaimedDelivery,
    endpoint: WebhookEndpointRecord,
    outcome: Outcome,
    attempt: Attempt,
  ): Promise<void> {
    options.onOutcome(outcome);
    if (outcome.errorClass === 'gone' && (await noteGone(endpoint)))
      return hold(delivery, wireId(endpoint._id), attempt);
    const attemptsMade = delivery.attempts_made + 1;
    const waitMs = waitAfter({ attemptsMade, retryAfterMs: outcome.retryAfterMs }, options.retryScale);
    const verdict = verdictOn(outcome, waitMs);
    await settle({ delivery, verdict, attempt });
    await (outcome.isWell ? noteSuccess(endpoint) : noteFailure(endpoint, attempt.at));
    if (verdict.status !== 'pending' || waitMs === undefined || waitMs > SHORT_WAIT_MS) return;
    // The job in hand may be of the turn after the one that was claimed, and BullMQ ignores the id of a job that lives.
    await options.queues
      .enqueue(
        attemptsMade < EARLY_ATTEMPTS ? deliverWebhook : retryWebhook,
        entryFor(delivery, delivery.turn + 2, waitMs),
      )
      // Redis is away: the clock brings it, see due_at.
      .catch(() => undefined);
  }
}

function postponed(delivery: ClaimedDelivery, wait: Wait): Verdict {
  const { nextAt, postponed } = postponementOf(wait, delivery.postponed);
  return { status: 'pending', nextAt, dueAt: nextAt, postponed };
}

function verdictOn(outcome: Outcome, waitMs: number | undefined): Verdict {
  if (outcome.isWell) return { status: 'delivered' };
  if (waitMs === undefined) return { status: 'dead' };
  const nextAt = agreedTime() + waitMs;
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

/** Whoever was admitted and fails on the way makes room for the next. */
async function orLeave<Result>(step: Promise<Result>, admission: Admitted): Promise<Result> {
  try {
    return await step;
  } catch (error) {
    admission.leave();
    throw error;
  }
}
