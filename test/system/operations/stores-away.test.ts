// The dashboard while a store is unavailable: it shows the rest and names what is missing.
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { retryWebhook } from '#libs/jobs/catalog.ts';
import { openQueues, type Queues } from '#libs/jobs/queue.ts';
import { AuditEntry } from '#libs/models/operations/audit-entry.ts';
import { Operator } from '#libs/models/operations/operator.ts';
import { findRedis } from '../../../deploy/backends/redis.ts';
import { type RunningRedis, startRedis } from '../../../deploy/backends/start-redis.ts';
import { type Dashboard, openDashboard } from '../../../services/operations/dashboard.ts';
import { addOperator, browserOf, LIMITS, PASSWORD } from '../../support/dashboard/dashboard.ts';
import { eventually } from '../../support/eventually.ts';
import { withErrors } from '../../support/mongodb-errors.ts';
import { openWorkspace, testLog, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let folder: string;
let command: string;
let redis: RunningRedis;
let queues: Queues;
let dashboard: Dashboard;
const server = createServer((request, response) => dashboard.app(request, response));

beforeAll(async () => {
  workspace = await openWorkspace();
  folder = await mkdtemp(join(tmpdir(), 'billhook-operations-'));
  ({ command } = await findRedis({ env: process.env }));
  redis = await startRedis({ command, folder, env: process.env });
  queues = openQueues({ redisUrl: redis.url, prefix: workspace.redisPrefix, log: testLog });
  await eventually(() => queues.redis.status === 'ready');
  dashboard = openDashboard({ limits: LIMITS, queues, log: testLog, trustProxy: 0, nudge: () => undefined });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await dashboard.close();
  await queues.close();
  server.closeAllConnections();
  server.close();
  await redis.stop();
  await rm(folder, { recursive: true, force: true });
  await workspace.close();
});

test('when Redis may evict jobs or is unavailable, then the overview shows it at the top, and the rest below', async () => {
  const browser = browserOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await addOperator({ name: 'ada', role: 'operator' });
  await queues.redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
  expect((await browser.post('/login', { name: 'ada', password: PASSWORD })).status).toBe(303);
  expect((await browser.get('/')).text).toContain('maxmemory-policy is allkeys-lru. Set it to noeviction.');

  const { port } = redis;
  await redis.stop();

  const { text } = await eventually(async () => {
    const page = await browser.get('/');
    return page.text.includes('Redis is unavailable') && page;
  });
  expect(text).toContain('Records are safe');
  expect(text).toContain('Delivered');
  expect((await browser.get('/deliveries')).status).toBe(200);
  const failures = await browser.get('/failures');
  expect([failures.status, failures.text]).toEqual([200, expect.stringContaining('This cannot be read now')]);
  expect(failures.text).not.toContain('No queue has a failed job');
  const paused = await browser.post('/queues/fan-out-event/pause');
  expect([paused.status, paused.text]).toEqual([503, expect.stringContaining('Redis is unavailable')]);
  expect((await browser.get('/audit?outcome=failed')).text).toContain('queue.pause');

  redis = await startRedis({ command, folder, env: process.env, port });
  await eventually(async () => (await browser.get('/')).text.includes('noeviction'));
});

test('when Redis responds but a queue cannot be read, then the overview does not report that all is well', async () => {
  const browser = browserOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await addOperator({ name: 'barbara', role: 'operator' });
  expect((await browser.post('/login', { name: 'barbara', password: PASSWORD })).status).toBe(303);
  const list = queues.raw(retryWebhook).toKey('active');
  await queues.redis.set(list, 'not a list');

  const { text } = await eventually(async () => {
    const page = await browser.get('/');
    return page.text.includes('The queues cannot be read') && page;
  });

  expect(text).toContain('The workers cannot be read');
  expect(text).not.toContain('All is well.');
  await queues.redis.del(list);
});

test('when MongoDB is unavailable during ten login attempts, then no operator is locked out once it is available', async () => {
  const browser = browserOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await addOperator({ name: 'radia', role: 'operator' });
  const login = () => browser.post('/login', { name: 'radia', password: PASSWORD });
  const namespace = `${Operator.db.name}.${Operator.collection.name}`;
  const outage = { failCommands: ['find'], namespace, errorCode: 89, times: 100 };

  await withErrors(outage, async () => {
    for (let tries = 0; tries < 11; tries += 1) expect((await login()).status).toBe(503);
  });

  expect((await login()).status).toBe(303);
});

test('when a search takes MongoDB too long, then the page asks for a shorter period', async () => {
  const browser = browserOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await addOperator({ name: 'grace', role: 'operator' });
  expect((await browser.post('/login', { name: 'grace', password: PASSWORD })).status).toBe(303);
  const namespace = `${AuditEntry.db.name}.${AuditEntry.collection.name}`;
  const outOfTime = { failCommands: ['find', 'aggregate'], namespace, errorCode: 50 };
  const { status, text } = await withErrors(outOfTime, () => browser.get('/audit'));

  expect([status, text]).toEqual([422, expect.stringContaining('Please choose a shorter time')]);
  expect((await browser.get('/audit')).status).toBe(200);
});
