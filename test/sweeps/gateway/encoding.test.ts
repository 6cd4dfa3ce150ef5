// Text that is not UTF-8 is rejected everywhere: bodies, query strings and paths.
import { isUtf8 } from 'node:buffer';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { runs, sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyFor, filledPath, kindOf, make } from '../../support/operations.ts';
import { createClient } from '../../support/records.ts';
import { routeTable } from '../../support/route-table.ts';
import { storedRecords } from '../../support/stored.ts';

/** But for when a key was last used. */
const stored = () => storedRecords(['last_used_at']);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** Known cases: Latin-1, a byte order mark of UTF-16, a surrogate, an overlong form, a cut sequence, beyond U+10FFFF. */
const KNOWN = ['fc', 'ff fe', 'ed a0 80', 'c0 af', 'e2 82', 'f4 90 80 80', '80'];
const knownBytes = KNOWN.map((hex) => [hex, Buffer.from(hex.replaceAll(' ', ''), 'hex')] as const);

/** Only bytes beyond ASCII, so that the JSON or URL around them stays valid. */
const wrongBytes = fc
  .uint8Array({ min: 0x80, minLength: 1, maxLength: 8 })
  .filter((bytes) => !isUtf8(bytes))
  .map((bytes) => Buffer.from(bytes));

const percentEncoded = (bytes: Buffer) => [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

function jsonWith(body: object, bytes: Buffer): Buffer {
  const [before = '', after = ''] = JSON.stringify({ ...body, note: 'a PLACE b' }).split('PLACE');
  return Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]);
}

const withBodies = routeTable.filter(({ body }) => body);

test.each(sampled(withBodies).map((row) => [row.operation, row] as const))(
  'when the body of %s is not UTF-8, then 400 and nothing is stored',
  async (operation, row) => {
    const id = row.path.includes('{id}') ? await make(gateway, kindOf(row.path), gateway.account, 'own-') : '';
    const body = (await bodyFor(gateway, operation, gateway.account)) ?? {};
    const before = await stored();
    for (const [hex, bytes] of knownBytes) {
      const raw = jsonWith(body, bytes);
      const reply = await gateway.call(row.method.toUpperCase(), filledPath(row.path, id), { raw });
      expect([hex, reply.status, reply.body]).toEqual([
        hex,
        400,
        expect.objectContaining({ error: 'Request body is not valid UTF-8' }),
      ]);
    }
    expect(await stored()).toBe(before);
  },
);

test('when a body has bytes that are not UTF-8 at any position, then 400 and nothing is stored', async () => {
  const before = await stored();
  await fc.assert(
    fc.asyncProperty(wrongBytes, fc.constantFrom('/api/v1/clients', '/api/tools/generate-pdf'), async (bytes, path) => {
      const reply = await gateway.call('POST', path, { raw: jsonWith({ name: 'x', email: 'x@example.com' }, bytes) });
      expect([reply.status, reply.body]).toEqual([
        400,
        expect.objectContaining({ error: 'Request body is not valid UTF-8' }),
      ]);
    }),
    runs(100),
  );
  expect(await stored()).toBe(before);
});

test('when a body has UTF-8 sequences of every length, then it is returned as it was sent', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), async (text) => {
      const address = `a${text.replaceAll(/\p{C}/gu, '')}z`;
      const client = await createClient(gateway, { address });
      expect(client.address).toBe(address);
    }),
    runs(50),
  );
});

test('when a body is only a byte order mark, then 400', async () => {
  const reply = await gateway.call('POST', '/api/v1/clients', { raw: '\u{feff}' });

  expect([reply.status, reply.body]).toEqual([
    400,
    expect.objectContaining({ error: 'Request body is not valid JSON' }),
  ]);
});

const readable = routeTable.filter(({ method, path }) => method === 'get' && !path.includes('{'));

test.each(sampled(readable).map((row) => [row.operation, row] as const))(
  'when the query of %s is not UTF-8, then 400',
  async (_operation, row) => {
    const problem = 'query must be percent-encoded UTF-8';
    const details = row.details === 'list' ? [problem] : { query: [problem] };
    for (const text of [...knownBytes.map(([, bytes]) => percentEncoded(bytes)), '%', '%zz']) {
      const reply = await rawGet(`${row.path}?q=M${text}ller`);
      expect([text, ...reply]).toEqual([text, 400, expect.objectContaining({ error: 'Validation failed', details })]);
    }
  },
);

test('when a search has percent-encoded bytes that are not UTF-8, then 400', async () => {
  await fc.assert(
    fc.asyncProperty(wrongBytes, async (bytes) => {
      expect((await gateway.get(`/api/v1/clients?q=${percentEncoded(bytes)}`)).status).toBe(400);
    }),
    runs(100),
  );
});

test('when a search is UTF-8, then it finds the record', async () => {
  const { id } = await createClient(gateway, { name: 'Jürgen Müller' });

  for (const q of ['M%C3%BCller', 'J%C3%BCrgen+M']) {
    const [status, body] = await rawGet(`/api/v1/clients?q=${q}`);
    expect([q, status, (body as { data: { id: string }[] }).data.map((client) => client.id)]).toEqual([q, 200, [id]]);
  }
});

const single = routeTable.filter(({ method, path }) => method === 'get' && /\{id\}$/.test(path));

test.each(sampled(single).map((row) => [row.operation, row] as const))(
  'when the id of %s cannot be decoded, then 404 like any malformed id',
  async (_operation, row) => {
    for (const id of ['%FF', '%ff', '%', '%zz', '%ed%a0%80', 'x%']) {
      const path = filledPath(row.path, id);
      expect([id, ...(await rawGet(path))]).toEqual([id, 404, expect.objectContaining({ error: row.missing })]);
      expect((await gateway.get(path, { key: 'x' })).status).toBe(401);
    }
  },
);

test('when a path without a route cannot be decoded, then 404', async () => {
  for (const path of ['/%', '/api/v1/%ff', '/docs/%zz', '/api/%c0%ae/clients']) {
    expect([path, ...(await rawGet(path))]).toEqual([path, 404, expect.objectContaining({ error: 'Not found' })]);
  }
});

/** Not `fetch`, which would encode the path. */
async function rawGet(path: string): Promise<[number, unknown]> {
  const { hostname, port } = new URL(gateway.url);
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${gateway.account.key}`, Connection: 'close' };
    const call = request({ hostname, port, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve([response.statusCode ?? 0, JSON.parse(String(Buffer.concat(chunks)))]));
    });
    call.once('error', reject).end();
  });
}
