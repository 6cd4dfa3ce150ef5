// Raw requests against the server as it listens in production: rejected in the envelope or disconnected, never smuggled, never a crash.
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { oneAtATime } from '#libs/http/connections.ts';
import { listen, serverOptions } from '#libs/http/listen.ts';
import { makeApp } from '../../../services/gateway/app.ts';
import { count, isFull } from '../../support/form.ts';
import { appOptionsFor, callerOf } from '../../support/gateway.ts';
import { openWorkspace, type TestAccount, testLog, type Workspace } from '../../support/workspace.ts';
import { rawCases } from './http-corpus.ts';

let workspace: Workspace;
let account: TestAccount;
let server: Server;
let close: () => Promise<void>;
/** The path of every request that reached the service. */
const requested: string[] = [];
beforeAll(async () => {
  workspace = await openWorkspace();
  account = await workspace.account();
  const app = oneAtATime(makeApp(appOptionsFor(workspace)));
  server = createServer({ ...serverOptions, connectionsCheckingInterval: 50 }, app);
  server.prependListener('request', ({ url = '' }) => requested.push(url));
  close = await listen(server, '127.0.0.1', 0, testLog);
  // The rest of an incomplete request is awaited, but not as long as in production.
  server.requestTimeout = 1_500;
  server.headersTimeout = 1_000;
});
afterAll(async () => {
  server.closeAllConnections();
  await close();
  await workspace.close();
});

const portOf = () => (server.address() as AddressInfo).port;

/** @returns all that the server sends until it ends the connection, or is silent for `silenceMs` after its first bytes. */
function raw(bytes: string, { silenceMs = 400 } = {}): Promise<string> {
  return new Promise((resolve) => {
    let response = '';
    const socket = connect(portOf(), '127.0.0.1', () =>
      socket.write(Buffer.from(bytes.replaceAll('%KEY%', account.key), 'latin1')),
    );
    socket.once('timeout', () => socket.destroy());
    socket.on('data', (data) => {
      response += data.toString('latin1');
      socket.setTimeout(silenceMs);
    });
    // A server that rejects a long request closes the connection while it is being sent: that is a rejection, too.
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(response));
  });
}

const statusesOf = (response: string) =>
  [...response.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)).filter((status) => status !== 100);

test('when the corpus is counted, then it has at least 150 distinct requests', () => {
  expect(new Set(rawCases.map(({ bytes }) => bytes)).size).toBeGreaterThanOrEqual(150);
  expect(new Set(rawCases.map(({ what }) => what)).size).toBe(rawCases.length);
});

test('when requests are malformed, then each is rejected or disconnected, none is smuggled, and the next client is served', async () => {
  const responses: { what: string; outcome: string; response: string }[] = [];
  const queue = [...rawCases];
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      responses.push({ what: next.what, outcome: next.outcome, response: await raw(next.bytes) });
    }
  };
  await Promise.all(Array.from({ length: 12 }, work));

  const wrong = responses.filter(({ outcome, response }) => !isExpected(outcome, response));
  expect(wrong.map(({ what, outcome, response }) => [what, outcome, response.slice(0, 200)])).toEqual([]);
  expect(requested.filter((url) => url.includes('smuggled'))).toEqual([]);
  const call = callerOf(`http://127.0.0.1:${portOf()}`, account.key);
  expect((await call('GET', '/api/v1/clients')).status).toBe(200);
  count('raw requests', rawCases.length);
});

function isExpected(outcome: string, response: string): boolean {
  const statuses = statusesOf(response);
  const leaksNothing = !/node_modules|\.ts:\d|at Object|Mongo/.test(response);
  const isSafe = statuses.every((status) => status < 500) && leaksNothing;
  const isRefusal = statuses.every((status) => status >= 400) && statuses.length <= 2;
  if (outcome === 'served') return isSafe && statuses.length === 1 && (statuses[0] === 200 || statuses[0] === 201);
  if (outcome === 'not found') return isSafe && isRefusal && statuses.length > 0;
  if (outcome === 'refused') return isSafe && isRefusal;
  return isSafe && statuses.length <= 2;
}

test('when a thousand requests are pipelined on one connection, then their responses arrive in order', async () => {
  const requests = isFull ? 1_000 : 200;
  const one = (index: number) => {
    const end = index === requests - 1 ? 'Connection: close\r\n' : '';
    return `GET /api/v1/clients?limit=1&offset=${index} HTTP/1.1\r\nHost: x\r\n${end}Authorization: Bearer %KEY%\r\n\r\n`;
  };
  server.requestTimeout = 60_000;
  const response = await raw(Array.from({ length: requests }, (_, index) => one(index)).join(''), {
    silenceMs: 30_000,
  });
  server.requestTimeout = 1_500;

  expect(statusesOf(response)).toEqual(Array.from({ length: requests }, () => 200));
  const offsets = [...response.matchAll(/"pagination":\{"total":\d+,"limit":1,"offset":(\d+)\}/g)].map(([, offset]) =>
    Number(offset),
  );
  expect(offsets).toEqual(Array.from({ length: requests }, (_, index) => index));
  count('raw requests', requests);
});

test('when clients disconnect in the middle of a hundred requests, then the next client is served', async () => {
  const call = callerOf(`http://127.0.0.1:${portOf()}`, account.key);
  const head = `POST /api/v1/clients HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${account.key}\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n{"name"`;
  await Promise.all(
    Array.from(
      { length: 100 },
      (_, index) =>
        new Promise<void>((resolve) => {
          const socket = connect(portOf(), '127.0.0.1', () =>
            socket.write(head.slice(0, head.length - (index % 90)), () => socket.destroy()),
          );
          socket.on('error', () => undefined);
          socket.once('close', () => resolve());
        }),
    ),
  );

  expect((await call('GET', '/api/v1/clients?q="name"')).body.pagination.total).toBe(0);
  expect((await call('POST', '/api/v1/clients', { body: { name: 'after', email: 'a@example.com' } })).status).toBe(201);
  count('raw requests', 100);
});
