// Webhook endpoints over HTTP.
import Joi from 'joi';
import { endpointView } from '#libs/models/webhooks/webhook-endpoint.ts';
import { testResponse, webhookResponse, webhookWithSecretResponse } from '#libs/responses/webhook.ts';
import { changeEndpoint, vetEndpointChanges } from '#libs/webhooks/change-endpoint.ts';
import { deleteEndpoint } from '#libs/webhooks/delete-endpoint.ts';
import { type NewWebhook, newWebhook, type WebhookChanges, webhookChanges } from '#libs/webhooks/endpoint-input.ts';
import { vetEndpointUrl } from '#libs/webhooks/endpoint-url.ts';
import { endpointDisabled, findEndpoint } from '#libs/webhooks/own-endpoint.ts';
import { pingEndpoint } from '#libs/webhooks/ping-endpoint.ts';
import { reconcileChange } from '#libs/webhooks/reconcile-change.ts';
import { createEndpoint, endpointsMaxReached } from '#libs/webhooks/register-endpoint.ts';
import { findEndpointPage } from '#libs/webhooks/webhook-pages.ts';
import { type PageQuery, pageQuery } from '../http/page.ts';
import { created, deleted, listed, updated } from '../http/response.ts';
import { type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';

const path = '/api/v1/webhooks';
const missing = 'Webhook not found or access denied';

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
      conflict: endpointDisabled(),
    },
    handler: testWebhook,
  }),
];

async function createWebhook({ body, commit, parts: { outbound, box } }: Context<NewWebhook>) {
  // Outside of the transaction, because it resolves a name.
  const vetted = () => vetEndpointUrl(body.url, outbound);
  return commit(async (unit, url: string) => {
    const { endpoint, secret } = await createEndpoint(unit, { ...body, url }, box);
    const view = endpointView(endpoint);
    return { ...created({ ...view, secret }), replayBody: created({ ...view, secret: null }).body };
  }, vetted);
}

async function listWebhooks({ caller, query }: Context<unknown, PageQuery>) {
  const { records, ...page } = await findEndpointPage(caller.accountId, query);
  return listed(records.map(endpointView), page, query);
}

async function readWebhook({ caller: { accountId }, id, session }: Reading) {
  const endpoint = await findEndpoint({ accountId, session }, id);
  return endpoint && endpointView(endpoint);
}

async function updateWebhook(context: Context<WebhookChanges>) {
  const { body, id, missing, commit, parts } = context;
  const changes = await vetEndpointChanges(body, parts.outbound);
  const response = await commit(async (unit) =>
    updated(endpointView(await changeEndpoint(unit, { id, missing }, changes))),
  );
  if (body.enabled !== undefined) await reconcile(context);
  return response;
}

async function deleteWebhook(context: Context) {
  const { id, missing, commit } = context;
  const response = await commit(async (unit) => {
    await deleteEndpoint(unit, { id, missing });
    return deleted('Webhook deleted');
  });
  await reconcile(context);
  return response;
}

function reconcile({ caller, id, log, parts }: Context) {
  return reconcileChange(caller.accountId, id, { nudge: parts.nudge, log });
}

async function testWebhook({ id, missing, commit }: Context) {
  return commit(async (unit) => {
    const { eventId, deliveryId } = await pingEndpoint(unit, { id, missing });
    return updated({ event_id: eventId, delivery_id: deliveryId });
  });
}
