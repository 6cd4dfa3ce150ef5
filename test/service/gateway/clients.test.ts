// Clients over HTTP, as specified.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeApiKey } from '#libs/api-key.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const ada = { name: 'Ada Lovelace', email: 'ada@example.com', company_name: 'Analytical Engines' };

describe('POST /api/v1/clients', () => {
  test('when name and email are given, then the client is returned, stored and announced in one event', async () => {
    const reply = await gateway.post('/api/v1/clients', ada);

    expect(reply.status).toBe(201);
    expect(reply.body).toMatchObject({ success: true, data: { ...ada, status: 'invited' } });
    expect((await gateway.get(`/api/v1/clients/${reply.body.data.id}`)).body.data).toEqual(reply.body.data);
    const [event] = await Event.find({ account_id: gateway.account.id, type: 'client.created' }).sort({ sequence: -1 });
    expect(JSON.parse(event?.body ?? '')).toMatchObject({ type: 'client.created', data: reply.body.data });
  });

  test.each([{ name: 'Ada' }, { email: 'ada@example.com' }, {}, { name: '', email: null }])(
    'when %j lacks a required field, then 400 with the literal text and nothing is stored',
    async (body) => {
      const before = (await gateway.get('/api/v1/clients')).body.pagination.total;
      const reply = await gateway.post('/api/v1/clients', body);

      expect(reply.status).toBe(400);
      expect(reply.body).toEqual(expect.objectContaining({ error: 'Missing required fields: name, email' }));
      expect((await gateway.get('/api/v1/clients')).body.pagination.total).toBe(before);
    },
  );

  test('when it has tax numbers, then a search by VAT id finds it, and invalid numbers are all named at once', async () => {
    const account = await gateway.workspace.account();
    const client = { name: 'Ada', email: 'ada@example.com' };
    const numbers = {
      vat_id: 'ATU33864707',
      legal_id: { value: 'FN 12345' },
      buyer_reference: '04011000-1234512345-06',
    };
    const created = await gateway.post('/api/v1/clients', { ...client, ...numbers }, account);
    expect([created.status, created.body.data]).toMatchObject([
      201,
      { ...numbers, legal_id: { value: 'FN 12345', scheme: null } },
    ]);
    expect((await gateway.get('/api/v1/clients?q=atu338', account)).body.data).toEqual([created.body.data]);

    const wrong = { vat_id: 'ATU33864708', postal_address: { city: 'Wien' }, electronic_address: { scheme: '0001' } };
    const reply = await gateway.post('/api/v1/clients', { ...client, ...wrong }, account);
    expect([reply.status, Object.keys(reply.body.details)]).toEqual([
      400,
      ['vat_id', 'electronic_address.scheme', 'electronic_address.value', 'postal_address.country'],
    ]);
  });

  test('when several fields are invalid, then 400 names all of them', async () => {
    const reply = await gateway.post('/api/v1/clients', { name: 7, email: 'nowhere', phone: ['1'] });

    expect(reply.status).toBe(400);
    expect(reply.body.error).toBe('Validation failed');
    expect(Object.keys(reply.body.details)).toEqual(['name', 'email', 'phone']);
  });

  test('when the same Idempotency-Key is sent again, then the first response is replayed and one client exists', async () => {
    const headers = { 'Idempotency-Key': 'order-17' };
    const first = await gateway.post('/api/v1/clients', ada, { headers });
    const again = await gateway.post('/api/v1/clients', ada, { headers });
    const other = await gateway.post('/api/v1/clients', { ...ada, name: 'Grace' }, { headers });

    expect(again.body).toEqual(first.body);
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
    expect(other.status).toBe(422);
  });
});

describe('POST /api/v1/clients with all fields', () => {
  const all = { ...ada, phone: '+44 1', address: '1 Engine Street\nLondon', tax_id: 'GB1' };

  test('when they are given, then they are stored; when they are null or empty, then they are absent', async () => {
    const { data } = (await gateway.post('/api/v1/clients', all)).body;
    const bare = (await gateway.post('/api/v1/clients', { ...all, phone: null, address: '', company_name: null })).body
      .data;

    expect(data).toMatchObject(all);
    expect(Object.keys(bare).sort()).toEqual(['created_at', 'email', 'id', 'name', 'status', 'tax_id', 'updated_at']);
  });

  test('when it is a dry run, then the input is validated and nothing is stored or announced', async () => {
    const account = await gateway.workspace.account();
    const headers = { 'Idempotency-Key': 'dry-run' };
    const reply = await gateway.post('/api/v1/clients?dry_run=true', all, { ...account, headers });

    expect([reply.status, reply.headers.get('Dry-Run')]).toEqual([200, 'true']);
    expect(reply.body).toMatchObject({ success: true, data: { ...all, id: null, status: 'invited' } });
    expect((await gateway.post('/api/v1/clients?dry_run=true', { name: 'x' }, account)).status).toBe(400);
    expect((await gateway.get('/api/v1/clients', account)).body.pagination.total).toBe(0);
    expect(await Event.countDocuments({ account_id: account.id })).toBe(0);
    // The key can still be used for the real request.
    expect((await gateway.post('/api/v1/clients', all, { ...account, headers })).status).toBe(201);
  });
});

