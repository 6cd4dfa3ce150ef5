// API keys over HTTP: shown once, never more powerful than the caller, and revoked from the next request on.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiKey, issueApiKey } from '#libs/models/accounts/api-key.ts';
import { Idempotency } from '#libs/models/idempotency-record.ts';
import { newId, storedId } from '#libs/models/tenant.ts';
import { WebhookEndpoint } from '#libs/models/webhooks/webhook-endpoint.ts';
import { withConcurrencyLimit } from '../../../services/gateway/limits/concurrency-limit.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type AnyRecord, answerOf, create, UNKNOWN_ID } from '../../support/records.ts';

const path = '/api/v1/keys';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const make = (body: object = {}, call: object = {}) =>
  create(gateway, path, { name: 'robot', scopes: ['clients:read'], ...body }, call);
const works = async (key: string) => (await gateway.get('/api/v1/clients', { key })).status;

describe('POST /api/v1/keys', () => {
  test('when a key is created, then it works, is shown only once and is not stored in clear', async () => {
    const reply = await gateway.post(path, { name: 'robot', scopes: ['clients:read', 'quotes:write'] });
    const { key, ...view } = reply.body.data;

    expect(reply.status).toBe(201);
    expect(key).toMatch(/^bh_live_[0-9A-Za-z]{36}$/);
    expect(view).toEqual({
      id: expect.any(String),
      name: 'robot',
      start: key.slice(0, 12),
      scopes: ['clients:read', 'quotes:write'],
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
      created_at: expect.any(String),
    });
    expect(await works(key)).toBe(200);
    expect((await gateway.post('/api/v1/clients', { name: 'a', email: 'a@example.com' }, { key })).status).toBe(403);
    expect((await gateway.get(`${path}/${view.id}`)).body.data).toMatchObject({ id: view.id, start: view.start });
    expect(JSON.stringify(await ApiKey.find({ account_id: gateway.account.id }).lean())).not.toContain(key);
  });

  test('when a key is created with an Idempotency-Key, then a replay does not show the key again', async () => {
    const headers = { 'Idempotency-Key': 'make-a-key' };
    const first = await gateway.post(path, { name: 'once', scopes: ['clients:read'] }, { headers });
    const again = await gateway.post(path, { name: 'once', scopes: ['clients:read'] }, { headers });

    expect(again.body).toEqual({ ...first.body, data: { ...first.body.data, key: null } });
    expect(JSON.stringify(await Idempotency.find({ account_id: gateway.account.id }).lean())).not.toContain(
      first.body.data.key,
    );
  });

  test('when the key has expired since, then a replay still returns the first response', async () => {
    const made = async (lifeMs: number) => {
      const expires = new Date(Date.now() + lifeMs);
      const body = { name: 'brief', scopes: ['clients:read'], expires_at: expires.toISOString() };
      const headers = { 'Idempotency-Key': `a-key-for-${lifeMs}` };
      return { expires, body, headers, first: await gateway.post(path, body, { headers }) };
    };
    const brief = await made(3_000);
    // A busy machine may take longer to make the key than the key lives.
    const { expires, body, headers, first } = brief.first.status === 201 ? brief : await made(30_000);
    await eventually(() => Date.now() > expires.getTime());
    const again = await gateway.post(path, body, { headers });

    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body.data.id).toBe(first.body.data.id);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await gateway.post(path, body)).body).toMatchObject({
      error: 'Validation failed',
      details: { expires_at: ['expires_at must be in the future'] },
    });
  });

  test('when the caller has an expiry, then creating or rotating a key that would outlive it is 403', async () => {
    const account = await gateway.workspace.account();
    const expires_at = '2031-01-01T00:00:00.000Z';
    const caller = await make({ scopes: ['keys:write', 'clients:read'], expires_at }, account);
    const forever = await make({}, account);
    const body = { name: 'robot', scopes: ['clients:read'] };
    const rejected = [
      await gateway.post(path, body, caller),
      await gateway.post(path, { ...body, expires_at: null }, caller),
      await gateway.post(path, { ...body, expires_at: '2031-01-01T00:00:00.001Z' }, caller),
      await gateway.post(`${path}/${forever.id}/rotate`, {}, caller),
    ];

    const error = `Forbidden: API key expires at ${expires_at}, the new key must not outlive it`;
    expect(rejected.map(answerOf)).toEqual(rejected.map(() => [403, expect.objectContaining({ error })]));
    expect(await works(forever.key)).toBe(200);
    const made = await make({ expires_at }, caller);
    for (const { id } of [made, caller]) {
      const fresh = await gateway.post(`${path}/${id}/rotate`, { overlap_seconds: 60 }, caller);
      expect([fresh.status, fresh.body.data.expires_at]).toEqual([201, expires_at]);
    }
  });

  test('when it requests a scope that the caller lacks, then 403 names it', async () => {
    const caller = await gateway.workspace.account({ scopes: ['keys:write', 'clients:write'] });

    expect((await make({ scopes: ['clients:read', 'clients:write', 'keys:read'] }, caller)).scopes).toHaveLength(3);
    for (const [scopes, lacking] of [
      [['clients:read', 'invoices:read'], 'invoices:read'],
      [['*'], '*'],
    ]) {
      expect(answerOf(await gateway.post(path, { name: 'x', scopes }, caller))).toEqual([
        403,
        expect.objectContaining({ error: `Forbidden: API key lacks the ${lacking as string} scope` }),
      ]);
    }
  });

  test.each([
    {},
    { name: 'x', scopes: [] },
    { name: 'x', scopes: ['everything'] },
    { name: 'x', scopes: '*' },
    { name: 'x', scopes: ['*'], expires_at: '2020-01-01' },
    { name: 'x', scopes: ['*'], expires_at: '2031-02-30T00:00:00Z' },
    { name: 'x', scopes: ['*'], mode: 'demo' },
    { name: 'x', scopes: ['*'], mode: 'test' },
  ])('when the body is %j, then 400', async (body) => {
    const reply = await gateway.post(path, body);

    expect([reply.status, reply.body.error]).toEqual([400, 'Validation failed']);
  });

  test.each([
    ['live', 'test'],
    ['test', 'live'],
  ] as const)('when the account is %s, then all its keys are, and one asked to be %s is 400', async (mode, other) => {
    const account = await gateway.workspace.account({ mode });
    const made = await gateway.post(path, { name: 'x', scopes: ['*'], mode }, account);
    const withDefault = await gateway.post(path, { name: 'x', scopes: ['*'] }, account);
    const rotated = await gateway.post(`${path}/${made.body.data.id}/rotate`, {}, account);
    const rejected = await gateway.post(path, { name: 'x', scopes: ['*'], mode: other }, account);

    for (const { body } of [made, withDefault, rotated]) expect(body.data.key).toMatch(new RegExp(`^bh_${mode}_`));
    expect(account.key).toMatch(new RegExp(`^bh_${mode}_`));
    expect(rejected.body.details).toEqual({ mode: [`mode must be ${mode}, as the account's is`] });
  });

  test('when a key expires, then it is rejected from then on', async () => {
    const expiresAt = new Date(Date.now() + 5_000);
    const { key } = await make({ expires_at: expiresAt.toISOString() });
    expect(await works(key)).toBe(200);
    await eventually(() => Date.now() > expiresAt.getTime());

    expect(await works(key)).toBe(401);
  });
});

