// Many events to good and bad endpoints while Redis is flushed, killed and restarted empty and the service is killed:
// every committed id arrives at every healthy endpoint. TEST_EVENTS=20000 is the long run; its journal is printed as it goes.
import { writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { Delivery, deliveryId } from '#libs/models/webhooks/delivery.ts';
import { Event, type EventRecord } from '#libs/models/webhooks/event.ts';
import { findRedis } from '../../../deploy/backends/redis.ts';
import { type RunningRedis, startRedis } from '../../../deploy/backends/start-redis.ts';
import { eventually } from '../../support/eventually.ts';
import { answer, type Receiver, startReceiver, verify } from '../../support/receiver.ts';
import { announceMany, type RunningService, register, startWebhookService } from '../../support/webhooks.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

const EVENTS = Number(process.env['TEST_EVENTS'] ?? 150);
const BATCH = 20;
const HEALTHY = 6;
/** Events are this far ahead of deliveries: every fault finds some at each stage. */
const FIRST_ATTEMPTS_QUEUED_MAX = Math.max(50, EVENTS / 10);
/** Attempts in flight when a process is killed, see DELIVERY_CONCURRENCY; half as many late ones come on top. */
const CONCURRENCY = 100;
/** Only ends a hang. */
const LIMIT_MS = 120_000 + 60 * EVENTS;
/**
 * The receivers share a process with the test, and a call that times out before they read it is no arrival. After a few of
 * them the wait for the next one must still be seconds.
 */
const env = { WEBHOOK_TIMEOUT_MS: '3000', WEBHOOK_RETRY_SCALE: '0.02', DELIVERY_CONCURRENCY: String(CONCURRENCY) };

let workspace: Workspace;
let folder: string;
let redis: RunningRedis;
let services: RunningService[] = [];
let healthy: Array<Receiver & { secret: string; endpointId: string }> = [];
const receivers: Receiver[] = [];
const journal: Array<{ at: number; what: string; facts: object }> = [];

const started = Date.now();
function note(what: string, facts: object = {}) {
  journal.push({ at: Date.now(), what, facts });
  // Bypasses the test runner, which buffers output until the end.
  if (process.env['TEST_EVENTS']) writeSync(1, `${JSON.stringify({ atMs: Date.now() - started, what, ...facts })}\n`);
}

async function freshRedis(port?: number) {
  // A Redis of its own: this one is killed. Its folder is new each time, so it comes back empty.
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
  services = await Promise.all([1, 2].map(() => startWebhookService(workspace, env)));
};

const KILLED = 'both services killed';

async function killServices() {
  await Promise.all(services.map((service) => service.kill()));
  note(KILLED);
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

/** Each runs when its share of the deliveries to healthy endpoints has been made. */
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
  for (let count = 0; count < HEALTHY; count += 1) {
    const target = await receiver();
    const { endpoint, secret } = await register(workspace, account.id, target.url);
    healthy.push({ ...target, secret, endpointId: endpoint.id });
  }
  const failing = await receiver((_request, response) => answer(response, 500));
  const flaky = await receiver((_request, response, count) => answer(response, count % 3 ? 503 : 204));
  const hanging = await receiver(() => undefined);
  const refusing = await startReceiver();
  await refusing.close();
  for (const { url } of [failing, flaky, hanging, refusing]) await register(workspace, account.id, url);
  await restart();

  const calls = () => healthy.reduce((sum, { received }) => sum + received.length, 0);
  const arrived = () => calls() / HEALTHY;
  const ids: string[] = [];
  for (const [share, disturb] of disturbances) {
    while (ids.length < EVENTS && arrived() < share * EVENTS) {
      if (ids.length - arrived() < FIRST_ATTEMPTS_QUEUED_MAX) ids.push(...(await announceMany(account.id, BATCH)));
      else await pause(20);
    }
    await eventually(() => arrived() >= Math.min(share * EVENTS, ids.length), LIMIT_MS);
    await disturb();
  }
  while (ids.length < EVENTS) ids.push(...(await announceMany(account.id, BATCH)));
  note('all events committed', { events: ids.length });

  await eventually(() => healthy.every(({ received }) => received.length >= ids.length), LIMIT_MS);
  await eventually(() => missing(ids).length === 0, LIMIT_MS);
  await eventually(async () => (await Event.countDocuments({ account_id: account.id, due_at: null })) === ids.length);
  const doubles = await findDoubles(account.id);
  note('all arrived', {
    calls: calls(),
    perSecond: Math.round((1_000 * calls()) / (Date.now() - started)),
    duplicates: doubles.length,
    why: Object.fromEntries(
      [...Map.groupBy(doubles, ({ reason }) => reason)].map(([reason, some]) => [reason, some.length]),
    ),
  });

  // No receiver got an event that was not sent, no body was changed, and every call is signed.
  const events = await Event.find({ account_id: account.id }).lean<EventRecord[]>();
  const bodies = new Map(events.map(({ _id, body }) => [String(_id), body]));
  const now = jest.spyOn(Date, 'now');
  for (const { received, secret } of healthy) {
    for (const call of received) {
      expect(call.body).toBe(bodies.get(call.id));
      now.mockReturnValue(call.at); // A receiver verifies at once: a signature is valid for five minutes only.
      verify(secret, call);
    }
  }
  now.mockRestore();
  // Attempts in flight when a process was killed are made again; a flush or a killed Redis sends nothing twice.
  expect(doubles.filter(({ reason }) => reason === 'unexplained')).toEqual([]);
  const kills = 2 * journal.filter(({ what }) => what === KILLED).length;
  expect(doubles.filter(({ reason }) => reason === KILLED).length).toBeLessThanOrEqual(kills * 1.5 * CONCURRENCY);
  // Nothing is lost for the bad receivers either: each of them has a delivery of each event.
  expect(await Delivery.countDocuments({ account_id: account.id })).toBe(10 * ids.length);
}, 3_600_000);

function missing(ids: readonly string[]): string[] {
  return healthy.flatMap(({ received }) => {
    const seen = new Set(received.map(({ id }) => id));
    return ids.filter((id) => !seen.has(id));
  });
}

interface Double {
  id: string;
  /** `slow receiver`: the first call timed out although it had arrived. */
  reason: typeof KILLED | 'slow receiver' | 'unexplained';
}

/** Calls that delivered an event to an endpoint once more, each with the reason. */
async function findDoubles(accountId: string): Promise<Double[]> {
  const killsAt = journal.filter(({ what }) => what === KILLED).map(({ at }) => at);
  const doubles: Double[] = [];
  for (const { received, endpointId } of healthy) {
    const byId = Map.groupBy(received, ({ id }) => id);
    for (const [id, [first, ...others]] of byId) {
      for (const other of others) {
        const isKill = killsAt.some((at) => first && first.at <= at && at <= other.at);
        const delivery = await Delivery.findOne({ _id: deliveryId(id, endpointId), account_id: accountId }).lean();
        const isSlow = delivery?.attempts.some(({ error_class }) => error_class === 'timeout');
        doubles.push({ id, reason: isKill ? KILLED : isSlow ? 'slow receiver' : 'unexplained' });
      }
    }
  }
  return doubles;
}