describe('GET /api/v1/clients', () => {
  test('when the list is searched and sorted, then parts of name, email and company match in any case', async () => {
    const account = await gateway.workspace.account();
    for (const [name, email, company_name] of [
      ['Grace Hopper', 'grace@navy.example', 'Compilers'],
      ['ada lovelace', 'ada@engines.example', 'Analytical'],
      ['Bell', 'bell@example.com', 'Telegraph'],
    ]) {
      await gateway.post('/api/v1/clients', { name, email, company_name }, account);
    }
    const names = async (query: string) =>
      (await gateway.get(`/api/v1/clients?${query}`, account)).body.data.map(({ name }: { name: string }) => name);

    expect(await names('')).toEqual(['Bell', 'ada lovelace', 'Grace Hopper']);
    expect(await names('sort=name')).toEqual(['ada lovelace', 'Bell', 'Grace Hopper']);
    expect(await names('sort=-name&limit=1')).toEqual(['Grace Hopper']);
    expect(await names('q=HOPP')).toEqual(['Grace Hopper']);
    expect(await names('q=engines')).toEqual(['ada lovelace']);
    expect(await names('q=tele')).toEqual(['Bell']);
    expect(await names('q=el&sort=name')).toEqual(['ada lovelace', 'Bell']);
    expect(await names('q=unmatched')).toEqual([]);
    expect((await gateway.get('/api/v1/clients?q=el&limit=1', account)).body.pagination.total).toBe(2);
  });

  test('when a name is written with other characters that read the same, then it is found', async () => {
    const account = await gateway.workspace.account();
    for (const name of ['Νίκος Παππάς', 'ΟΔΟΣ', 'Jose\u0301', 'Ren\u00e9e']) {
      await gateway.post('/api/v1/clients', { name, email: 'a@example.com' }, account);
    }
    const names = async (q: string) =>
      (await gateway.get(`/api/v1/clients?q=${encodeURIComponent(q)}`, account)).body.data.map(
        ({ name }: { name: string }) => name,
      );

    for (const q of ['ΠΑΠΠΆΣ', 'Παππάς', 'παππάσ', 'ΝΊΚΟΣ', 'κοσ π'])
      expect([q, await names(q)]).toEqual([q, ['Νίκος Παππάς']]);
    for (const q of ['οδος', 'οδοσ', 'ΟΔΟΣ', 'δοσ']) expect([q, await names(q)]).toEqual([q, ['ΟΔΟΣ']]);
    for (const q of ['jos\u00e9', 'JOSE\u0301']) expect([q, await names(q)]).toEqual([q, ['Jose\u0301']]);
    for (const q of ['RENE\u0301', 'ren\u00e9e']) expect([q, await names(q)]).toEqual([q, ['Ren\u00e9e']]);
  });

  test('when a search omits accents, or spells out special letters, then the client is found, and no other', async () => {
    const account = await gateway.workspace.account();
    const found: [name: string, ...queries: string[]][] = [
      ['Jos\u00e9 Garc\u00eda', 'jose', 'garcia', 'JOSE\u0301'],
      ['Mustafa \u00dcnal', 'unal', '\u00fcnal'],
      ['Bahnhofstra\u00dfe GmbH', 'strasse', 'STRASSE', 'stra\u00dfe', 'STRA\u1e9eE'],
      ['\u0141\u00f3d\u017a', 'lodz', '\u0142\u00f3d\u017a'],
      ['S\u00f8ren \u0110or\u0111evi\u0107', 'soren', 'dordevic'],
      ['\u0130pek I\u015f\u0131k', 'ipek', 'isik', 'I\u015eIK', '\u0131\u015f\u0131k'],
      ['\u039d\u03af\u03ba\u03bf\u03c2', '\u03bd\u03b9\u03ba\u03bf\u03c2', '\u039d\u0399\u039a\u039f\u03a3'],
      ['\uff21\uff44\uff41\u3000\uff2c', 'ada l', '\uff21\uff24\uff21'],
    ];
    for (const [name] of found) await gateway.post('/api/v1/clients', { name, email: 'x@y.example' }, account);
    for (const [name, ...queries] of found) {
      for (const q of queries) {
        const { body } = await gateway.get(`/api/v1/clients?q=${encodeURIComponent(q)}`, account);
        expect([q, body.data.map((client: { name: string }) => client.name)]).toEqual([q, [name]]);
      }
    }
  });

  test('when a search text has characters that are special in a pattern or its notation, then they match literally', async () => {
    const account = await gateway.workspace.account();
    const parts = ['\u00a0', '/', '\\', '.', '*', '+?', '^', '$', '(', '[', '{2}', '|', '-', '#', '\\u2028', '\\d'];
    const nameOf = (part: string) => `x${part}y`;
    for (const part of parts) {
      const { status } = await gateway.post('/api/v1/clients', { name: nameOf(part), email: ada.email }, account);
      expect([part, status]).toEqual([part, 201]);
    }
    for (const part of parts) {
      const { body } = await gateway.get(
        `/api/v1/clients?q=${encodeURIComponent(nameOf(part).toUpperCase())}`,
        account,
      );
      expect([part, body.data?.map(({ name }: { name: string }) => name)]).toEqual([part, [nameOf(part)]]);
    }
  });
});