describe('the limit of usable keys', () => {
  test('when an account has the maximum, then 409, also for two concurrent requests; a key that ended makes room', async () => {
    const account = await gateway.workspace.account();
    const own = await ApiKey.findOne({ account_id: account.id }).lean();
    const aMinuteAgo = new Date(Date.now() - 60_000);
    const others = Array.from({ length: 98 }, (_, index) => ({
      account_id: account.id,
      hash: `${account.id}-${index}`,
      start: 'bh_live_0000',
      name: 'one of many',
      scopes: ['clients:read'],
      ...(index === 0 ? { expires_at: aMinuteAgo } : index === 1 ? { revoked_at: aMinuteAgo } : {}),
    }));
    await ApiKey.insertMany(others);
    const last = await make({}, account); // The 98th that works.
    const body = { accountId: account.id, name: 'x', scopes: ['*'] };
    // Only the database orders the requests, as with two gateways.
    const both = await Promise.allSettled([1, 2, 3, 4].map(() => issueApiKey(body)));

    const error = 'An account can have at most 100 usable API keys';
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { status: 409, message: error } });
    expect(answerOf(await gateway.post(path, { name: 'x', scopes: ['*'] }, account))).toEqual([
      409,
      expect.objectContaining({ error }),
    ]);
    const rotate = (overlap_seconds: number) => gateway.post(`${path}/${last.id}/rotate`, { overlap_seconds }, account);
    expect([(await rotate(60)).status, (await rotate(0)).status]).toEqual([409, 201]);
    await gateway.delete(`${path}/${own?._id}`, account);
    await issueApiKey(body);
  });
});

