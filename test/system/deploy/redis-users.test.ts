// The Redis users that compose and the manifests use: the program makes them, a real Redis loads them, and the real services work
// with them. test/service/deploy/redis-users.test.ts tests, command by command, what a service may not do.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { insertOperator } from '#libs/models/operations/operator.ts';
import { openRedis, type Redis } from '#libs/redis/connection.ts';
import { findRedis } from '../../../deploy/backends/redis.ts';
import { startRedis } from '../../../deploy/backends/start-redis.ts';
import { REDIS_USERS, type RedisUser } from '../../../deploy/redis/users.ts';
import { browserOf, PASSWORD } from '../../support/dashboard/dashboard.ts';
import { eventually } from '../../support/eventually.ts';
import { callerOf } from '../../support/gateway.ts';
import { pdfOf } from '../../support/pdf-body.ts';
import { startReceiver } from '../../support/receiver.ts';
import { runAdmin } from '../../support/run-admin.ts';
import { type ServiceName, type SpawnedService, spawnService } from '../../support/spawn-service.ts';
import { steadyPort } from '../../support/steady-port.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

const SERVICES = ['gateway', 'renderer', 'webhooks', 'scheduler', 'operations', 'portal', 'mail'] as const;
/** Reads the log of rejected commands, which no service may. */
const AUDITOR = 'user auditor on >auditor resetkeys resetchannels -@all +acl|log +ping +info';

let workspace: Workspace;
let folder: string;
let redisUrl: string;
let auditor: Redis;
const running = {} as Record<ServiceName, SpawnedService>;
const closers: (() => unknown)[] = [];

beforeAll(async () => {
  workspace = await openWorkspace();
  folder = await mkdtemp(join(tmpdir(), 'billhook-redis-users-'));
  const port = await steadyPort();
  redisUrl = `redis://127.0.0.1:${port}`;
  makeUsers('--folder', folder);
  const { command } = await findRedis({ env: { ...process.env, REDIS_URL: '' } });
  const text = `${readFileSync(join(folder, 'acl', 'users.acl'), 'utf8')}${AUDITOR}\n`;
  const url = (address: string) => address.replace('://', '://auditor:auditor@');
  const redis = await startRedis({ command, folder: join(folder, 'data'), env: process.env, port, acl: { text, url } });
  closers.push(() => redis.stop());
  auditor = openRedis(url(redis.url));
  closers.push(() => auditor.disconnect());
  const start = async (name: ServiceName) => {
    // Waits between attempts shrink to a thousandth.
    const env: Record<string, string> = name === 'webhooks' ? { WEBHOOK_RETRY_SCALE: '0.001' } : {};
    running[name] = await spawnService(name, { ...workspace, redisUrl: addressOf(name) }, env);
    closers.push(() => running[name].stop());
  };
  await Promise.all(SERVICES.map(start));
});
afterAll(async () => {
  for (const close of closers.reverse()) await close();
  await rm(folder, { recursive: true, force: true });
  await workspace.close();
});

const program = ['deploy/redis/main.ts', '--url'];
const makeUsers = (...args: string[]) =>
  execFileSync('node', [...program, redisUrl, '--prefix', workspace.redisPrefix, ...args], { encoding: 'utf8' });
const addressOf = (user: RedisUser) => readFileSync(join(folder, user, 'redis-url'), 'utf8').trim();

