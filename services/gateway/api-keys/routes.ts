// API keys over HTTP. A key is shown once, when it is made, and cannot grant scopes or a lifetime beyond its own.

import { agreedDate } from '#libs/clock.ts';
import { appError, fieldProblem } from '#libs/errors.ts';
import {
  ApiKey,
  type ApiKeyRecord,
  apiKeyView,
  endApiKey,
  endReplaced,
  issueApiKey,
  KEYS_MAX,
  keysMaxReached,
} from '#libs/models/accounts/api-key.ts';
import { untilForgotten } from '#libs/models/accounts/key-cache.ts';
import { findOwn } from '#libs/models/records.ts';
import { requireScope } from '../http/authenticate.ts';
import type { ListQuery } from '../http/list.ts';
import { created, deleted, type JsonResponse } from '../http/response.ts';
import { type Caller, type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import { apiKeyList, type NewKey, newKey, type Rotation, rotation } from './input.ts';
import { apiKeyResponse, apiKeyWithSecretResponse } from './response.ts';

const path = '/api/v1/keys';
const missing = 'API key not found or access denied';

/** The use of a key does not change its ETag. */
const USED = ['last_used_at'];

export const apiKeyRoutes: readonly Route[] = [
  route({
    method: 'post',
    path,
    operation: 'createApiKey',
    scope: 'keys:write',
    body: newKey,
    rechecksKey: true,
    docs: {
      title: 'Create an API key',
      summary: 'Create an API key; the response is the only place that ever shows it',
      description: 'It may neither have a scope that the calling key lacks nor outlive it: 403.',
      response: apiKeyWithSecretResponse,
      conflict: keysMaxReached(),
    },
    handler: createApiKey,
  }),
  route({
    method: 'get',
    path,
    operation: 'listApiKeys',
    scope: 'keys:read',
    query: apiKeyList.query,
    docs: {
      title: 'List API keys',
      summary: 'List API keys, newest first',
      response: apiKeyResponse,
    },
    handler: listApiKeys,
  }),
  singleRead({
    path: `${path}/{id}`,
    operation: 'getApiKey',
    scope: 'keys:read',
    missing: 'API key not found',
    omitFromTag: USED,
    docs: {
      title: 'Get an API key',
      summary: 'Get what is known of an API key',
      response: apiKeyResponse,
    },
    read: readApiKey,
  }),
  route({
    method: 'delete',
    path: `${path}/{id}`,
    operation: 'revokeApiKey',
    scope: 'keys:write',
    needsNoScope: ({ keyId }, id) => id === keyId,
    missing,
    rechecksKey: true,
    docs: {
      title: 'Revoke an API key',
      summary: 'Revoke an API key, from the next request on',
      description:
        'Another key may have no scope that the calling key lacks: 403. Every key may revoke itself, whatever its scopes.',
      message: 'API key revoked',
    },
    handler: revokeApiKey,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/rotate`,
    operation: 'rotateApiKey',
    scope: 'keys:write',
    body: rotation,
    missing,
    rechecksKey: true,
    docs: {
      title: 'Rotate an API key',
      summary: 'Replace an API key by a new one of the same name and scopes',
      description:
        `An old key that still works counts, too, towards the ${KEYS_MAX} usable keys of an account. ` +
        'The new key expires when the old one would have. It may neither have a scope that the calling key lacks nor outlive it: 403.',
      response: apiKeyWithSecretResponse,
      conflict: appError('api_key_not_rotatable'),
    },
    handler: rotateApiKey,
  }),
];

async function createApiKey({ caller, body, commit }: Context<NewKey>) {
  requireOwnScopes(caller, body.scopes);
  return commit(async ({ session, accountId }) => {
    const { name, scopes, mode, expires_at } = body;
    if (mode && mode !== caller.account.mode) throw fieldProblem('mode', 'other_mode', { mode: caller.account.mode });
    // Not with the rest of the body: a replay succeeds even when this time has passed.
    if (expires_at && expires_at <= agreedDate()) throw fieldProblem('expires_at', 'in_past');
    requireNoLongerLife(caller, expires_at);
    return shownOnce(await issueApiKey({ accountId, name, scopes, expiresAt: expires_at ?? undefined }, session));
  });
}

async function listApiKeys({ caller, query }: Context<unknown, ListQuery>) {
  return apiKeyList.respond({ caller, query }, (records) => records.map(apiKeyView));
}

async function readApiKey({ caller, id, session }: Reading) {
  const record = await findOwn<ApiKeyRecord>(ApiKey, caller.accountId, id, session);
  return record && apiKeyView(record);
}

async function revokeApiKey({ caller, commit, requireRecord }: Context) {
  const response = await commit(async ({ session }) => {
    const record = await requireRecord<ApiKeyRecord>(ApiKey, session);
    if (String(record._id) !== caller.keyId) requireOwnScopes(caller, record.scopes);
    // A second revocation keeps the moment of the first.
    await endApiKey(record, { revoked_at: record.revoked_at ?? agreedDate() }, session);
    return deleted('API key revoked');
  });
  await untilForgotten();
  return response;
}

async function rotateApiKey({ caller, body, commit, requireRecord }: Context<Rotation>) {
  const response = await commit(async ({ session, accountId }) => {
    const record = await requireRecord<ApiKeyRecord>(ApiKey, session);
    // The response contains a key with these scopes: a caller that lacks one must not get it this way.
    requireOwnScopes(caller, record.scopes);
    const now = agreedDate();
    const hasEnded = record.revoked_at || (record.expires_at && record.expires_at <= now);
    if (hasEnded || record.replaced_at) throw appError('api_key_not_rotatable');
    requireNoLongerLife(caller, record.expires_at);
    await endReplaced(record, { now, end: new Date(now.getTime() + body.overlap_seconds * 1000) }, session);
    const { name, scopes, expires_at } = record;
    return shownOnce(
      await issueApiKey({ accountId, name, scopes, expiresAt: expires_at ?? undefined, replaces: record }, session),
    );
  });
  await untilForgotten();
  return response;
}

function shownOnce({ key, record }: { key: string; record: ApiKeyRecord }): JsonResponse {
  const view = apiKeyView(record);
  // The response that an Idempotency-Key replays is stored. An API key is never stored, so the replay has null.
  return { ...created({ ...view, key }), replayBody: created({ ...view, key: null }).body };
}

/** @throws AppError 403 that names the first scope the caller has not got. */
function requireOwnScopes(caller: Caller, scopes: readonly string[]) {
  for (const scope of scopes) requireScope(caller, scope);
}

/** @throws AppError 403 when a key that ends at `end`, or never, would outlive the caller's. */
function requireNoLongerLife({ expiresAt }: Caller, end: Date | null | undefined) {
  if (!expiresAt || (end && end <= expiresAt)) return;
  throw appError('key_outlived', { expires_at: expiresAt.toISOString() });
}
