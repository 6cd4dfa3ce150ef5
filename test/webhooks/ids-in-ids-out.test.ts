// Many events to good and bad endpoints while Redis is flushed, killed and restarted empty and the service is killed:
// every committed id arrives at every healthy endpoint. TEST_EVENTS=20000 is the long run; the journal is printed with it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { Delivery } from '#libs/models/delivery.ts';
import { Event, type EventRecord } from '#libs/models/event.ts';
import { findRedis } from '../../deploy/local/redis.ts';
import { type RunningRedis, startRedis } from '../../deploy/local/start-redis.ts';
import { eventually } from '../support/eventually.ts';
import {
  announceMany,
  answer,
  type Receiver,
  type RunningService,
  register,
  startReceiver,
  startWebhookService,
  verify,
} from '../support/webhooks.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

const EVENTS = Number(process.env['TEST_EVENTS'] ?? 300);
const BATCH = 20;
const IN_FLIGHT_MAX = 5;
const env = { WEBHOOK_TIMEOUT_MS: '1000', WEBHOOK_RETRY_SCALE: '0.1', LOG_LEVEL: 'info' };

let workspace: Workspace;
let folder: string;
let redis: RunningRedis;
let services: RunningService[] = [];
let healthy: Array<Receiver & { secret: string }> = [];
const receivers: Receiver[] = [];
const journal: Array<Record<string, unknown>> = [];

const started = Date.now();
const note = (what: string, facts: object = {}) => journal.push({ atMs: Date.now() - started, what, ...facts });

async function freshRedis(port?: number) {
  // A Redis of its own: this one is killed. Its folder is new each time, so it comes back knowing nothing.
  const { command } = await findRedis({ env: process.env });
  const data = await mkdtemp(join(folder, 'redis-'));
  return startRedis({ command, folder: data, env: process.env, ...(port ? { port } : {}) });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'billhook-ids-'));
  redis = await freshRedis();
  workspace = { ...(await openWorkspace()), redisUrl: redis.url };
});
afterAll(async () => {
  for (const service of services) await service.stop();
  for (const receiver of receivers) await receiver.close();
  await workspace.close();
  await redis.stop();
  await rm(folder, { recursive: true, force: true });
});

const restart = async () => {
  services = [];
  for (let count = 0; count < 2; count += 1) services.push(await startWebhookService(workspace, env));
};

async function killServices() {
  for (const service of services) await service.kill();
  note('both services killed');
  await restart();
}

async function flush() {
  const client = new Redis(redis.url);
  note('Redis flushed', { keys: await client.dbsize() });
  await client.flushall();
  client.disconnect();
}

async function killRedis() {
  process.kill(redis.pid, 'SIGKILL');
  note('Redis killed');
  await pause(1_000);
  redis = await freshRedis(redis.port);
  note('Redis back, empty');
}

const disturbances: Array<[share: number, run: () => Promise<void>]> = [
  [0.2, flush],
  [0.4, killServices],
  [0.6, killRedis],
  [0.8, killServices],
  [0.9, flush],
];

async function receiver(...args: Parameters<typeof startReceiver>) {
  const target = await startReceiver(...args);
  receivers.push(target);
  return target;
}

test('when everything around the database is killed and flushed, then every committed event arrives at every healthy endpoint', async () => {
  const account = await workspace.account();
  healthy = [];
  for (let count = 0; count < 6; count += 1) {
    const target = await receiver();
    healthy.push({ ...target, secret: (await register(workspace, account.id, target.url)).secret });
  }
  const failing = await receiver((_request, response) => answer(response, 500));
  const flaky = await receiver((_request, response, count) => answer(response, count % 3 ? 503 : 204));
  const hanging = await receiver(() => undefined);
  const refusing = await startReceiver();
  await refusing.close();
  for (const { url } of [failing, flaky, hanging, refusing]) await register(workspace, account.id, url);
  await restart();

  const ids: string[] = [];
  const left = [...disturbances];
  while (ids.length < EVENTS) {
    ids.push(...(await announceMany(account.id, BATCH)));
    if (left[0] && ids.length >= left[0][0] * EVENTS) await left.shift()?.[1]();
  }
  note('all events committed', { events: ids.length });

  const missing = () => {
    const seen = healthy.map(({ received }) => new Set(received.map(({ id }) => id)));
    return seen.flatMap((set) => ids.filter((id) => !set.has(id)));
  };
  await eventually(() => missing().length === 0, 120_000 + 30 * EVENTS);
  await eventually(async () => (await Event.countDocuments({ account_id: account.id, due_at: null })) === ids.length);
  const calls = healthy.reduce((sum, { received }) => sum + received.length, 0);
  const duplicates = calls - healthy.length * ids.length;
  note('all arrived', { calls, duplicates, perSecond: Math.round((1_000 * calls) / (Date.now() - started)) });
  if (process.env['TEST_EVENTS']) process.stdout.write(`${journal.map((line) => JSON.stringify(line)).join('\n')}\n`);

  // Nobody got what was not sent, nothing was changed on the way, and everything is signed.
  const events = await Event.find({ account_id: account.id }).lean<EventRecord[]>();
  const bodies = new Map(events.map(({ _id, body }) => [String(_id), body]));
  for (const { received, secret } of healthy) {
    for (const call of received) {
      expect(call.body).toBe(bodies.get(call.id));
      verify(secret, call);
    }
  }
  // What was under way when a process was killed is sent again; a flush or a dead Redis sends nothing twice.
  const kills = 2 * disturbances.filter(([, run]) => run === killServices).length;
  expect(duplicates).toBeLessThanOrEqual(kills * IN_FLIGHT_MAX * healthy.length);
  // The bad ones have lost nothing either: each event waits for each of them.
  expect(await Delivery.countDocuments({ account_id: account.id })).toBe(10 * ids.length);
}, 3_600_000);