describe('keys that ended', () => {
  test('when 5,000 newer ones were made, then they are removed, and those that work stay', async () => {
    const account = await gateway.workspace.account();
    const keyOf = (name: string, index: number, ended: object) => ({
      ...{ _id: storedId(newId()), account_id: storedId(account.id), hash: `${account.id}-${index}`, name },
      ...{ start: 'bh_live_0000', scopes: ['clients:read'], created_at: new Date(), ...ended },
    });
    const now = new Date();
    const ended = [{ expires_at: now }, { revoked_at: now }];
    const old = [{}, ...ended].map((one, index) => keyOf('old', index, one));
    const newer = Array.from({ length: 4_998 }, (_, index) => keyOf('newer', index + 3, { expires_at: now }));
    await ApiKey.collection.insertMany([...old, ...newer] as never);
    const namesOf = async () =>
      (await ApiKey.find({ account_id: account.id, name: 'old' }).lean()).map(({ _id }) => _id);

    await make({}, account);
    expect(await namesOf()).toHaveLength(3);
    await make({}, account);
    await make({}, account);
    expect((await namesOf()).map(String)).toEqual([String(old[0]?._id)]);
    expect(await ApiKey.countDocuments({ account_id: account.id, name: 'newer' })).toBe(4_998);
  });

  test('when 400 days have passed, then MongoDB removes them', async () => {
    const expiring = (await ApiKey.collection.indexes()).filter(({ expireAfterSeconds }) => expireAfterSeconds);
    expect(expiring.map(({ key, expireAfterSeconds }) => [key, Number(expireAfterSeconds) / 86_400])).toEqual([
      [{ expires_at: 1 }, 400],
      [{ revoked_at: 1 }, 400],
    ]);
  });
});

describe('GET /api/v1/keys', () => {
  test('when keys are listed, then newest first, without the secrets and without those of other accounts', async () => {
    const account = await gateway.workspace.account();
    const made = [await make({ name: 'one' }, account), await make({ name: 'two' }, account)];
    const reply = await gateway.get(path, account);

    expect(reply.body.pagination.total).toBe(3);
    expect(reply.body.data.slice(0, 2).map(({ id }: AnyRecord) => id)).toEqual([made[1].id, made[0].id]);
    for (const { key } of made) expect(JSON.stringify(reply.body)).not.toContain(key);
  });
});

describe('DELETE /api/v1/keys/{id}', () => {
  test('when a key is revoked, then the next request with it is rejected; revoking it again changes nothing', async () => {
    const { id, key } = await make();
    expect(await works(key)).toBe(200);
    const reply = await gateway.delete(`${path}/${id}`);

    expect(answerOf(reply)).toEqual([200, { success: true, message: 'API key revoked' }]);
    expect(await works(key)).toBe(401);
    const { revoked_at } = (await gateway.get(`${path}/${id}`)).body.data;
    expect((await gateway.delete(`${path}/${id}`)).status).toBe(200);
    expect((await gateway.get(`${path}/${id}`)).body.data.revoked_at).toBe(revoked_at);
  });

  test('when the key was only used since, then If-Match still matches; when it was changed, then 412', async () => {
    const { id, key } = await make();
    const at = `${path}/${id}`;
    const tag = (await gateway.get(at)).headers.get('ETag') ?? '';
    await works(key);
    await eventually(async () => (await gateway.get(at)).body.data.last_used_at !== null);
    // A caller that sends the entity tag still sees when the key was used.
    const again = await gateway.get(at, { headers: { 'If-None-Match': tag } });
    expect([again.status, again.headers.get('ETag')]).toEqual([200, tag]);
    await gateway.post(`${at}/rotate`, { overlap_seconds: 60 });
    expect((await gateway.delete(at, { headers: { 'If-Match': tag } })).status).toBe(412);
    const { headers } = await gateway.get(at);
    await ApiKey.updateOne({ _id: id, account_id: gateway.account.id }, { $set: { last_used_at: new Date(0) } });
    expect((await gateway.delete(at, { headers: { 'If-Match': headers.get('ETag') ?? '' } })).status).toBe(200);
  });

  test('when it belongs to another account, then the response is as if it did not exist', async () => {
    const stranger = await gateway.workspace.account();
    const { id, key } = await make();

    for (const target of [id, UNKNOWN_ID]) {
      expect(answerOf(await gateway.delete(`${path}/${target}`, stranger))).toEqual([
        404,
        expect.objectContaining({ error: 'API key not found or access denied' }),
      ]);
      expect((await gateway.post(`${path}/${target}/rotate`, {}, stranger)).status).toBe(404);
    }
    expect(await works(key)).toBe(200);
  });
});

