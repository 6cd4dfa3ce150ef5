// Rate limits by key and by address, and none while Redis is unavailable.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { storeUnavailable } from '#libs/errors.ts';
import { issueApiKey } from '#libs/models/accounts/api-key.ts';
import { archiveFile } from '#libs/pdf/archive.ts';
import { connectFailFast, primariesOf, type Redis, whenReady } from '#libs/redis/connection.ts';
import { type AppOptions, makeApp } from '../../../services/gateway/app.ts';
import { openRates, type RateLimits, type Rates } from '../../../services/gateway/limits/rate-limit.ts';
import { client as buyer, issuer } from '../../e-invoices/cases.ts';
import { chromiumPdf } from '../../support/chromium-pdf.ts';
import { eventually } from '../../support/eventually.ts';
import { appOptionsFor, callerOf, startGateway, type TestGateway } from '../../support/gateway.ts';
import { type AnyRecord, create, createClient } from '../../support/records.ts';
import { routeTable } from '../../support/route-table.ts';
import { testLog } from '../../support/workspace.ts';

const path = '/api/v1/clients';
const connections: Redis[] = [];
const servers: Server[] = [];
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(async () => {
  for (const server of servers) server.close().closeAllConnections();
  for (const redis of connections) redis.disconnect();
  await gateway.close();
});

function connect(url = gateway.workspace.redisUrl): Redis {
  const redis = connectFailFast(url, testLog);
  connections.push(redis);
  return redis;
}

const ratesOn = (redis: Redis, limits: Partial<RateLimits>) =>
  openRates({
    redis,
    prefix: `${gateway.workspace.redisPrefix}${connections.length}`,
    limits: { requests: 0, documents: 0, refusals: 0, ...limits },
    log: testLog,
    readLimitMs: 20_000, // The tests are about counts, and on a busy machine Redis may be slower than the default timeout.
  });

async function anotherKey(accountId: string): Promise<string> {
  return (await issueApiKey({ accountId, name: 'another', scopes: ['*'] })).key;
}

/** A second application with its own limits, on the same records as the gateway. */
async function callerWith(limits: Partial<RateLimits>, redis = connect(), options: Partial<AppOptions> = {}) {
  if (primariesOf(redis)[0]?.options.port !== 1) await whenReady(redis, 60_000);
  const app = makeApp({ ...appOptionsFor(gateway.workspace), rates: ratesOn(redis, limits), ...options });
  const server = createServer(app);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return callerOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, gateway.account.key);
}

test('when a key calls an operation without the scope, then that counts as well', async () => {
  const call = await callerWith({ requests: 5 });
  const { key } = await gateway.workspace.account({ scopes: ['clients:read'] });
  const statuses = [];
  for (let count = 0; count < 6; count += 1)
    statuses.push((await call('POST', path, { key, body: { name: 'Ada', email: 'ada@example.com' } })).status);

  expect(statuses).toEqual([403, 403, 403, 403, 403, 429]);
});

test('when a key calls too often, then 429 in the envelope with the standard headers, and other keys are not affected', async () => {
  const call = await callerWith({ requests: 5 });
  const { key } = await gateway.workspace.account();
  const replies = [];
  for (let count = 0; count < 6; count += 1) replies.push(await call('GET', path, { key }));
  const [first, last] = [replies[0], replies[5]];

  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
  expect(first?.headers.get('RateLimit-Policy')).toMatch(/^"requests"; q=5; w=60/);
  expect(first?.headers.get('RateLimit')).toMatch(/^"requests"; r=4; t=\d+$/);
  expect(last?.body).toEqual(expect.objectContaining({ error: 'Too many requests, please slow down' }));
  expect(Number(last?.headers.get('Retry-After'))).toBeGreaterThan(0);
  expect((await call('GET', path)).status).toBe(200);
});

test('when the keys of one account together call too often, then 429 for all of them, and other accounts are not affected', async () => {
  const call = await callerWith({ requests: 5, documents: 1 });
  const { key, id } = await gateway.workspace.account();
  const keys = [key, ...(await Promise.all([1, 2, 3].map(() => anotherKey(id))))];
  const statuses = [];
  for (let count = 0; count < 12; count += 1) statuses.push((await call('GET', path, { key: keys[count % 4] })).status);
  const rejected = await call('GET', path, { key: keys[3] });

  expect(statuses).toEqual([...Array(10).fill(200), 429, 429]);
  expect(Number(rejected.headers.get('Retry-After'))).toBeGreaterThan(0);
  expect((await call('GET', path)).status).toBe(200);
});

test('when many calls are concurrent, then exactly as many pass as the limit allows', async () => {
  const call = await callerWith({ requests: 5 });
  const replies = await Promise.all(Array.from({ length: 20 }, () => call('GET', path)));

  expect(replies.filter(({ status }) => status === 200)).toHaveLength(5);
  expect(replies.filter(({ status }) => status === 429)).toHaveLength(15);
});

test('when two gateways count hits in batches, then the limit is never exceeded and undershot by at most a batch', async () => {
  const redis = connect();
  await whenReady(redis, 60_000);
  const [one, other] = [ratesOn(redis, { requests: 1_000 }), ratesOn(redis, { requests: 1_000 })];
  let passed = 0;
  for (let count = 0; count < 1_200; count += 1) passed += (await admitted(count % 3 === 0 ? one : other)) ? 1 : 0;

  expect(passed).toBeLessThanOrEqual(1_000);
  expect(passed).toBeGreaterThanOrEqual(990);
});

