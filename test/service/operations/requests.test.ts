// The figures of requests: what the gateways count, that several add up, and that the page shows where it is slow and what fails.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { openRequestCounter, RequestFigures } from '#libs/models/operations/request-figures.ts';
import { makeApp } from '../../../services/gateway/app.ts';
import { routes } from '../../../services/gateway/routes.ts';
import { readRequests } from '../../../services/operations/store/request-figures.ts';
import { type Browser, startDashboard, type TestDashboard } from '../../support/dashboard/dashboard.ts';
import { appOptionsFor } from '../../support/gateway.ts';

const MINUTE_MS = 60_000;
const ago = (minutes: number) => Date.now() - minutes * MINUTE_MS;

let dashboard: TestDashboard;
let gateway: Server;
let url: string;
let viewer: Browser;
const figures = openRequestCounter();
beforeAll(async () => {
  dashboard = await startDashboard();
  gateway = createServer(makeApp({ ...appOptionsFor(dashboard.workspace), figures }));
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  viewer = await dashboard.login('viewer');
});
afterEach(async () => {
  await figures.flush();
  await RequestFigures.deleteMany({});
});
afterAll(async () => {
  gateway.closeAllConnections();
  gateway.close();
  await dashboard.close();
});

const read = () => readRequests('minute', new Date(ago(61)));

test('when requests are answered, then each counts for its operation, status and code, wherever it was rejected', async () => {
  const { key } = await dashboard.workspace.account();
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const send = (method: string, path: string, body?: string) =>
    fetch(url + path, { method, headers, ...(body ? { body } : {}) }).then((response) => response.text());
  await send('GET', '/api/v1/clients');
  await send('POST', '/api/v1/clients', '{}');
  await send('POST', '/api/v1/clients', '{"name":"Ada","email":"ada@example.com"}');
  await fetch(`${url}/api/v1/clients`);
  await send('GET', '/api/v1/nothing');
  await send('DELETE', '/api/v1/clients');
  await send('GET', '/llms.txt');

  await figures.flush();
  const { total, operations, codes } = await read();

  const sums = (name: string) => operations.find(({ operation }) => operation === name);
  expect(total).toMatchObject({ requests: 7, refused: 4, failed: 0, left: 0, p95: expect.any(Number) });
  expect(sums('listClients')).toMatchObject({ requests: 2, refused: 1, failed: 0 });
  expect(sums('addClient')).toMatchObject({ requests: 2, refused: 1 });
  expect(sums('none')).toMatchObject({ requests: 3, refused: 2 });
  expect(codes.map(({ code, requests, operations: [first] }) => [code, requests, first?.operation]).toSorted()).toEqual(
    [
      ['method_not_allowed', 1, 'none'],
      ['missing_required_fields', 1, 'addClient'],
      ['route_not_found', 1, 'none'],
      ['unauthorized', 1, 'listClients'],
    ],
  );
});

test('when several gateways count the same operation, then the sums are of all, and a caller who left has no duration', async () => {
  const gateways = [openRequestCounter(), openRequestCounter(), openRequestCounter()];
  for (const one of gateways) {
    one.count({ operation: 'listClients', status: 200, isAnswered: true, ms: 4 }, ago(2));
    one.count(
      { operation: 'createInvoice', status: 503, isAnswered: true, code: 'store_unavailable', ms: 900 },
      ago(2),
    );
    one.count({ operation: 'createInvoice', status: 200, isAnswered: false, ms: 20_000 }, ago(1));
  }
  await Promise.all(gateways.map((one) => one.flush()));
  await Promise.all(gateways.map((one) => one.flush()));

  const { total, steps, operations, codes } = await read();

  expect(total).toMatchObject({ requests: 9, failed: 3, left: 3 });
  expect(steps.map(({ requests, failed, left }) => [requests, failed, left])).toEqual([
    [6, 3, 0],
    [3, 0, 3],
  ]);
  const slow = operations.find(({ operation }) => operation === 'createInvoice');
  expect(Math.abs((slow?.p95 ?? 0) / 900 - 1)).toBeLessThan(0.125);
  expect(codes).toEqual([
    {
      code: 'store_unavailable',
      requests: 3,
      operations: [{ code: 'store_unavailable', operation: 'createInvoice', requests: 3 }],
    },
  ]);
});

test('when MongoDB does not take the figures, then they are written later, under the minutes in which they were counted', async () => {
  const counter = openRequestCounter();
  const { collection } = RequestFigures;
  const write = collection.bulkWrite;
  counter.count({ operation: 'listClients', status: 503, isAnswered: true, ms: 1 }, ago(3));
  collection.bulkWrite = () => Promise.reject(new Error('no primary'));
  await expect(counter.flush()).rejects.toThrow('no primary');
  collection.bulkWrite = write;
  // Far more minutes than are kept.
  for (let minute = 300; minute >= 0; minute -= 1)
    counter.count({ operation: 'listClients', status: 200, isAnswered: true, ms: 1 }, ago(minute));
  await counter.flush();

  expect(await RequestFigures.countDocuments({ span: 'minute' })).toBe(60);
  expect((await read()).total).toMatchObject({ requests: 60, failed: 0 });
});

test('when the page is shown, then the slowest operation is first, errors have their status, and other orders and times are links', async () => {
  for (const [operation, ms] of [
    ['listClients', 5],
    ['generatePdf', 2_000],
    ['listInvoices', 40],
  ] as const)
    figures.count({ operation, status: 200, isAnswered: true, ms }, ago(3));
  for (let each = 0; each < 30; each += 1)
    figures.count({ operation: 'listClients', status: 429, isAnswered: true, code: 'rate_limited', ms: 1 }, ago(3));
  await figures.flush();

  const { text } = await viewer.get('/requests');
  const most = (await viewer.get('/requests?period=day&order=most')).text;
  const overview = (await viewer.get('/')).text;

  expect(text.indexOf('generatePdf')).toBeLessThan(text.indexOf('listInvoices'));
  expect(most.indexOf('<code>listClients')).toBeLessThan(most.indexOf('<code>generatePdf'));
  expect(text).toMatch(/rate_limited[\s\S]*429[\s\S]*30/);
  expect(overview).toContain('33 requests, 30 refused, 0 failed');
  for (const query of ['period=year', 'order=toString'])
    expect((await viewer.get(`/requests?${query}`)).status).toBe(400);
});

test('when all operations are counted, then a record stays far below the limit of MongoDB, and their names are fields of it', async () => {
  for (const { operation } of routes) {
    expect(operation).toMatch(/^\w+$/);
    for (let ms = 1; ms < 40_000; ms *= 1.25)
      for (const status of [200, 400, 404, 503])
        figures.count({ operation, status, isAnswered: true, code: `code_${status}`, ms });
  }
  await figures.flush();

  const [{ bytes } = { bytes: 0 }] = await RequestFigures.aggregate<{ bytes: number }>([
    { $match: { span: 'ten-minutes' } },
    { $project: { bytes: { $bsonSize: '$$ROOT' } } },
  ]);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(300_000);
});
