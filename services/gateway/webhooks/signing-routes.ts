// The secret of an endpoint over HTTP: a new one, and what is wrong when a signature does not verify.
import { allows } from '#libs/models/accounts/api-key.ts';
import { isId } from '#libs/models/tenant.ts';
import { secretsOf } from '#libs/models/webhooks/endpoint-secrets.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { endpointView, WebhookEndpoint, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import { diagnosisResponse, webhookWithSecretResponse } from '#libs/responses/webhook.ts';
import type { SecretBox } from '#libs/secret-box.ts';
import { rotateSecret } from '#libs/webhooks/rotate-secret.ts';
import { updated } from '../http/response.ts';
import { type Context, type Route, route } from '../http/route.ts';
import { RECEIVED_CALL_BYTES_MAX, type ReceivedCall, receivedCall } from './input.ts';
import { diagnose, type Finding } from './signature-doctor.ts';

const path = '/api/v1/webhooks';
const missing = 'Webhook not found or access denied';

export const signingRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: `${path}/{id}/rotate-secret`,
    operation: 'rotateWebhookSecret',
    scope: 'webhooks:write',
    missing,
    rechecksKey: true,
    docs: {
      title: 'Rotate the secret',
      summary: 'Give the endpoint a new secret; the old one keeps signing beside it for 24 hours',
      response: webhookWithSecretResponse,
      status: 200,
    },
    handler: giveNewSecret,
  }),
  route({
    method: 'post',
    path: `${path}/doctor`,
    operation: 'diagnoseSignature',
    scope: 'webhooks:read',
    body: receivedCall,
    bodyLimitBytes: RECEIVED_CALL_BYTES_MAX,
    valueLimitBytes: RECEIVED_CALL_BYTES_MAX,
    storesNothing: true,
    missing,
    docs: {
      title: 'Diagnose a signature',
      summary: 'Find out why a received call does not verify',
      description:
        'Give the headers and the raw body as they arrived. Nothing is sent and nothing is stored. The place where a body differs is named ' +
        'when its signature is ours, or for a key with `events:read`.',
      response: diagnosisResponse,
      status: 200,
    },
    handler: diagnoseSignature,
  }),
];

async function giveNewSecret({ id, missing, commit, parts }: Context) {
  return commit(async (unit) => {
    const { endpoint, secret } = await rotateSecret(unit, { id, missing }, parts.box);
    const view = endpointView(endpoint);
    return { ...updated({ ...view, secret }), replayBody: updated({ ...view, secret: null }).body };
  });
}

async function diagnoseSignature({ body, caller, missing, parts }: Context<ReceivedCall>) {
  const { headers, body: bytes, webhook_id } = body;
  const filter = { account_id: caller.accountId, ...(webhook_id ? { _id: webhook_id } : {}) };
  const endpoints = await readAfterElection(() => WebhookEndpoint.find(filter).lean<WebhookEndpointRecord[]>());
  if (webhook_id && endpoints.length === 0) throw missing();
  const opened = endpoints.map((endpoint) => ({ url: endpoint.url, secrets: secretsIn(endpoint, parts.box) }));
  const secrets = opened.flatMap((endpoint) => endpoint.secrets);
  const unread = opened.filter((endpoint) => endpoint.secrets.length === 0);
  const [, id = ''] = Object.entries(headers).find(([name]) => name.toLowerCase().trim() === 'webhook-id') ?? [];
  const own = { _id: id.trim(), account_id: caller.accountId };
  const event = isId(own._id) ? await readAfterElection(() => Event.findOne(own).lean()) : null;
  const diagnosis = diagnose({
    headers,
    body: bytes,
    secrets,
    sent: event?.body,
    mayReadEvents: allows(caller.scopes, 'events:read'),
  });
  if (!diagnosis.valid) diagnosis.findings.push(...unread.map(({ url }) => unreadableSecret(url)));
  return updated(diagnosis);
}

/** Returns the secrets that may have signed for the endpoint; none when they were sealed with a key that this gateway no longer has. */
function secretsIn(endpoint: WebhookEndpointRecord, box: SecretBox) {
  try {
    return secretsOf(endpoint, box).map((secret, index) => ({ url: endpoint.url, secret, isPrevious: index > 0 }));
  } catch {
    return [];
  }
}

function unreadableSecret(url: string): Finding {
  const message = `The secret of the endpoint ${url} cannot be read any more, so nothing is sent to it. Rotate it.`;
  return { check: 'secret', ok: false, message };
}