test.each(routeTable.filter(({ alsoPrints }) => alsoPrints).map(({ path }) => [path]))(
  'when GET %s prints, then it counts as a document, and what it does not print does not',
  async (row) => {
    const account = await gateway.workspace.account();
    const { locale: _locale, ...profile } = issuer;
    const { id: _id, ...fields } = buyer;
    await gateway.patch('/api/v1/account', profile, account);
    const client = await createClient(gateway, fields, account);
    const line_items = [{ description: 'Design', quantity: 12, rate: 95 }];
    const terms = { due_date: '2099-12-31', currency: 'EUR', tax_rate: 19, status: 'Sent', line_items };
    const documents: AnyRecord[] = [];
    for (let count = 0; count < 2; count += 1) {
      const invoice = await create(gateway, '/api/v1/invoices', { client_id: client.id, ...terms }, account);
      const credit = { reason: 'goodwill', amount: 5 };
      const note = await create(gateway, `/api/v1/invoices/${invoice.id}/credit-notes`, credit, account);
      documents.push(row.includes('credit-notes') ? note : invoice);
    }
    const bytes = archiveFile(chromiumPdf(), { author: 'Studio North', language: 'en', isAccessible: false });
    const call = await callerWith({ documents: 1 }, connect(), { print: async () => ({ bytes, warnings: [] }) });
    const { key } = account;
    const statusOf = async (index: number, format: string, method = 'GET') =>
      (await call(method, `${row.replace('{id}', String(documents[index]?.id))}?format=${format}`, { key })).status;

    expect([await statusOf(0, 'en16931-ubl'), await statusOf(1, 'en16931-cii')]).toEqual([200, 200]);
    expect([await statusOf(1, 'facturx', 'HEAD'), await statusOf(0, 'facturx')]).toEqual([200, 200]);
    expect([await statusOf(1, 'facturx'), await statusOf(1, 'peppol-ubl')]).toEqual([429, 200]);
  },
);

test('when a caller has the document already, asks for its headers, or there is no room to print it, then it does not count', async () => {
  const { post } = gateway;
  const client = await post('/api/v1/clients', { name: 'Ada', email: 'ada@client.example' });
  const fields = { client_id: client.body.data.id, due_date: '2026-12-31', amount: 1 };
  const invoice = await post('/api/v1/invoices', fields);
  const document = `/api/v1/invoices/${invoice.body.data.id}/pdf`;
  let isFull = true;
  const print = async () => {
    if (isFull) throw storeUnavailable();
    return { bytes: Buffer.from('%PDF-1.4\n%%EOF\n'), warnings: [] };
  };
  const call = await callerWith({ documents: 2 }, connect(), { print });

  const noRoom = [await call('GET', document), await call('GET', document), await call('GET', document)];
  isFull = false;
  const first = await call('GET', document);
  const tag = { 'If-None-Match': first.headers.get('ETag') ?? '' };
  const known = [];
  for (let count = 0; count < 4; count += 1) known.push((await call('GET', document, { headers: tag })).status);
  const headers = [(await call('HEAD', document)).status, (await call('HEAD', document)).status];
  const later = [(await call('GET', document)).status, (await call('GET', document)).status];

  expect(headers).toEqual([200, 200]);
  expect(noRoom.map(({ status }) => status)).toEqual([503, 503, 503]);
  expect([first.status, ...known]).toEqual([200, 304, 304, 304, 304]);
  expect(later).toEqual([200, 429]);
});

test('when an address sends too many invalid keys, then 429, while a valid key from there still works', async () => {
  const call = await callerWith({ refusals: 3 });
  const statuses = [];
  for (let count = 0; count < 5; count += 1) statuses.push((await call('GET', path, { key: 'nonsense' })).status);

  expect(statuses).toEqual([401, 401, 401, 429, 429]);
  expect((await call('GET', path)).status).toBe(200);
});

test('when a window has lost its end, or holds no number, then callers are served, and a lost end comes back', async () => {
  const redis = connect();
  const call = await callerWith({ requests: 3 }, redis);
  expect((await call('GET', path)).status).toBe(200);
  const windows = await redis.keys(`${gateway.workspace.redisPrefix}${connections.length}:rate:*`);
  for (const key of windows) await redis.incrby(key, 1_000);
  for (const key of windows) expect(await redis.persist(key)).toBe(1);

  expect((await call('GET', path)).status).toBe(200);
  for (const key of windows) expect(await redis.pttl(key)).toBeGreaterThan(0);

  for (const key of windows) await redis.set(key, 'no number');
  expect((await call('GET', path)).status).toBe(200);
});

test('when Redis is unavailable, then no caller is limited', async () => {
  const call = await callerWith({ requests: 1, refusals: 1 }, connect('redis://127.0.0.1:1'));
  const statuses = [];
  for (let count = 0; count < 5; count += 1) statuses.push((await call('GET', path)).status);

  expect(statuses).toEqual([200, 200, 200, 200, 200]);
  expect((await call('GET', path, { key: 'nonsense' })).status).toBe(401);
});

test('when Redis is available again, then the limits apply again', async () => {
  const redis = connect();
  await whenReady(redis, 60_000);
  const rates = ratesOn(redis, { requests: 1 });
  redis.disconnect();
  const meanwhile = [await admitted(rates), await admitted(rates)];
  await eventually(() => redis.status === 'end');
  await redis.connect();

  expect(meanwhile).toEqual([true, true]);
  await eventually(async () => !(await admitted(rates)));
});

async function admitted(rates: Rates): Promise<boolean> {
  const { request, response } = fakeCall();
  try {
    await rates.admit(request, response, { keyId: 'a key' } as never, {} as never);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ status: 429 });
    return false;
  }
}

/** The parts of a request and a response that the limits use. */
function fakeCall() {
  const request = { ip: '127.0.0.1', originalUrl: '/' };
  const response = { locals: {}, headersSent: false, append: () => undefined, setHeader: () => undefined };
  return { request: request as never, response: response as never };
}
