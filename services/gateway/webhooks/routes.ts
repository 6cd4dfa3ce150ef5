// Webhook endpoints over HTTP.
import Joi from 'joi';
import { agreedDate } from '#libs/clock.ts';
import { lastDrawn } from '#libs/models/counter.ts';
import { isUnchanged } from '#libs/models/records.ts';
import { deliveryId } from '#libs/models/webhooks/delivery.ts';
import { pausedAfter, resumedAfter } from '#libs/models/webhooks/endpoint-pauses.ts';
import { reconcileEndpoint, requestReconcile } from '#libs/models/webhooks/endpoint-reconcile.ts';
import { ENDPOINTS_MAX_REACHED, insertEndpoint, vetEndpointUrl } from '#libs/models/webhooks/register-endpoint.ts';
import { endpointView, WebhookEndpoint, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { resultWithin } from '#libs/with-timeout.ts';
import { type PageQuery, pageQuery } from '../http/page.ts';
import { created, deleted, found, listed, updated } from '../http/response.ts';
import { type Context, type Route, route } from '../http/route.ts';
import { deliveryRoutes } from './delivery-routes.ts';
import { type NewWebhook, newWebhook, type WebhookChanges, webhookChanges } from './input.ts';
import { changeEndpoint, DISABLED, enabledEndpoint, ownEndpoint } from './own-endpoint.ts';
import type { WebhookParts } from './parts.ts';
import { testAnswer, webhookAnswer, webhookWithSecretAnswer } from './response.ts';
import { signingRoutes } from './signing-routes.ts';
import { findEndpointPage } from './store/webhook-pages.ts';

const path = '/api/v1/webhooks';
const missing = 'Webhook not found or access denied';
/** The caller waits this long until its deliveries are suspended, resumed or given up. A million of them are reconciled after the response. */
const RECONCILE_LIMIT_MS = 2_000;

export const webhookRoutes = (parts: WebhookParts): readonly Route[] => [
  route({
    method: 'post',
    path,
    operation: 'createWebhook',
    summary: 'Register an endpoint to receive events',
    description: 'The answer holds the signing secret, which is shown this once.',
    scope: 'webhooks:write',
    body: newWebhook,
    answers: webhookWithSecretAnswer,
    conflict: ENDPOINTS_MAX_REACHED,
    outlastsKey: true,
    handler: (context: Context<NewWebhook>) => createWebhook(context, parts),
  }),
  route({
    method: 'get',
    path,
    operation: 'listWebhooks',
    summary: 'List endpoints, newest first',
    scope: 'webhooks:read',
    query: Joi.object<PageQuery>(pageQuery),
    answers: webhookAnswer,
    handler: listWebhooks,
  }),
  route({
    method: 'get',
    path: `${path}/{id}`,
    operation: 'getWebhook',
    summary: 'Get an endpoint',
    scope: 'webhooks:read',
    missing: 'Webhook not found',
    answers: webhookAnswer,
    handler: getWebhook,
  }),
  route({
    method: 'patch',
    path: `${path}/{id}`,
    operation: 'updateWebhook',
    summary: 'Change an endpoint; enabling it sends what was held',
    scope: 'webhooks:write',
    body: webhookChanges,
    missing,
    answers: webhookAnswer,
    outlastsKey: true,
    handler: (context: Context<WebhookChanges>) => updateWebhook(context, parts),
  }),
  route({
    method: 'delete',
    path: `${path}/{id}`,
    operation: 'deleteWebhook',
    summary: 'Delete an endpoint; what was not delivered to it is given up',
    scope: 'webhooks:write',
    missing,
    message: 'Webhook deleted',
    outlastsKey: true,
    handler: (context: Context) => deleteWebhook(context, parts),
  }),
  route({
    method: 'post',
    path: `${path}/{id}/test`,
    operation: 'testWebhook',
    summary: 'Send a ping event to this endpoint alone',
    scope: 'webhooks:write',
    status: 200,
    answers: testAnswer,
    conflict: DISABLED,
    missing,
    handler: testWebhook,
  }),
  ...signingRoutes(parts),
  ...deliveryRoutes(parts),
];

async function createWebhook({ body, commit }: Context<NewWebhook>, { outbound, box }: WebhookParts) {
  // Outside of the transaction, because it resolves a name.
  const vetted = () => vetEndpointUrl(body.url, outbound);
  return commit(async ({ session, accountId }, url: string) => {
    const input = { ...body, url, description: body.description ?? undefined };
    const endpoint = await insertEndpoint(session, accountId, input, box);
    const view = endpointView(endpoint);
    return { ...created({ ...view, secret: box.open(endpoint.secret) }), remember: created(view).body };
  }, vetted);
}

async function listWebhooks({ caller, query }: Context<unknown, PageQuery>) {
  const { records, ...page } = await findEndpointPage(caller.accountId, query);
  return listed(records.map(endpointView), page, query);
}

async function getWebhook(context: Context) {
  return found(endpointView(await ownEndpoint(context)));
}

async function updateWebhook(context: Context<WebhookChanges>, { outbound, nudge }: WebhookParts) {
  const { body, commit, requireMatch } = context;
  const url = body.url === undefined ? undefined : await vetEndpointUrl(body.url, outbound);
  const answer = await commit(async ({ session, accountId }) => {
    const endpoint = await ownEndpoint(context, session);
    await requireMatch(() => endpointView(endpoint));
    const wanted: WebhookChanges = { ...body, ...(url ? { url } : {}) };
    if (isAsWanted(endpoint, wanted)) return updated(endpointView(endpoint));
    if (body.enabled !== undefined) await requestReconcile(endpoint, session);
    const sequence = await lastDrawn(session, accountId, 'event');
    const changes = changesOf(endpoint, wanted, sequence);
    return updated(endpointView(await changeEndpoint(endpoint, changes, session)));
  });
  if (body.enabled !== undefined) await reconcile(context, nudge);
  return answer;
}

/** True when nothing would change: neither the endpoint nor its record of failures. */
function isAsWanted(endpoint: WebhookEndpointRecord, { description, ...rest }: WebhookChanges): boolean {
  const given = description === undefined ? rest : { ...rest, description: description || null };
  if (!isUnchanged(endpoint, given)) return false;
  if (rest.enabled === undefined) return true;
  const { failing_since, failures, disabled_reason } = endpoint;
  return rest.enabled ? !failing_since && !failures && !disabled_reason : disabled_reason === 'manual';
}

/** @param sequence of the account's latest event. */
function changesOf(
  endpoint: WebhookEndpointRecord,
  { enabled, description, ...rest }: WebhookChanges,
  sequence: number,
) {
  // Another URL, or the caller says that it is well again: the record of failures starts anew.
  const isFresh = (rest.url !== undefined && rest.url !== endpoint.url) || enabled === true;
  return {
    $set: {
      ...rest,
      ...(description ? { description } : {}),
      ...(enabled === undefined ? {} : { enabled }),
      ...(enabled === false ? { disabled_reason: 'manual' } : {}),
      ...(enabled && !endpoint.enabled ? { pauses: resumedAfter(endpoint, sequence) } : {}),
      updated_at: new Date(),
    },
    // Only when it was enabled: a second disabling must not shorten the pause.
    ...(enabled === false && endpoint.enabled ? pausedAfter(sequence) : {}),
    $unset: {
      ...(description === null || description === '' ? { description: 1 as const } : {}),
      ...(isFresh ? { failing_since: 1 as const, failures: 1 as const } : {}),
      ...(enabled ? { disabled_reason: 1 as const } : {}),
    },
  };
}

async function deleteWebhook(context: Context, { nudge }: WebhookParts) {
  const answer = await context.commit(async ({ session }) => {
    const endpoint = await ownEndpoint(context, session);
    await context.requireMatch(() => endpointView(endpoint));
    await WebhookEndpoint.deleteOne({ _id: endpoint._id, account_id: endpoint.account_id }, { session });
    await requestReconcile(endpoint, session);
    return deleted('Webhook deleted');
  });
  await reconcile(context, nudge);
  return answer;
}

/** The change is committed and cannot fail any more: the webhook service reconciles what is left undone here. */
async function reconcile({ caller, id, log }: Context, nudge: () => void) {
  const reconciled = reconcileEndpoint(caller.accountId, id).then(
    (resumed) => void (resumed > 0 && nudge()),
    (error) =>
      log.warn(
        { err: error, endpointId: id },
        'reconciling the deliveries of this endpoint failed; the webhook service retries within a minute',
      ),
  );
  await resultWithin(RECONCILE_LIMIT_MS, reconciled);
}

async function testWebhook(context: Context) {
  return context.commit(async ({ session, announce }) => {
    const endpoint = await enabledEndpoint(context, session);
    // A concurrent disabling conflicts with this write and comes before or after it: between the two, this delivery would never be made.
    await changeEndpoint(endpoint, { $set: { tested_at: agreedDate() } }, session);
    const message = 'If you can read this and verify its signature, the endpoint works.';
    const eventId = await announce('ping', { webhook_id: context.id, message }, context.id);
    return updated({ event_id: eventId, delivery_id: deliveryId(String(eventId), context.id) });
  });
}
