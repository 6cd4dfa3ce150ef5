// Records how attempts at an endpoint end. Disables it after five days of failures, or when its receiver answers 410
// Gone.
import { pick } from 'es-toolkit/object/pick';
import { lastDrawn } from '#libs/models/sequences.ts';
import type { Attempt } from '#libs/models/webhooks/delivery.ts';
import { pausedAfter } from '#libs/models/webhooks/endpoint-pauses.ts';
import { reconcileEndpoint, requestReconcile } from '#libs/models/webhooks/endpoint-reconcile.ts';
import { insertLastEvent } from '#libs/models/webhooks/event.ts';
import {
  type DisabledReason,
  endpointView,
  NO_FAILURES,
  WebhookEndpoint,
  type WebhookEndpointRecord,
} from '#libs/models/webhooks/webhook-endpoint.ts';
import { inTransaction } from '#libs/mongo/connection.ts';

/** Svix's figure: longer than a weekend, shorter than a week of wasted calls. */
const FAILING_MAX_MS = 5 * 24 * 3_600_000;
/** The least number of failures. An endpoint with one event a week that fails twice is not dead. */
const FAILURES_MIN = 5;

/** The endpoint in the state in which it was called. */
type Endpoint = Pick<WebhookEndpointRecord, '_id' | 'account_id' | 'url' | 'failing_since' | 'failures'>;

/**
 * Returns a filter with the called URL. The account may have changed it during the call, and the response of one URL
 * says nothing about the next.
 */
const asCalled = ({ _id, account_id, url }: Endpoint) => ({ _id, account_id, url });

/** Ends a series of failures, which takes one success. A healthy endpoint costs no write. */
export async function recordSuccess(endpoint: Endpoint): Promise<void> {
  if (!endpoint.failing_since) return;
  await WebhookEndpoint.updateOne(asCalled(endpoint), { $unset: NO_FAILURES });
}

/** Counts a failed attempt. */
export async function recordFailure(endpoint: Endpoint, attempt: Attempt): Promise<void> {
  const { at } = attempt;
  const filter = asCalled(endpoint);
  if (!endpoint.failing_since) {
    await WebhookEndpoint.updateOne({ ...filter, failing_since: null }, { $set: { failing_since: at, failures: 0 } });
  }
  await WebhookEndpoint.updateOne(
    { ...filter, failing_since: { $ne: null } },
    { $inc: { failures: 1 }, $set: { last_failure: failureOf(attempt) } },
  );
  const isOld = endpoint.failing_since && at.getTime() - endpoint.failing_since.getTime() >= FAILING_MAX_MS;
  if (isOld && (endpoint.failures ?? 0) + 1 >= FAILURES_MIN) await disable(endpoint, 'failing', attempt);
}

/** Returns the part of an attempt that the endpoint keeps. */
const failureOf = (attempt: Attempt) => pick(attempt, ['at', 'response_status', 'error_class']);

/** Disables an endpoint that answered 410. @returns false when it has another URL by now, or was enabled again. */
export async function recordGone(endpoint: Endpoint, attempt: Attempt): Promise<boolean> {
  await disable(endpoint, 'gone', attempt);
  const { _id, account_id } = endpoint;
  return !(await WebhookEndpoint.exists({ _id, account_id, enabled: true }));
}

async function disable(called: Endpoint, reason: DisabledReason, attempt: Attempt): Promise<void> {
  const accountId = String(called.account_id);
  await inTransaction(async (session) => {
    const sequence = await lastDrawn(session, accountId, 'event');
    const endpoint = await WebhookEndpoint.findOneAndUpdate(
      // The filter matches nothing when another attempt succeeded meanwhile, or another process was first.
      { ...asCalled(called), enabled: true, ...(reason === 'failing' ? { failing_since: called.failing_since } : {}) },
      {
        $set: {
          enabled: false,
          disabled_reason: reason,
          last_failure: failureOf(attempt),
          updated_at: new Date(),
        },
        ...pausedAfter(sequence),
      },
      { session, returnDocument: 'after' },
    ).lean<WebhookEndpointRecord>();
    if (!endpoint) return;
    await requestReconcile(endpoint, session);
    await insertLastEvent(session, { accountId, type: 'endpoint.disabled', data: endpointView(endpoint) });
  });
  await reconcileEndpoint(accountId, String(called._id));
}
