// Every committed event arrives, whichever process dies and whatever Redis loses.
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { deliverWebhook } from '#libs/jobs/catalog.ts';
import { nudgeRelay } from '#libs/jobs/nudge.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { Delivery, type DeliveryRecord, deliveryId } from '#libs/models/webhooks/delivery.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { openRelay } from '../../../services/webhooks/relay-events.ts';
import { eventually } from '../../support/eventually.ts';
import { openReadyQueues } from '../../support/queues.ts';
import { answer, type Receiver, startReceiver } from '../../support/receiver.ts';
import { announce, type RunningService, register, startWebhookService } from '../../support/webhooks.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let queues: Queues;
let services: RunningService[] = [];
let receivers: Receiver[] = [];

beforeEach(async () => {
  workspace = await openWorkspace();
  queues = await openReadyQueues(workspace);
});
afterEach(async () => {
  for (const service of services) await service.stop();
  for (const receiver of receivers) await receiver.close();
  [services, receivers] = [[], []];
  await queues.close();
  await workspace.close();
});

async function start(env: NodeJS.ProcessEnv = {}) {
  const service = await startWebhookService(workspace, env);
  services.push(service);
  return service;
}

async function receiver(...args: Parameters<typeof startReceiver>) {
  const started = await startReceiver(...args);
  receivers.push(started);
  return started;
}

/** FLUSHALL, limited to this test's own prefix of the shared Redis. @returns how many keys were lost. */
async function flush(): Promise<number> {
  const keys = await queues.redis.keys(`${workspace.redisPrefix}:*`);
  if (keys.length > 0) await queues.redis.del(...keys);
  return keys.length;
}

async function announceMany(accountId: string, count: number) {
  const ids = [];
  for (let index = 0; index < count; index += 1) ids.push(await announce(accountId, 'client.created', { index }));
  return ids;
}

const idsOf = ({ received }: Receiver) => received.map(({ id }) => id);

test('when Redis is flushed after the relay has put an event on the queue, then the event is delivered all the same', async () => {
  const target = await receiver();
  const account = await workspace.account();
  await register(workspace, account.id, target.url);
  const eventId = await announce(account.id, 'client.created', {});
  await openRelay(queues).relay();
  expect(await Event.countDocuments({ account_id: account.id, enqueue_count: 1 })).toBe(1);
  expect(await flush()).toBeGreaterThan(0);
  await start();
  await eventually(() => idsOf(target).includes(eventId));
});

test('when Redis is flushed while a delivery waits for its next attempt, then the attempt is made all the same', async () => {
  const target = await receiver((_request, response, count) => answer(response, count === 1 ? 500 : 204));
  const account = await workspace.account();
  await register(workspace, account.id, target.url);
  // The real waits: the first one lasts for seconds, so that no look misses it.
  await start({ WEBHOOK_RETRY_SCALE: '1' });
  const eventId = await announce(account.id, 'client.created', {});
  await eventually(async () => (await queues.counts(deliverWebhook)).delayed === 1);
  await flush();
  await eventually(async () => (await Delivery.countDocuments({ account_id: account.id, status: 'delivered' })) === 1);
  expect(idsOf(target)).toEqual([eventId, eventId]);
});

test('when the service is killed in the middle of an attempt, then another process makes it again', async () => {
  const target = await receiver((_request, response, count) => {
    if (count > 1) answer(response, 204);
  });
  const account = await workspace.account();
  await register(workspace, account.id, target.url);
  const eventId = await announce(account.id, 'client.created', {});
  const first = await start();
  await eventually(() => target.received.length === 1);
  await first.kill();
  // The lease has run out, as time does it.
  const past = new Date(Date.now() - 10_000);
  await Delivery.updateOne({ account_id: account.id }, { lease_until: past, due_at: past });
  await start();
  await eventually(async () => (await Delivery.countDocuments({ account_id: account.id, status: 'delivered' })) === 1);
  expect(idsOf(target)).toEqual([eventId, eventId]);
});

test('when two processes work at once, then each event arrives at each endpoint exactly once, and together they make no more than five calls at a time to one', async () => {
  const [one, two] = [await receiver(), await receiver()];
  const account = await workspace.account();
  await register(workspace, account.id, one.url);
  await register(workspace, account.id, two.url);
  await Promise.all([start(), start()]);
  const ids = await announceMany(account.id, 100);
  nudgeRelay(queues.redis, workspace.redisPrefix);
  await eventually(
    async () => (await Delivery.countDocuments({ account_id: account.id, status: 'delivered' })) === 2 * ids.length,
  );
  expect(idsOf(one).toSorted()).toEqual(ids.toSorted());
  expect(idsOf(two).toSorted()).toEqual(ids.toSorted());

  let inFlight = 0;
  let most = 0;
  const slow = await receiver((_request, response) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    setTimeout(() => {
      inFlight -= 1;
      answer(response, 204);
    }, 100);
  });
  const other = await workspace.account();
  await register(workspace, other.id, slow.url);
  let announced = 0;
  // They notice each other after some seconds.
  await eventually(async () => {
    most = 0;
    await announceMany(other.id, 12);
    nudgeRelay(queues.redis, workspace.redisPrefix);
    announced += 12;
    const delivered = () => Delivery.countDocuments({ account_id: other.id, status: 'delivered' });
    await eventually(async () => (await delivered()) === announced);
    return most > 1 && most <= 4;
  }, 60_000);
});

test('when the relay or the fan-out does its work twice, then there is one delivery', async () => {
  const target = await receiver();
  const account = await workspace.account();
  const { endpoint } = await register(workspace, account.id, target.url);
  const eventId = await announce(account.id, 'client.created', {});
  await openRelay(queues).relay();
  await Event.updateOne({ _id: eventId, account_id: account.id }, { due_at: new Date() });
  await openRelay(queues).relay();
  await start();
  await eventually(async () => (await Delivery.countDocuments({ account_id: account.id, status: 'delivered' })) === 1);
  await eventually(
    async () => (await queues.stateOf({ name: 'fan-out-event' } as never, `${eventId}-2`)) === 'unknown',
  );
  const deliveries = await Delivery.find({ account_id: account.id }).lean<DeliveryRecord[]>();
  expect(deliveries.map(({ _id }) => String(_id))).toEqual([deliveryId(eventId, endpoint.id)]);
  expect(idsOf(target)).toEqual([eventId]);
});

test('when an endpoint fails every call, then other endpoints get all their events meanwhile, and it gets all of its own once it has recovered', async () => {
  let isWell = false;
  const bad = await receiver((_request, response) => answer(response, isWell ? 204 : 500));
  const good = await receiver();
  const account = await workspace.account();
  const { endpoint } = await register(workspace, account.id, bad.url);
  await register(workspace, account.id, good.url);
  // The breaker's half minute becomes three seconds.
  await start({ WEBHOOK_RETRY_SCALE: '0.1' });
  const ids = await announceMany(account.id, 60);
  await eventually(() => new Set(idsOf(good)).size === ids.length);
  // The breaker has prevented most of the calls.
  expect(bad.received.length).toBeLessThan(ids.length);
  isWell = true;
  await eventually(
    async () =>
      (await Delivery.countDocuments({ account_id: account.id, endpoint_id: endpoint.id, status: 'delivered' })) ===
      ids.length,
  );
  expect(idsOf(good).toSorted()).toEqual(ids.toSorted());
});