test('when all services work with their users, then documents, batches, webhooks, dashboard and commands work, and no command was rejected', async () => {
  const account = await workspace.account();
  const call = callerOf(running.gateway.url, account.key);
  const receiver = await startReceiver();
  closers.push(() => receiver.close());

  await call('POST', '/api/v1/webhooks', { body: { url: receiver.url, events: ['client.created'] } });
  receiver.answerWith(500);
  const client = (await call('POST', '/api/v1/clients', { body: { name: 'Ada', email: 'ada@example.com' } })).body.data;
  const body = {
    client_id: client.id,
    due_date: '2099-12-31',
    line_items: [{ description: 'Work', quantity: 1, rate: 10 }],
  };
  const invoice = (await call('POST', '/api/v1/invoices', { body })).body.data;
  const batch = await call('POST', '/api/v1/documents', { body: { documents: [{ type: 'invoice', id: invoice.id }] } });
  expect(batch.status).toBe(202);
  expect((await call('POST', '/api/tools/generate-pdf', { body: pdfOf('Invoice') })).status).toBe(200);
  await eventually(async () => {
    const { data } = (await call('GET', `/api/v1/documents/${batch.body.data.id}`)).body;
    return data.completed_at !== null;
  }, 60_000);
  // The first attempt failed: the second came from the queue of retries.
  await eventually(() => receiver.received.length >= 2, 60_000);

  await insertOperator({ name: 'ada', role: 'operator', password: PASSWORD });
  const browser = browserOf(running.operations.url);
  expect((await browser.post('/login', { name: 'ada', password: PASSWORD })).status).toBe(303);
  for (const path of ['/', '/failures', '/deliveries', '/renders', '/queues/render-document', '/queues/fan-out-event'])
    expect([path, (await browser.get(path)).status]).toEqual([path, 200]);
  for (const action of ['pause', 'resume', 'retry'])
    expect([action, (await browser.post(`/queues/deliver-webhook/${action}`)).status]).toEqual([action, 303]);
  const env = { MONGODB_URI: workspace.mongodbUri, REDIS_URL: addressOf('admin'), REDIS_PREFIX: workspace.redisPrefix };
  const listed = await runAdmin(['queues', 'list'], env);
  expect([listed.code, listed.stderr]).toEqual([0, '']);
  const metricsOf = async (name: ServiceName) => (await fetch(`${running[name].healthUrl}/metrics`)).text();
  for (const name of SERVICES) expect(await metricsOf(name)).toContain('process_cpu_seconds_total');
  expect(await metricsOf('webhooks')).toMatch(/billhook_queue_jobs_ready\{queue="retry-webhook"\} \d/);
  expect(await metricsOf('mail')).toMatch(/billhook_queue_jobs_ready\{queue="send-mail"\} \d/);
  expect(await metricsOf('gateway')).toMatch(/billhook_queue_jobs_ready\{queue="render-document"\} \d/);

  const rejected = ((await auditor.call('ACL', 'LOG', '100')) as unknown[][]).map((entry) => {
    const fields = Object.fromEntries(
      Array.from({ length: entry.length / 2 }, (_none, at) => [entry[at * 2], entry[at * 2 + 1]]),
    );
    return `${fields.username} ${fields.object} (${fields.reason})`;
  });
  expect(rejected).toEqual([]);
  for (const name of SERVICES) expect(running[name].output()).not.toMatch(/NOPERM|NOAUTH|WRONGPASS/);
});

test('when the renderer guesses the names of other documents and queues, then it finds none and its attempts are logged', async () => {
  const renderer = openRedis(addressOf('renderer'));
  closers.push(() => renderer.disconnect());
  const { redisPrefix } = workspace;

  for (const [command, ...args] of [
    ['KEYS', `${redisPrefix}:unsaved:*`],
    ['SCAN', '0'],
    ['CONFIG', 'GET', '*'],
    ['FLUSHALL'],
    ['MODULE', 'LIST'],
    ['LRANGE', `${redisPrefix}:deliver-webhook:wait`, '0', '-1'],
    ['GET', `${redisPrefix}:rate:requests:key`],
  ] as [string, ...string[]][]) {
    await expect(renderer.call(command, ...args)).rejects.toThrow(/NOPERM/);
  }

  // The body of a finished document is deleted, so its key has no value.
  const jobs = (await renderer.zrange(`${redisPrefix}:render-document:completed`, '0', '-1')) as string[];
  for (const id of jobs) expect(await renderer.get(`${redisPrefix}:unsaved:render-document:${id}`)).toBeNull();
  expect((await auditor.call('ACL', 'LOG', '100')) as unknown[]).not.toEqual([]);
});

test('when the users are made again, then passwords stay and nothing is written; with --renew all passwords are new', () => {
  const before = REDIS_USERS.map(addressOf);

  expect(makeUsers('--folder', folder)).toContain('unchanged');
  expect(REDIS_USERS.map(addressOf)).toEqual(before);
  expect(makeUsers('--folder', folder, '--renew')).toContain('restart Redis');
  expect(REDIS_USERS.filter((user, index) => addressOf(user) === before[index])).toEqual([]);
  for (const user of REDIS_USERS) expect(statSync(join(folder, user, 'redis-url')).mode % 0o1000).toBe(0o400);
});

test('when the Secret is printed, then it has the same entries as the folder', () => {
  const { kind, stringData } = JSON.parse(makeUsers('--kubernetes'));

  expect(kind).toBe('Secret');
  for (const user of REDIS_USERS) expect(stringData[user]).toMatch(new RegExp(`^redis://${user}:[\\w-]{32}@127`));
  expect(stringData['users.acl']).toMatch(
    /^user default off .*\nuser health on nopass .*\n(user \w+ on #[0-9a-f]{64} .*\n){8}$/,
  );
});

test.each([
  [['--folder', 'x'], '--url must be'],
  [['--url', 'redis://user:secret@host:6379', '--kubernetes'], '--url must be'],
  [['--url', 'redis://host:6379'], '--folder or --kubernetes is missing'],
  [['--url', 'redis://host:6379', '--kubernetes', '--prefix', 'a b'], '--prefix must have'],
])('when the program is called with %j, then it says what is wrong and writes nothing', (args, problem) => {
  const { status, stdout, stderr } = spawnSync('node', ['deploy/redis/main.ts', ...args], { encoding: 'utf8' });

  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toContain(problem);
  expect(stderr).not.toContain('secret');
});
