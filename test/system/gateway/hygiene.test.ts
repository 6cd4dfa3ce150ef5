// The public port: headers, request ids, logs, limits against slow and greedy callers, methods, metrics.
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { listen, serverOptions } from '#libs/http/listen.ts';
import { makeApp } from '../../../services/gateway/app.ts';
import { eventually } from '../../support/eventually.ts';
import { appOptionsFor, callerOf, startGateway, type TestGateway } from '../../support/gateway.ts';
import { spawnService } from '../../support/spawn-service.ts';
import { testLog } from '../../support/workspace.ts';

const path = '/api/v1/clients';
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

describe('headers', () => {
  test.each([
    ['a response', path, {}],
    ['a rejection', path, { key: undefined }],
    ['a 404', '/nothing', {}],
    ['the reference', '/docs', { key: undefined }],
  ])('when %s is sent, then it has the security headers and does not name the software', async (_what, url, call) => {
    const { headers } = await gateway.get(url, call);

    expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
    expect(headers.get('Content-Security-Policy')).toMatch(/default-src '(self|none)'/);
    expect(headers.get('Strict-Transport-Security')).toMatch(/^max-age=\d{7,}/);
    expect(headers.get('X-Frame-Options')).toBe('SAMEORIGIN');
    expect(headers.get('X-Powered-By')).toBeNull();
  });

  test('when a caller sends a request id, then the response has it; when the id could break a log line, then the response has another', async () => {
    const given = async (id: string) =>
      (await gateway.get(path, { headers: { 'X-Request-Id': id } })).headers.get('X-Request-Id');

    expect(await given('order-1017-a')).toBe('order-1017-a');
    for (const bad of ['short', 'x'.repeat(129), 'two words here', '{"level":50}']) {
      expect(await given(bad)).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});

describe('methods', () => {
  test('when HEAD is sent, then the response has the headers of GET and no body', async () => {
    const { id } = (await gateway.post(path, { name: 'Ada', email: 'ada@example.com' })).body.data;
    const read = await gateway.get(`${path}/${id}`);
    const response = await fetch(`${gateway.url}${path}/${id}`, {
      method: 'HEAD',
      headers: { Authorization: `Bearer ${gateway.account.key}` },
    });

    expect([response.status, await response.text()]).toEqual([200, '']);
    expect(response.headers.get('ETag')).toBe(read.headers.get('ETag'));
    expect(response.headers.get('Content-Length')).toBe(read.headers.get('Content-Length'));
  });

  test.each(['OPTIONS', 'PUT', 'PROPFIND'])('when %s is sent, then 405 names the allowed methods', async (method) => {
    const reply = await gateway.call(method, path);

    expect([reply.status, reply.body]).toEqual([405, expect.objectContaining({ error: 'Method not allowed' })]);
    expect(reply.headers.get('Allow')?.split(', ').toSorted()).toEqual(['GET', 'HEAD', 'POST']);
  });
});

describe('bodies', () => {
  test.each(['Content-Length', 'chunks'])('when a body is too large, declared by %s, then 413', async (how) => {
    const text = JSON.stringify({ name: 'x'.repeat(300_000), email: 'ada@example.com' });
    const body = how === 'chunks' ? new Blob([text]).stream() : text;
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${gateway.account.key}`, 'Content-Type': 'application/json' },
      body: body as string,
      ...(how === 'chunks' ? { duplex: 'half' } : {}),
    });

    expect([response.status, await response.json()]).toEqual([
      413,
      expect.objectContaining({ error: 'Request body is too large' }),
    ]);
  });

  test.each([
    ['a list', `{"lineItems":[${'{},'.repeat(250_000)}{}]}`],
    [
      'an object and a list',
      `{"a":{${Array.from({ length: 125_000 }, (_, index) => `"${index}":1`).join()}},"b":[${'0,'.repeat(125_000)}0]}`,
    ],
    [
      'an object that begins with a long one',
      `{"a":"${'x'.repeat(400_000)}",${Array.from({ length: 10_001 }, (_, index) => `"${index}":1`).join()}}`,
    ],
  ])('when a body has too many values, in %s, then 400 before they are validated', async (_where, raw) => {
    const reply = await gateway.call('POST', '/api/tools/generate-pdf', { raw });

    expect([reply.status, reply.body]).toEqual([
      400,
      expect.objectContaining({ error: 'Request body must hold at most 10000 values' }),
    ]);
  });

  test('when a body is compressed, then it is rejected before it is decompressed', async () => {
    const headers = { 'Content-Encoding': 'gzip', 'Content-Type': 'application/json' };
    const reply = await gateway.call('POST', path, { raw: 'x', headers });

    expect(reply.status).toBe(415);
  });
});

describe('slow and greedy callers', () => {
  let server: Server;
  let close: () => Promise<void>;
  beforeAll(async () => {
    server = createServer(
      { ...serverOptions, connectionsCheckingInterval: 50 },
      makeApp(appOptionsFor(gateway.workspace)),
    );
    close = await listen(server, '127.0.0.1', 0, testLog);
  });
  afterAll(() => close());

  /** Returns all that the server sends until it closes the connection. */
  function raw(text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => socket.write(text));
      let response = '';
      socket.on('data', (chunk) => (response += String(chunk)));
      socket.once('close', () => resolve(response));
      socket.once('error', reject);
    });
  }

  test('when the server listens, then its limits are the ones that are documented', () => {
    expect(server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 65_000 });
    expect(server).toMatchObject({ timeout: 60_000, maxHeadersCount: 100 });
    expect(serverOptions).toEqual({ connectionsCheckingInterval: 5_000, maxHeaderSize: 16_384 });
  });

  test('when headers do not end within the limit, then 408 and the connection ends', async () => {
    server.headersTimeout = 100;
    const response = await raw('GET /api/v1/clients HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    server.headersTimeout = 10_000;

    expect(response).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('when a body does not end within the limit, then 408 and the connection ends', async () => {
    server.requestTimeout = 200;
    server.headersTimeout = 100;
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.account.key}\r\n`;
    const response = await raw(`${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name":`);
    server.requestTimeout = 30_000;
    server.headersTimeout = 10_000;

    expect(response).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('when a response is not read, then its connection ends and its memory is released', async () => {
    const closed = Promise.withResolvers<{ isFinished: boolean }>();
    const other = createServer(serverOptions, (_request, response) => {
      response.once('close', () => closed.resolve({ isFinished: response.writableFinished }));
      // More than the kernel buffers.
      response.end(Buffer.alloc(64 * 1024 * 1024));
    });
    const closeOther = await listen(other, '127.0.0.1', 0, testLog);
    other.timeout = 300;
    const socket = connect((other.address() as AddressInfo).port, '127.0.0.1', () =>
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
    );
    socket.pause().on('error', () => undefined);

    expect(await closed.promise).toEqual({ isFinished: false });
    socket.destroy();
    await closeOther();
  });

  test('when headers are larger than 16 KiB, then 431', async () => {
    const response = await raw(`GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`);

    expect(response).toMatch(/^HTTP\/1\.1 431 /);
  });

  test('when a request gives two lengths, then 400 and the connection ends', async () => {
    const response = await raw(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    );

    expect(response).toMatch(/^HTTP\/1\.1 400 /);
  });
});

test('when requests are answered, then the metrics count them by route and status, never by path', async () => {
  const metrics = new Registry();
  const server = createServer(makeApp({ ...appOptionsFor(gateway.workspace), metrics }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const call = callerOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, gateway.account.key);
  const id = '0198c0de-0000-7000-8000-000000000001';
  await call('GET', `${path}/${id}`);
  await call('GET', path);
  await call('GET', '/nothing/here');
  server.close().closeAllConnections();

  const text = await eventually(async () => {
    const now = await metrics.metrics();
    return now.includes('route="none"') && now;
  });
  const count = (route: string, status: number) =>
    `billhook_http_request_duration_seconds_count{method="GET",route="${route}",status="${status}"} 1`;
  expect(text).toContain(count('/api/v1/clients/:id', 404));
  expect(text).toContain(count('/api/v1/clients', 200));
  expect(text).toContain(count('none', 404));
  expect(text).not.toContain(id);
});

test('when the gateway logs its requests, then each line has id, path and status, and no key, body or query', async () => {
  const service = await spawnService('gateway', gateway.workspace);
  const call = callerOf(service.url, gateway.account.key);
  const headers = { 'X-Request-Id': 'hygiene-0001' };
  await call('POST', path, { body: { name: 'Very Secret', email: 'very@secret.example' }, headers });
  await call('GET', `${path}?q=private`, { key: 'bh_live_nonsense', headers: { 'X-Request-Id': 'hygiene-0002' } });
  await call('POST', path, { raw: '{"name": "Very Secret', headers: { 'X-Request-Id': 'hygiene-0003' } });
  await eventually(() => service.output().includes('hygiene-0003'));
  await service.stop();

  const lines = service
    .output()
    .split('\n')
    .filter((line) => line.includes('hygiene-'));
  const logged = lines.map((line) => JSON.parse(line)).filter(({ res }) => res);
  expect(logged.map(({ req, res }) => [req.id, req.method, req.path, res.status])).toEqual([
    ['hygiene-0001', 'POST', path, 201],
    ['hygiene-0002', 'GET', path, 401],
    ['hygiene-0003', 'POST', path, 400],
  ]);
  for (const secret of ['Secret', 'private', 'bh_live_nonsense', gateway.account.key]) {
    expect(service.output()).not.toContain(secret);
  }
});
