// Keeps account of endpoints that only fail, and disables one after five days or when its receiver says that it is gone.
import { drawNext, lastDrawn } from '#libs/models/counter.ts';
import { requestReconcile, settleEndpoint } from '#libs/models/webhooks/endpoint-reconcile.ts';
import { insertEvent } from '#libs/models/webhooks/event.ts';
import {
  type DisabledReason,
  endpointView,
  pausedAfter,
  WebhookEndpoint,
  type WebhookEndpointRecord,
} from '#libs/models/webhooks/webhook-endpoint.ts';
import { inTransaction } from '#libs/mongo/connection.ts';

/** Svix's figure: longer than a weekend, shorter than a week of wasted calls. */
const FAILING_MAX_MS = 5 * 24 * 3_600_000;
/** One event a week that happens to fail twice is not a dead endpoint. */
const FAILURES_MIN = 5;

/** As it was when it was called. */
type Endpoint = Pick<WebhookEndpointRecord, '_id' | 'account_id' | 'url' | 'failing_since' | 'failures'>;

/** Its owner may have changed the URL while the call was under way: how one URL answers says nothing of the next. */
const asCalled = ({ _id, account_id, url }: Endpoint) => ({ _id, account_id, url });

/** One success ends a row of failures. Endpoints that are well cost no write. */
export async function noteSuccess(endpoint: Endpoint): Promise<void> {
  if (!endpoint.failing_since) return;
  await WebhookEndpoint.updateOne(asCalled(endpoint), { $unset: { failing_since: 1, failures: 1 } });
}

/** @param at when the attempt began. */
export async function noteFailure(endpoint: Endpoint, at: Date): Promise<void> {
  const filter = asCalled(endpoint);
  if (!endpoint.failing_since) {
    await WebhookEndpoint.updateOne({ ...filter, failing_since: null }, { $set: { failing_since: at, failures: 0 } });
  }
  await WebhookEndpoint.updateOne({ ...filter, failing_since: { $ne: null } }, { $inc: { failures: 1 } });
  const isOld = endpoint.failing_since && at.getTime() - endpoint.failing_since.getTime() >= FAILING_MAX_MS;
  if (isOld && (endpoint.failures ?? 0) + 1 >= FAILURES_MIN) await disable(endpoint, 'failing');
}

/** The receiver says that it is gone for good. @returns false when the endpoint has another URL by now, or is wanted again. */
export async function noteGone(endpoint: Endpoint): Promise<boolean> {
  await disable(endpoint, 'gone');
  const { _id, account_id } = endpoint;
  return !(await WebhookEndpoint.exists({ _id, account_id, enabled: true }));
}

async function disable(called: Endpoint, reason: DisabledReason): Promise<void> {
  const accountId = String(called.account_id);
  await inTransaction(async (session) => {
    const sequence = await lastDrawn(session, accountId, 'event');
    const endpoint = await WebhookEndpoint.findOneAndUpdate(
      // A success of another attempt meanwhile, whatever followed, or somebody who was quicker: then there is nothing to disable.
      { ...asCalled(called), enabled: true, ...(reason === 'failing' ? { failing_since: called.failing_since } : {}) },
      { $set: { enabled: false, disabled_reason: reason, updated_at: new Date() }, ...pausedAfter(sequence) },
      { session, returnDocument: 'after' },
    ).lean<WebhookEndpointRecord>();
    if (!endpoint) return;
    await requestReconcile(endpoint, session);
    const { event } = await drawNext(session, accountId, ['event']);
    await insertEvent(session, { accountId, type: 'endpoint.disabled', sequence: event, data: endpointView(endpoint) });
  });
  await settleEndpoint(accountId, String(called._id));
}