describe('DELETE /api/v1/keys/{id} by a key with fewer scopes', () => {
  test('when the key has more scopes than the caller, then 403; the caller may revoke itself', async () => {
    const strong = await gateway.workspace.account();
    const weak = await make({ scopes: ['keys:write'] }, strong);
    const other = await make({ scopes: ['keys:write', 'clients:read'] }, strong);
    const rejected = await gateway.delete(`${path}/${other.id}`, { key: weak.key });

    expect(answerOf(rejected)).toEqual([
      403,
      expect.objectContaining({ error: 'Forbidden: API key lacks the clients:read scope' }),
    ]);
    expect(await works(other.key)).toBe(200);
    expect((await gateway.delete(`${path}/${weak.id}`, { key: weak.key })).status).toBe(200);
  });

  test('when a key has only read scopes, then it can revoke itself, with its id in any case, and no other key', async () => {
    const account = await gateway.workspace.account();
    const weak = await make({ scopes: ['clients:read'] }, account);
    const other = await make({ scopes: ['clients:read'] }, account);
    const rejected = await gateway.delete(`${path}/${other.id}`, { key: weak.key });
    const revoked = await gateway.delete(`${path}/${weak.id.toUpperCase()}`, { key: weak.key });

    expect(answerOf(rejected)).toEqual([
      403,
      expect.objectContaining({ error: 'Forbidden: API key lacks the keys:write scope' }),
    ]);
    expect(answerOf(revoked)).toEqual([200, { success: true, message: 'API key revoked' }]);
    expect([await works(weak.key), await works(other.key)]).toEqual([401, 200]);
  });
});

describe('POST /api/v1/keys/{id}/rotate', () => {
  test('when a key is rotated, then a new key with the same scopes works and the old one no longer does', async () => {
    const old = await make({ scopes: ['clients:read', 'quotes:read'] });
    const reply = await gateway.post(`${path}/${old.id}/rotate`);

    expect(reply.status).toBe(201);
    expect(reply.body.data).toMatchObject({ name: 'robot', scopes: old.scopes });
    expect(reply.body.data.id).not.toBe(old.id);
    expect([await works(old.key), await works(reply.body.data.key)]).toEqual([401, 200]);
    expect((await gateway.post(`${path}/${old.id}/rotate`)).status).toBe(409);
  });

  test('when an overlap is requested, then both keys work until it ends', async () => {
    const old = await make();
    const { key } = (await gateway.post(`${path}/${old.id}/rotate`, { overlap_seconds: 3600 })).body.data;

    expect([await works(old.key), await works(key)]).toEqual([200, 200]);
    expect((await gateway.get(`${path}/${old.id}`)).body.data.expires_at).not.toBeNull();
    expect((await gateway.post(`${path}/${old.id}/rotate`, { overlap_seconds: -1 })).status).toBe(400);
  });

  test('when a key is rotated again within the overlap, then 409, and its successor keeps its own expiry', async () => {
    const expires_at = '2031-01-01T00:00:00.000Z';
    for (const own of [{}, { expires_at }]) {
      const old = await make(own);
      const at = `${path}/${old.id}/rotate`;
      const fresh = (await gateway.post(at, { overlap_seconds: 3600 })).body.data;
      const again = await gateway.post(at, { overlap_seconds: 60 });

      expect([again.status, again.body.error]).toEqual([
        409,
        expect.stringMatching(/replaced already: rotate its succ/),
      ]);
      expect(fresh.expires_at).toBe(own.expires_at ?? null);
      const next = await gateway.post(`${path}/${fresh.id}/rotate`, { overlap_seconds: 60 });
      expect([next.status, next.body.data.expires_at]).toEqual([201, own.expires_at ?? null]);
    }
  });

  test('when a key expires within the overlap anyway, then it can still be rotated once', async () => {
    const old = await make({ expires_at: new Date(Date.now() + 60_000).toISOString() });
    const at = `${path}/${old.id}/rotate`;

    expect((await gateway.post(at, { overlap_seconds: 3600 })).status).toBe(201);
    expect((await gateway.post(at, { overlap_seconds: 3600 })).status).toBe(409);
    expect((await gateway.get(`${path}/${old.id}`)).body.data.expires_at).toBe(old.expires_at);
  });

  test('when the key has more scopes than the caller, then 403, because no caller may obtain a stronger key', async () => {
    const strong = await gateway.workspace.account();
    const weak = await make({ scopes: ['keys:write'] }, strong);
    const own = (await gateway.get(path, strong)).body.data.find(({ name }: AnyRecord) => name === 'test');

    expect((await gateway.post(`${path}/${own.id}/rotate`, {}, { key: weak.key })).status).toBe(403);
    expect(await works(strong.key)).toBe(200);
  });
});

