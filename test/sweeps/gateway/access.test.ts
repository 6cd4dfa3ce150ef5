// Authorisation: every operation × wrong credentials, every operation × scopes.
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { memoize } from 'es-toolkit/function/memoize';
import { makeApiKey } from '#libs/api-key.ts';
import { ApiKey, SCOPES } from '#libs/models/accounts/api-key.ts';
import { every, sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyFor, filledPath, neededQuery, operations, withNeeded } from '../../support/operations.ts';
import { create, createClient, UNKNOWN_ID } from '../../support/records.ts';
import { parametersOf, routeTable } from '../../support/route-table.ts';

const REFUSAL = { error: 'Unauthorized: Invalid or revoked API key', code: 'unauthorized', params: {} };

let gateway: TestGateway;
let revoked: string;
let expired: string;
beforeAll(async () => {
  gateway = await startGateway();
  const make = () => create(gateway, '/api/v1/keys', { name: 'x', scopes: ['*'] });
  const [first, second] = [await make(), await make()];
  await gateway.delete(`/api/v1/keys/${first.id}`);
  await ApiKey.updateOne({ _id: second.id, account_id: gateway.account.id }, { $set: { expires_at: new Date() } });
  [revoked, expired] = [first.key, second.key];
});
afterAll(() => gateway.close());

const swapped = (key: string) => key.slice(0, 20) + (key[20] === 'a' ? 'b' : 'a') + key.slice(21);

const credentials: [string, () => Record<string, string | string[]>][] = [
  ['no header', () => ({})],
  ['an empty header', () => ({ Authorization: '' })],
  ['the scheme alone', () => ({ Authorization: 'Bearer ' })],
  ['another scheme', () => ({ Authorization: `Basic ${Buffer.from(`x:${gateway.account.key}`).toString('base64')}` })],
  ['the key without a scheme', () => ({ Authorization: gateway.account.key })],
  ['a tab', () => ({ Authorization: `Bearer\t${gateway.account.key}` })],
  ['two keys', () => ({ Authorization: `Bearer ${gateway.account.key}, Bearer ${gateway.account.key}` })],
  ['the key in a cookie', () => ({ Cookie: `Authorization=Bearer ${gateway.account.key}` })],
  ['the key in another header', () => ({ 'X-Api-Key': gateway.account.key })],
  ['a revoked key', () => ({ Authorization: `Bearer ${revoked}` })],
  ['an expired key', () => ({ Authorization: `Bearer ${expired}` })],
  ['a key that was never issued', () => ({ Authorization: `Bearer ${makeApiKey()}` })],
  ['one character changed', () => ({ Authorization: `Bearer ${swapped(gateway.account.key)}` })],
  ['one character less', () => ({ Authorization: `Bearer ${gateway.account.key.slice(0, -1)}` })],
  ['a key of ten kilobytes', () => ({ Authorization: `Bearer ${'k'.repeat(10_000)}` })],
  ['a key with letters beyond ASCII', () => ({ Authorization: 'Bearer kéy' })],
];

/** One middleware reads the header for all operations, so each operation tries some of the credentials. */
const STEP = 4;

/** Returns an account whose key has these scopes, the same one for all operations of a scope. */
const accountWith = memoize((scopes: string[]) => gateway.workspace.account({ scopes }), {
  getCacheKey: (scopes) => scopes.join(),
});

describe.each(sampled(routeTable).map((row, index) => [row.operation, row, index] as const))(
  '%s',
  (operation, row, index) => {
    const path = row.path.replace('{id}', UNKNOWN_ID);
    const method = row.method.toUpperCase();

    test.each(every(credentials, index === 0 ? 1 : STEP, index))(
      'when it is called with %s, then 401 with the same response',
      async (_what, headers) => {
        const reply = await send(method, path, headers());

        expect(reply).toEqual({ status: 401, challenge: 'Bearer', body: REFUSAL });
      },
    );

    test('when the key lacks only the required scope, then 403 names it; when it has only that scope, then it is admitted', async () => {
      const writes = row.scope.replace(/:read$/, ':write');
      const others = SCOPES.filter((scope) => scope !== row.scope && scope !== writes);
      const [without, only] = [await accountWith(others), await accountWith([row.scope])];

      const rejected = await gateway.call(method, path, { key: without.key });
      expect([rejected.status, rejected.body]).toEqual([
        403,
        expect.objectContaining({ error: `Forbidden: API key lacks the ${row.scope} scope` }),
      ]);
      const taken = await gateway.call(method, path, { key: only.key, body: operations[operation]?.body });
      expect(taken.status).not.toBe(401);
      expect(taken.body.error).not.toBe(rejected.body.error);
    });
  },
);

test('when an operation does not support dry runs, then requesting one is 400 and nothing is done', async () => {
  const { id } = await createClient(gateway);
  const real = routeTable.filter((row) => !('dry_run' in parametersOf(row)));
  const message = 'dry_run is not known to this operation';
  for (const { method, path, operation, details } of real) {
    const needed = await neededQuery(gateway, operation, gateway.account);
    const body = await bodyFor(gateway, operation, gateway.account);
    for (const asked of ['true', 'false', '']) {
      const url = `${filledPath(path, id)}?${withNeeded(`dry_run=${asked}`, needed)}`;
      const reply = await gateway.call(method.toUpperCase(), url, { body });
      const problem = details === 'list' ? [message] : { dry_run: [message] };
      expect([operation, reply.status, reply.body]).toEqual([
        operation,
        400,
        expect.objectContaining({ error: 'Validation failed', details: problem }),
      ]);
    }
  }

  expect(real.map(({ operation }) => operation)).toContain('deleteClient');
  expect((await gateway.get(`/api/v1/clients/${id}`)).status).toBe(200);
});

test('when several spaces separate the scheme from the key, then the request is admitted', async () => {
  const headers = { Authorization: `Bearer   ${gateway.account.key}` };

  expect((await gateway.get('/api/v1/clients', { key: undefined, headers })).status).toBe(200);
});

test('when a scope allows writing, then it allows reading', async () => {
  const account = await gateway.workspace.account({ scopes: ['clients:write'] });

  expect((await gateway.get('/api/v1/clients', account)).status).toBe(200);
  expect((await gateway.get('/api/v1/quotes', account)).status).toBe(403);
});

test('when a key is revoked while requests run, then every request that starts afterwards is rejected', async () => {
  const { id, key } = await create(gateway, '/api/v1/keys', { name: 'x', scopes: ['clients:read'] });
  const running = Array.from({ length: 50 }, () => gateway.get('/api/v1/clients', { key }));
  await gateway.delete(`/api/v1/keys/${id}`);
  const later = await Promise.all(Array.from({ length: 50 }, () => gateway.get('/api/v1/clients', { key })));

  expect(new Set(later.map(({ status }) => status))).toEqual(new Set([401]));
  for (const { status } of await Promise.all(running)) expect([200, 401]).toContain(status);
});

/** Not `fetch`, which refuses to send many of these headers. */
function send(method: string, path: string, headers: Record<string, string | string[]>) {
  return new Promise((resolve, reject) => {
    const call = request(gateway.url + path, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => {
        resolve({
          status: response.statusCode,
          challenge: response.headers['www-authenticate'],
          body: JSON.parse(text),
        });
      });
    });
    call.on('error', reject).end();
  });
}
