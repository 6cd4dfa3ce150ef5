// Webhook endpoints over HTTP.
import Joi from 'joi';
import { agreedDate } from '#libs/clock.ts';
import { lastDrawn } from '#libs/models/sequences.ts';
import { deliveryId } from '#libs/models/webhooks/delivery.ts';
import { reconcileEndpoint, requestReconcile } from '#libs/models/webhooks/endpoint-reconcile.ts';
import {
  endpointsMaxReached,
  insertEndpoint,
  sameUrlProblems,
  vetEndpointUrl,
} from '#libs/models/webhooks/register-endpoint.ts';
import { endpointView, WebhookEndpoint } from '#libs/models/webhooks/webhook-endpoint.ts';
import { testResponse, webhookResponse, webhookWithSecretResponse } from '#libs/responses/webhook.ts';
import { resultWithin } from '#libs/with-timeout.ts';
import { type PageQuery, pageQuery } from '../http/page.ts';
import { created, deleted, listed, updated } from '../http/response.ts';
import { type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import { changesOf, isAsWanted } from './change-endpoint.ts';
import { type NewWebhook, newWebhook, type WebhookChanges, webhookChanges } from './input.ts';
import { changeEndpoint, disabled, enabledEndpoint, findEndpoint, ownEndpoint } from './own-endpoint.ts';
import { findEndpointPage } from './store/webhook-pages.ts';

const path = '/api/v1/webhooks';
const missing = 'Webhook not found or access denied';
/** The caller waits this long until its deliveries are suspended, resumed or given up. A million of them are reconciled after the response. */
const RECONCILE_LIMIT_MS = 2_000;

export const webhookRoutes: readonly Route[] = [
  route({
    method: 'post',
    path,
    operation: 'createWebhook',
    scope: 'webhooks:write',
    body: newWebhook,
    rechecksKey: true,
    docs: {
      title: 'Create an endpoint',
      summary: 'Register an endpoint to receive events',
      description: 'The response holds the signing secret, which is shown this once.',
      response: webhookWithSecretResponse,
      warns: true,
      conflict: endpointsMaxReached(),
    },
    handler: createWebhook,
  }),
  route({
    method: 'get',
    path,
    operation: 'listWebhooks',
    scope: 'webhooks:read',
    query: Joi.object<PageQuery>(pageQuery),
    docs: {
      title: 'List endpoints',
      summary: 'List endpoints, newest first',
      response: webhookResponse,
    },
    handler: listWebhooks,
  }),
  singleRead({
    path: `${path}/{id}`,
    operation: 'getWebhook',
    scope: 'webhooks:read',
    missing: 'Webhook not found',
    docs: {
      summary: 'Get an endpoint',
      response: webhookResponse,
    },
    read: readWebhook,
  }),
  route({
    method: 'patch',
    path: `${path}/{id}`,
    operation: 'updateWebhook',
    scope: 'webhooks:write',
    body: webhookChanges,
    missing,
    rechecksKey: true,
    docs: {
      title: 'Update an endpoint',
      summary: 'Change an endpoint; enabling it sends what was held',
      response: webhookResponse,
      warns: true,
    },
    handler: updateWebhook,
  }),
  route({
    method: 'delete',
    path: `${path}/{id}`,
    operation: 'deleteWebhook',
    scope: 'webhooks:write',
    missing,
    rechecksKey: true,
    docs: {
      title: 'Delete an endpoint',
      summary: 'Delete an endpoint; what was not delivered to it is given up',
      message: 'Webhook deleted',
    },
    handler: deleteWebhook,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/test`,
    operation: 'testWebhook',
    scope: 'webhooks:write',
    missing,
    docs: {
      title: 'Ping an endpoint',
      summary: 'Send a ping event to this endpoint alone',
      response: testResponse,
      status: 200,
      conflict: disabled(),
    },
    handler: testWebhook,
  }),
];

async function createWebhook({ body, commit, parts: { outbound, box } }: Context<NewWebhook>) {
  // Outside of the transaction, because it resolves a name.
  const vetted = () => vetEndpointUrl(body.url, outbound);
  return commit(async ({ session, accountId, warnings }, url: string) => {
    warnings.push(...(await sameUrlProblems({ accountId, url, session })));
    const input = { ...body, url, description: body.description ?? undefined };
    const endpoint = await insertEndpoint(session, accountId, input, box);
    const view = endpointView(endpoint);
    return {
      ...created({ ...view, secret: box.open(endpoint.secret) }),
      replayBody: created({ ...view, secret: null }).body,
    };
  }, vetted);
}

async function listWebhooks({ caller, query }: Context<unknown, PageQuery>) {
  const { records, ...page } = await findEndpointPage(caller.accountId, query);
  return listed(records.map(endpointView), page, query);
}

async function readWebhook({ caller, id, session }: Reading) {
  const endpoint = await findEndpoint(caller.accountId, id, session);
  return endpoint && endpointView(endpoint);
}

async function updateWebhook(context: Context<WebhookChanges>) {
  const { body, commit, parts } = context;
  const url = body.url === undefined ? undefined : await vetEndpointUrl(body.url, parts.outbound);
  const response = await commit(async ({ session, accountId, warnings }) => {
    const endpoint = await ownEndpoint(context, session);
    if (url) warnings.push(...(await sameUrlProblems({ accountId, url, except: endpoint._id, session })));
    const wanted: WebhookChanges = { ...body, ...(url ? { url } : {}) };
    if (isAsWanted(endpoint, wanted)) return updated(endpointView(endpoint));
    if (body.enabled !== undefined) await requestReconcile(endpoint, session);
    const sequence = await lastDrawn(session, accountId, 'event');
    const changes = changesOf(endpoint, wanted, sequence);
    return updated(endpointView(await changeEndpoint(endpoint, changes, session)));
  });
  if (body.enabled !== undefined) await reconcile(context);
  return response;
}

async function deleteWebhook(context: Context) {
  const response = await context.commit(async ({ session }) => {
    const endpoint = await ownEndpoint(context, session);
    await WebhookEndpoint.deleteOne({ _id: endpoint._id, account_id: endpoint.account_id }, { session });
    await requestReconcile(endpoint, session);
    return deleted('Webhook deleted');
  });
  await reconcile(context);
  return response;
}

/** The change is committed and cannot fail any more: the webhook service reconciles what is left undone here. */
async function reconcile({ caller, id, log, parts }: Context) {
  const reconciled = reconcileEndpoint(caller.accountId, id).then(
    (resumed) => void (resumed > 0 && parts.nudge()),
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