describe('a key that ends while a request that it authenticated waits', () => {
  /** @returns the response to `ask` when `change` is made after its key was authenticated. */
  async function responseTo<Reply>(
    ask: () => Promise<Reply>,
    key: { account_id: string; _id: string },
    change: () => Promise<unknown>,
  ): Promise<Reply> {
    const gate = Promise.withResolvers<void>();
    const slot = withConcurrencyLimit(key.account_id, () => gate.promise);
    const asked = ask();
    try {
      await eventually(async () => (await ApiKey.findOne(key).lean())?.last_used_at);
      await change();
    } finally {
      gate.resolve();
    }
    const reply = await asked;
    await slot;
    return reply;
  }

  const endpoint = { url: 'https://hooks.example.com/in', events: ['*'] };
  test.each<[string, 'keys' | 'webhooks' | 'account', (id: string) => string, object | undefined]>([
    ['POST', 'keys', () => path, { name: 'heir', scopes: ['keys:write'] }],
    ['POST', 'keys', (id) => `${path}/${id}/rotate`, { overlap_seconds: 0 }],
    ['DELETE', 'keys', (id) => `${path}/${id}`, undefined],
    ['POST', 'webhooks', () => '/api/v1/webhooks', endpoint],
    ['PATCH', 'webhooks', (id) => `/api/v1/webhooks/${id}`, { url: 'https://hooks.example.net/mine' }],
    ['DELETE', 'webhooks', (id) => `/api/v1/webhooks/${id}`, undefined],
    ['POST', 'webhooks', (id) => `/api/v1/webhooks/${id}/rotate-secret`, undefined],
    ['PATCH', 'account', () => '/api/v1/account', { bank_details: 'IBAN of another account' }],
  ])('when the request is %s of %s, then 401 and nothing is changed', async (method, kind, pathOf, body) => {
    const account = await gateway.workspace.account();
    const { id: target } = await make({ scopes: ['keys:write'] }, account);
    const { id: endpointId } = await create(gateway, '/api/v1/webhooks', endpoint, account);
    const leaked = await make({ scopes: ['keys:write', 'webhooks:write', 'account:write'] }, account);
    const own = { account_id: account.id };
    const stored = async () => [
      await ApiKey.find(own, { hash: 1, revoked_at: 1, expires_at: 1 }).sort({ _id: 1 }).lean(),
      await WebhookEndpoint.find(own).sort({ _id: 1 }).lean(),
      (await gateway.get('/api/v1/account', account)).body,
    ];
    const key = { ...own, _id: leaked.id };
    const ask = () => gateway.call(method, pathOf(kind === 'keys' ? target : endpointId), { body, key: leaked.key });
    let before: unknown;
    const reply = await responseTo(ask, key, async () => {
      await ApiKey.updateOne(key, { revoked_at: new Date() });
      before = await stored();
    });

    expect(answerOf(reply)).toEqual([
      401,
      expect.objectContaining({ error: 'Unauthorized: Invalid or revoked API key' }),
    ]);
    expect(await stored()).toEqual(before);
  });

  test.each<[string, (id: string) => string, object]>([
    ['another key', () => path, { name: 'heir', scopes: ['clients:read'] }],
    ['a rotation of another key', (id) => `${path}/${id}/rotate`, { overlap_seconds: 60 }],
  ])(
    'when the key is given an expiry meanwhile and the request is for %s without one, then 403',
    async (_what, pathOf, body) => {
      const account = await gateway.workspace.account();
      const { id: target } = await make({}, account);
      const replaced = await make({ scopes: ['keys:write', 'clients:read'] }, account);
      const key = { account_id: account.id, _id: replaced.id };
      const ask = () => gateway.post(pathOf(target), body, { key: replaced.key });
      const inAMinute = { expires_at: new Date(Date.now() + 60_000) };
      const reply = await responseTo(ask, key, () => ApiKey.updateOne(key, inAMinute));

      expect(reply.status).toBe(403);
      expect(await ApiKey.countDocuments({ account_id: account.id })).toBe(3);
    },
  );
});
