// Single attempts, made in this process: the resources that they use, and their outcomes.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import mongoose from 'mongoose';
import { deliverWebhook, retryWebhook } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { startWorker } from '#libs/jobs/worker.ts';
import { Account } from '#libs/models/accounts/account.ts';
import type { Id } from '#libs/models/tenant.ts';
import { Delivery, type DeliveryRecord } from '#libs/models/webhooks/delivery.ts';
import { WebhookEndpoint, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { type Outbound, openOutbound } from '#libs/outbound/outbound.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { makeDeliverWebhook } from '../../../services/webhooks/deliver-webhook.ts';
import { deliveryJob } from '../../../services/webhooks/delivery-job.ts';
import { recordFailure, recordSuccess } from '../../../services/webhooks/endpoint-health.ts';
import { openEventLoader } from '../../../services/webhooks/loading/event-loader.ts';
import { makePostSigned } from '../../../services/webhooks/post-signed.ts';
import { openTraffic, type Traffic } from '../../../services/webhooks/traffic/traffic.ts';
import { eventually } from '../../support/eventually.ts';
import { NOT_PRIMARY, withErrors } from '../../support/mongodb-errors.ts';
import { openReadyQueues } from '../../support/queues.ts';
import { answer, type Receiver, startReceiver } from '../../support/receiver.ts';
import { LOOPBACK, register, storedDelivery } from '../../support/webhooks.ts';
import { openWorkspace, testLog, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let queues: Queues;
let outbound: Outbound;
const receivers: Receiver[] = [];
beforeAll(async () => {
  workspace = await openWorkspace();
  queues = await openReadyQueues(workspace);
  outbound = openOutbound({ allow: LOOPBACK, keepAlive: true });
});
afterAll(async () => {
  outbound.close();
  for (const receiver of receivers) await receiver.close();
  await queues.close();
  await workspace.close();
});

/** An endpoint at a receiver of its own. */
async function endpointAt(...args: Parameters<typeof startReceiver>) {
  const receiver = await startReceiver(...args);
  receivers.push(receiver);
  const { id: accountId } = await workspace.account();
  const { endpoint } = await register(workspace, accountId, receiver.url);
  return { receiver, accountId, endpointId: endpoint.id as Id };
}

/** Returns the handler of the webhook service, with waits a thousandth as long, and without its poller. */
function makeDeliver(traffic = openTraffic({ scale: 1 }), leaseMs = 150_000) {
  return makeDeliverWebhook({
    queues,
    box: openSecretBox(workspace.secretKey),
    traffic,
    events: openEventLoader(),
    // Longer than any attempt of these tests.
    postSigned: makePostSigned({ outbound, timeoutMs: 120_000, userAgent: 'Billhook/test' }),
    leaseMs,
    retryScale: 0.001,
    onOutcome: () => undefined,
  });
}

const read = (accountId: Id, id: Id) =>
  Delivery.findOne({ _id: id, account_id: accountId }).readConcern('local').lean<DeliveryRecord>();

/** Runs workers for both queues of deliveries while `during` runs. */
async function withWorkers(during: () => Promise<unknown>) {
  const deliver = makeDeliver();
  const { redisUrl, redisPrefix: prefix } = workspace;
  const options = { redisUrl, prefix, concurrency: 5, log: testLog };
  const workers = [deliverWebhook, retryWebhook].map((definition) => startWorker(definition, deliver, options));
  try {
    await during();
  } finally {
    for (const worker of workers) await worker.close(1_000);
  }
}

test('when a worker is faster than the poller that enqueued the delivery, then the next attempt is still enqueued', async () => {
  const target = await endpointAt((_request, response, count) => answer(response, count === 1 ? 500 : 204));
  const id = await storedDelivery(target.accountId, target.endpointId);
  // Its next attempts use the queue of the poller, too.
  await Delivery.updateOne({ _id: id, account_id: target.accountId }, { attempts_made: 2 });
  const delivery = (await read(target.accountId, id)) as DeliveryRecord;
  // The poller raises the revision only after it has enqueued.
  await queues.enqueue(retryWebhook, deliveryJob({ ...delivery, _id: id }, delivery.revision + 1));

  await withWorkers(() => eventually(async () => (await read(target.accountId, id))?.status === 'delivered'));
  expect(target.receiver.received).toHaveLength(2);
});

test('when a receiver never ends its responses, then it has no more connections than calls in flight, and each is closed soon', async () => {
  const open = new Set<unknown>();
  let most = 0;
  const target = await endpointAt((_request, response) => {
    const { socket } = response;
    open.add(socket);
    socket?.once('close', () => open.delete(socket));
    most = Math.max(most, open.size);
    response.writeHead(200);
    response.write('x');
  });
  const deliver = makeDeliver();
  const attempt = async () => {
    const deliveryId = await storedDelivery(target.accountId, target.endpointId);
    const job = { deliveryId, accountId: target.accountId, endpointId: target.endpointId };
    await deliver(job, { log: testLog, isFirstRun: true } as never);
    return deliveryId;
  };
  for (let round = 0; round < 4; round += 1) await Promise.all(Array.from({ length: 10 }, attempt));

  expect(most).toBeLessThanOrEqual(5);
  // The status decides, not the end of the response.
  const { accountId } = target;
  const delivered = await Delivery.countDocuments({ account_id: accountId, status: 'delivered' }).readConcern('local');
  expect(delivered).toBe(target.receiver.received.length);
  await eventually(() => open.size === 0);
  // The next attempt is admitted, too.
  expect((await read(accountId, await attempt()))?.status).toBe('delivered');
});

test('when the store is unavailable as an attempt begins, then the attempt is made once the store is available', async () => {
  const target = await endpointAt((_request, response) => answer(response, 204));
  const { accountId, endpointId } = target;
  const deliveryId = await storedDelivery(accountId, endpointId);
  const namespace = `${mongoose.connection.name}.${WebhookEndpoint.collection.name}`;
  const unavailable = { times: 4, failCommands: ['find'], namespace, errorCode: NOT_PRIMARY };
  await withErrors(unavailable, () =>
    makeDeliver()({ deliveryId, accountId, endpointId }, { log: testLog, isFirstRun: true } as never),
  );

  expect((await read(accountId, deliveryId))?.status).toBe('delivered');
});

test('when the lease is about to run out, then no attempt begins', async () => {
  const target = await endpointAt((_request, response) => answer(response, 204));
  const { accountId, endpointId } = target;
  const deliveryId = await storedDelivery(accountId, endpointId);
  const deliver = makeDeliver(openTraffic({ scale: 1 }), 500);
  await deliver({ deliveryId, accountId, endpointId }, { log: testLog, isFirstRun: true } as never);

  expect(target.receiver.received).toEqual([]);
  expect((await read(accountId, deliveryId))?.status).toBe('pending');
});

test('when an attempt waits for admission until its lease is about to run out, then it does not begin', async () => {
  const target = await endpointAt((_request, response) => answer(response, 204));
  const { accountId, endpointId } = target;
  const deliveryId = await storedDelivery(accountId, endpointId);
  const traffic = openTraffic({ scale: 1 });
  const late: Traffic = {
    ...traffic,
    async admit(...args) {
      await pause(3_000);
      return traffic.admit(...args);
    },
  };
  const deliver = makeDeliver(late, 3_000);
  await deliver({ deliveryId, accountId, endpointId }, { log: testLog, isFirstRun: true } as never);

  expect(target.receiver.received).toEqual([]);
  expect((await read(accountId, deliveryId))?.status).toBe('pending');
  // And there is room for the next one.
  expect(traffic.size()).toBe(0);
});

test('when the store tells the mode of the account so late that the lease is about to run out, then no attempt begins', async () => {
  const target = await endpointAt((_request, response) => answer(response, 204));
  const { accountId, endpointId } = target;
  const deliveryId = await storedDelivery(accountId, endpointId);
  const namespace = `${mongoose.connection.name}.${Account.collection.name}`;
  const slow = { failCommands: ['find'], namespace, blockConnection: true, blockTimeMS: 3_000 };
  await withErrors(slow, () =>
    makeDeliver(openTraffic({ scale: 1 }), 3_000)({ deliveryId, accountId, endpointId }, {
      log: testLog,
      isFirstRun: true,
    } as never),
  );

  expect(target.receiver.received).toEqual([]);
  expect((await read(accountId, deliveryId))?.status).toBe('pending');
});

describe('when an endpoint changes while an attempt waits for admission, then the change applies to it:', () => {
  /** One attempt that is admitted after `change`, later than endpoints are cached. */
  async function attemptDuring(change: (own: { _id: Id; account_id: Id }) => Promise<unknown>) {
    const target = await endpointAt((_request, response) => answer(response, 204));
    const own = { _id: target.endpointId, account_id: target.accountId };
    const traffic = openTraffic({ scale: 1 });
    const deliver = makeDeliver({
      ...traffic,
      async admit(...args) {
        await change(own);
        await pause(200);
        return traffic.admit(...args);
      },
    });
    const deliveryId = await storedDelivery(target.accountId, target.endpointId);
    await deliver({ deliveryId, accountId: target.accountId, endpointId: target.endpointId }, {
      log: testLog,
      isFirstRun: true,
    } as never);
    expect(traffic.size()).toBe(0);
    const { status, attempts } = (await read(target.accountId, deliveryId)) as DeliveryRecord;
    return { status, error: attempts[0]?.error_class, paths: target.receiver.received.map(({ path }) => path) };
  }

  test('because it is moved, then its new URL is called', async () => {
    const outcome = await attemptDuring(async (own) => {
      const { url } = (await WebhookEndpoint.findOne(own).lean<WebhookEndpointRecord>()) as WebhookEndpointRecord;
      await WebhookEndpoint.updateOne(own, { url: new URL('/new', url).href });
    });
    expect(outcome).toEqual({ status: 'delivered', error: undefined, paths: ['/new'] });
  });

  test('because it is disabled, then it is not called, and the delivery is held', async () => {
    const outcome = await attemptDuring((own) => WebhookEndpoint.updateOne(own, { enabled: false }));
    expect(outcome).toEqual({ status: 'held', error: undefined, paths: [] });
  });

  test('because it is deleted, then it is not called, and the delivery is dead', async () => {
    const outcome = await attemptDuring((own) => WebhookEndpoint.deleteOne(own));
    expect(outcome).toEqual({ status: 'dead', error: 'endpoint_deleted', paths: [] });
  });
});

test('when a receiver responds with 410 after the account has moved the endpoint, then the endpoint stays enabled and gets the delivery', async () => {
  const moved = Promise.withResolvers<void>();
  const target = await endpointAt(({ path }, response) => {
    if (path === '/new') answer(response, 204);
    else void moved.promise.then(() => answer(response, 410));
  });
  const own = { _id: target.endpointId, account_id: target.accountId };
  const id = await storedDelivery(target.accountId, target.endpointId);
  const delivery = (await read(target.accountId, id)) as DeliveryRecord;
  await queues.enqueue(deliverWebhook, deliveryJob({ ...delivery, _id: id }, 0));
  await withWorkers(async () => {
    await eventually(() => target.receiver.received.length > 0);
    await WebhookEndpoint.updateOne(own, { url: new URL('/new', target.receiver.url).href });
    moved.resolve();
    await eventually(async () => (await read(target.accountId, id))?.status !== 'pending');
  });

  const { status, attempts } = (await read(target.accountId, id)) as DeliveryRecord;
  expect([status, attempts[0]?.error_class, target.receiver.received.at(-1)?.path]).toEqual([
    'delivered',
    'gone',
    '/new',
  ]);
  expect(await WebhookEndpoint.findOne(own).lean()).toMatchObject({ enabled: true });
});

test('when the last of five days of failures belongs to a former URL of the endpoint, then it does not count, and the endpoint stays enabled', async () => {
  const { receiver, accountId, endpointId } = await endpointAt();
  const own = { _id: endpointId, account_id: accountId };
  const longAgo = new Date(Date.now() - 6 * 24 * 3_600_000);
  await WebhookEndpoint.updateOne(own, { failing_since: longAgo, failures: 20 });
  const called = (await WebhookEndpoint.findOne(own).lean()) as WebhookEndpointRecord;
  const failingSince = new Date();
  await WebhookEndpoint.updateOne(own, { url: `${receiver.url}/new`, failing_since: failingSince, failures: 1 });

  await recordFailure(called, { at: new Date() });
  expect(await WebhookEndpoint.findOne(own).lean()).toMatchObject({
    enabled: true,
    failing_since: failingSince,
    failures: 1,
  });
});

test('when the last of five days of failures began before a success, then the endpoint that fails again stays enabled', async () => {
  const { accountId, endpointId } = await endpointAt();
  const own = { _id: endpointId, account_id: accountId };
  const longAgo = new Date(Date.now() - 6 * 24 * 3_600_000);
  await WebhookEndpoint.updateOne(own, { failing_since: longAgo, failures: 20 });
  const called = (await WebhookEndpoint.findOne(own).lean()) as WebhookEndpointRecord;
  await recordSuccess(called);
  const well = (await WebhookEndpoint.findOne(own).lean()) as WebhookEndpointRecord;
  await recordFailure(well, { at: new Date() });

  await recordFailure(called, { at: new Date() });
  expect((await WebhookEndpoint.findOne(own).lean())?.enabled).toBe(true);
});

describe('a secret that no key can decrypt any more', () => {
  const lostKey = openSecretBox(Buffer.alloc(32, 1).toString('base64'));
  const sealed = lostKey.seal('whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA');

  test('when it is the current one, then each attempt fails and counts, and one error is logged', async () => {
    const { receiver, accountId, endpointId } = await endpointAt();
    const own = { _id: endpointId, account_id: accountId };
    await WebhookEndpoint.updateOne(own, { secret: sealed });
    const log = jest.spyOn(testLog, 'error');
    const deliver = makeDeliver();
    const ids = [await storedDelivery(accountId, endpointId), await storedDelivery(accountId, endpointId)];
    for (const deliveryId of ids)
      await deliver({ deliveryId, accountId, endpointId }, { log: testLog, isFirstRun: true } as never);

    for (const id of ids) {
      const delivery = (await read(accountId, id)) as DeliveryRecord;
      expect(delivery).toMatchObject({ status: 'pending', attempts_made: 1, revision: 1 });
      expect(delivery.attempts).toMatchObject([{ error_class: 'secret_unreadable' }]);
      expect(delivery.lease_until).toBeUndefined();
    }
    expect(await WebhookEndpoint.findOne(own).lean()).toMatchObject({ failures: 2, failing_since: expect.any(Date) });
    expect(log).toHaveBeenCalledTimes(1);
    expect(receiver.received).toEqual([]);
    log.mockRestore();
  });

  test('when it is a former one, then only the current one signs', async () => {
    const { receiver, accountId, endpointId } = await endpointAt();
    const own = { _id: endpointId, account_id: accountId };
    const until = new Date(Date.now() + 3_600_000);
    await WebhookEndpoint.updateOne(own, { previous_secrets: [{ secret: sealed, until }] });
    const deliveryId = await storedDelivery(accountId, endpointId);
    await makeDeliver()({ deliveryId, accountId, endpointId }, { log: testLog, isFirstRun: true } as never);

    expect((await read(accountId, deliveryId))?.status).toBe('delivered');
    expect(String(receiver.received[0]?.headers['webhook-signature']).split(' ')).toHaveLength(1);
  });
});