describe('PATCH and DELETE /api/v1/clients/{id}', () => {
  test('when fields change or are cleared, then the change is returned, announced, and found under the new name', async () => {
    const account = await gateway.workspace.account();
    const { id } = (await gateway.post('/api/v1/clients', ada, account)).body.data;
    const reply = await gateway.patch(`/api/v1/clients/${id}`, { name: 'Countess', company_name: null }, account);

    expect(reply.body.data).toMatchObject({ id, name: 'Countess', email: ada.email });
    expect(reply.body.data).not.toHaveProperty('company_name');
    expect((await gateway.get('/api/v1/clients?q=countess', account)).body.pagination.total).toBe(1);
    expect((await gateway.get('/api/v1/clients?q=analytical', account)).body.pagination.total).toBe(0);
    const types = (await Event.find({ account_id: account.id }).sort({ sequence: 1 })).map(({ type }) => type);
    expect(types).toEqual(['client.created', 'client.updated']);
    for (const body of [{ name: null }, { email: '' }, { email: 'x' }]) {
      expect((await gateway.patch(`/api/v1/clients/${id}`, body, account)).status).toBe(400);
    }
    expect((await gateway.patch(`/api/v1/clients/${id}`, { status: 'active' }, account)).body).toMatchObject({
      error: 'No valid fields to update',
    });
  });

  test('when the client has no records, then it is deleted and that is announced', async () => {
    const account = await gateway.workspace.account();
    const { id } = (await gateway.post('/api/v1/clients', ada, account)).body.data;

    expect((await gateway.delete(`/api/v1/clients/${id}`, account)).body).toEqual({
      success: true,
      message: 'Client deleted',
    });
    const [event] = await Event.find({ account_id: account.id }).sort({ sequence: -1 });
    expect(event?.type).toBe('client.deleted');
    expect((await gateway.delete(`/api/v1/clients/${id}`, account)).status).toBe(404);
  });
});

describe('authentication', () => {
  test.each([
    ['no key', { key: undefined }],
    ['garbage', { key: 'nonsense' }],
    ['a key of the right form that was never issued', { key: makeApiKey() }],
    ['another scheme', { key: undefined, headers: { Authorization: 'Basic abc' } }],
  ])('when the caller sends %s, then 401 with the one text', async (_what, call) => {
    const reply = await gateway.get('/api/v1/clients', call);

    expect(reply.status).toBe(401);
    expect(reply.headers.get('WWW-Authenticate')).toBe('Bearer');
    expect(reply.body).toEqual(expect.objectContaining({ error: 'Unauthorized: Invalid or revoked API key' }));
  });

  test('when the key lacks the scope, then 403 names it', async () => {
    const { key } = await gateway.workspace.account({ scopes: ['clients:read'] });
    const reply = await gateway.post('/api/v1/clients', ada, { key });

    expect(reply.status).toBe(403);
    expect(reply.body).toEqual(expect.objectContaining({ error: 'Forbidden: API key lacks the clients:write scope' }));
  });

  test('when a client belongs to another account, then the response is as if it did not exist', async () => {
    const { key } = await gateway.workspace.account();
    const { id } = (await gateway.post('/api/v1/clients', ada)).body.data;

    expect((await gateway.get(`/api/v1/clients/${id}`, { key })).body).toEqual(
      expect.objectContaining({ error: 'Client not found' }),
    );
    for (const method of ['PATCH', 'DELETE']) {
      const reply = await gateway.call(method, `/api/v1/clients/${id}`, { key, body: { name: 'Mine' } });
      expect([reply.status, reply.body]).toEqual([
        404,
        expect.objectContaining({ error: 'Client not found or access denied' }),
      ]);
    }
  });
});

describe('the error envelope', () => {
  test.each([
    ['broken JSON', 'POST', '/api/v1/clients', { raw: '{"name":' }, 400],
    ['another content type', 'POST', '/api/v1/clients', { raw: 'a=b', headers: { 'Content-Type': 'text/plain' } }, 415],
    ['a body of a megabyte', 'POST', '/api/v1/clients', { raw: `"${'x'.repeat(1_000_000)}"` }, 413],
    ['an unknown path', 'GET', '/api/v1/nothing', {}, 404],
    ['a method the path does not have', 'PUT', '/api/v1/clients', {}, 405],
  ])('when the caller sends %s, then JSON with an error', async (_what, method, path, call, status) => {
    const reply = await gateway.call(method, path, call);

    expect(reply.status).toBe(status);
    expect(Object.keys(reply.body)).toEqual(['error', 'code', 'params']);
    expect(reply.headers.get('X-Request-Id')).toBeTruthy();
  });
});
