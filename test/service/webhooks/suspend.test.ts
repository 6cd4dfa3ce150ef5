// Deliveries are suspended only while their endpoint is disabled, also when it is enabled, disabled or deleted concurrently.
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { deliverWebhook } from '#libs/jobs/catalog.ts';
import { type Id, wireId } from '#libs/models/tenant.ts';
import { Delivery, type DeliveryRecord, deliveryId } from '#libs/models/webhooks/delivery.ts';
import { resumeDeliveries, suspendDeliveries } from '#libs/models/webhooks/endpoint-deliveries.ts';
import { wasEnabledFor } from '#libs/models/webhooks/endpoint-pauses.ts';
import {
  EndpointReconcile,
  reconcileEndpoint,
  reconcilePending,
  requestReconcile,
} from '#libs/models/webhooks/endpoint-reconcile.ts';
import { WebhookEndpoint, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { inTransaction } from '#libs/mongo/connection.ts';
import { openOutbound } from '#libs/outbound/outbound.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { makeDeliverWebhook } from '../../../services/webhooks/deliver-webhook.ts';
import { recordGone } from '../../../services/webhooks/endpoint-health.ts';
import { makeFanOutEvent } from '../../../services/webhooks/fan-out-event.ts';
import { openEventLoader } from '../../../services/webhooks/loading/event-loader.ts';
import { makePostSigned } from '../../../services/webhooks/post-signed.ts';
import { openTraffic } from '../../../services/webhooks/traffic/traffic.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { withErrors } from '../../support/mongodb-errors.ts';
import { openReadyQueues } from '../../support/queues.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { announce, LOOPBACK, register, storedDelivery } from '../../support/webhooks.ts';
import { testLog, type Workspace } from '../../support/workspace.ts';

let gateway: TestGateway;
let workspace: Workspace;
let receiver: Receiver;
beforeAll(async () => {
  gateway = await startGateway();
  workspace = gateway.workspace;
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  await gateway.close();
});

/** The work of a webhook service, without the workers of its queues. */
async function openWork() {
  const queues = await openReadyQueues(workspace);
  const outbound = openOutbound({ allow: LOOPBACK });
  const shared = { queues, traffic: openTraffic({ scale: 1 }), events: openEventLoader() };
  return {
    queues,
    fanOut: makeFanOutEvent({ ...shared, onFannedOut: () => undefined }),
    deliver: makeDeliverWebhook({
      ...shared,
      box: openSecretBox(workspace.secretKey),
      postSigned: makePostSigned({ outbound, timeoutMs: 5_000, userAgent: 'Billhook/test' }),
      leaseMs: 30_000,
      retryScale: 1,
      onOutcome: () => undefined,
    }),
    async close() {
      outbound.close();
      await queues.close();
    },
  };
}

test('when an endpoint is enabled again while deliveries find it disabled, then none of them stays suspended', async () => {
  const { id: accountId } = await workspace.account();
  const { endpoint } = await register(workspace, accountId, receiver.url);
  const { deliver, close } = await openWork();
  const attempt = (id: Id) =>
    deliver({ deliveryId: id, accountId, endpointId: endpoint.id }, { log: testLog, isFirstRun: true } as never);
  const setEnabled = (enabled: boolean) =>
    WebhookEndpoint.updateOne({ _id: endpoint.id, account_id: accountId }, { enabled });
  const aDelivery = () => storedDelivery(accountId, endpoint.id);
  const statusOf = async (id: Id) =>
    (await Delivery.findOne({ _id: id, account_id: accountId }).readConcern('local').lean<DeliveryRecord>())?.status;
  const ids = [await aDelivery(), await aDelivery(), await aDelivery()];
  const [first, ...others] = ids as [Id, ...Id[]];

  await setEnabled(false);
  await attempt(first);
  expect(await statusOf(first)).toBe('held');
  await setEnabled(true);
  await resumeDeliveries(accountId, endpoint.id);
  await Promise.all(others.map(attempt));

  for (const id of ids) expect(['pending', 'delivered']).toContain(await statusOf(id));
  await close();
});

/** One delivery whose endpoint is disabled, and a service that makes its attempt. */
async function dueAtDisabledEndpoint() {
  const { id: accountId } = await workspace.account();
  const { endpoint } = await register(workspace, accountId, receiver.url);
  const own = { _id: endpoint.id, account_id: accountId };
  const job = { deliveryId: await storedDelivery(accountId, endpoint.id), accountId, endpointId: endpoint.id };
  await WebhookEndpoint.updateOne(own, { enabled: false });
  const { deliver, close } = await openWork();
  return {
    own,
    close,
    attempt: () => deliver(job, { log: testLog, isFirstRun: true } as never),
    status: async () =>
      (await Delivery.findOne({ account_id: accountId }).readConcern('local').lean<DeliveryRecord>())?.status,
  };
}

test('when a service ends right after it suspended a delivery whose endpoint was enabled meanwhile, then another service resumes it', async () => {
  const { own, attempt, status, close } = await dueAtDisabledEndpoint();
  const find = WebhookEndpoint.collection.find.bind(WebhookEndpoint.collection);
  const reads = jest.spyOn(WebhookEndpoint.collection, 'find');
  // The service reads that the endpoint is disabled, and ends before it reads the endpoint again.
  reads.mockImplementationOnce(find as never).mockImplementationOnce(() => {
    throw new Error('the service ended');
  });

  await expect(attempt()).rejects.toThrow('the service ended');
  reads.mockRestore();
  await close();
  await WebhookEndpoint.updateOne(own, { enabled: true });
  expect(await status()).toBe('held');

  expect(await reconcilePending(new Date(Date.now() + 60_000))).toBe(1);
  expect(await status()).toBe('pending');
});

test('when an endpoint is enabled and reconciled just before a service suspends its delivery and ends, then another service resumes it', async () => {
  const { own, attempt, status, close } = await dueAtDisabledEndpoint();
  const bulkWrite = Delivery.collection.bulkWrite.bind(Delivery.collection);
  const writes = jest.spyOn(Delivery.collection, 'bulkWrite');
  const reads = jest.spyOn(WebhookEndpoint.collection, 'find');
  // A gateway does this when a caller enables the endpoint. It finds no suspended delivery.
  writes.mockImplementationOnce((async (...args: Parameters<typeof bulkWrite>) => {
    await inTransaction(async (session) => {
      const enabled = await WebhookEndpoint.findOneAndUpdate(
        own,
        { enabled: true },
        { session, returnDocument: 'after' },
      );
      await requestReconcile(enabled as WebhookEndpointRecord, session);
    });
    await reconcileEndpoint(own.account_id, own._id);
    reads.mockImplementationOnce(() => {
      throw new Error('the service ended');
    });
    return bulkWrite(...args);
  }) as never);

  await expect(attempt()).rejects.toThrow('the service ended');
  for (const spy of [writes, reads]) spy.mockRestore();
  await close();
  expect(await status()).toBe('held');

  expect(await reconcilePending(new Date(Date.now() + 60_000))).toBe(1);
  expect(await status()).toBe('pending');
});

test('when no process can be suspending deliveries of an endpoint any more, then its reconcile request ends', async () => {
  const { id: accountId } = await workspace.account();
  const { endpoint } = await register(workspace, accountId, receiver.url);
  const own = { _id: endpoint.id, account_id: accountId };
  const disabled = await WebhookEndpoint.findOneAndUpdate(own, { enabled: false }, { returnDocument: 'after' }).lean();
  await requestReconcile(disabled as WebhookEndpointRecord);

  await reconcileEndpoint(accountId, endpoint.id);
  expect(await EndpointReconcile.countDocuments(own)).toBe(1);

  await reconcilePending(new Date(Date.now() + 10 * 60_000));
  await reconcilePending(new Date(Date.now() + 20 * 60_000));
  expect(await EndpointReconcile.countDocuments(own)).toBe(0);
});

describe('when an endpoint becomes disabled while an event waits in the outbox', () => {
  const later = () => new Promise((resolve) => setTimeout(resolve, 5)); // Times are kept in whole milliseconds.

  test.each([
    [
      'by its account',
      async ({ path }: { path: string }) => {
        await gateway.patch(path, { enabled: false });
        await later();
      },
    ],
    [
      'because its receiver responds with 410',
      async ({ own }: { own: { _id: Id; account_id: Id } }) => {
        await recordGone((await WebhookEndpoint.findOne(own).lean()) as WebhookEndpointRecord, { at: new Date() });
        await later();
      },
    ],
  ])(
    '%s, then the event is held and becomes pending when it is enabled, and later events are not delivered to it',
    async (_by, disable) => {
      const accountId = gateway.account.id;
      const { endpoint } = await register(workspace, accountId, receiver.url, ['client.*']);
      const own = { _id: endpoint.id, account_id: accountId };
      const path = `/api/v1/webhooks/${endpoint.id}`;
      const { queues, fanOut, deliver, close } = await openWork();
      const stored = async () =>
        (
          await Delivery.find({ account_id: accountId, endpoint_id: endpoint.id })
            .readConcern('local')
            .lean<DeliveryRecord[]>()
        ).map(({ event_id, status }) => [wireId(event_id), status]);
      const before = await announce(accountId, 'client.created', {});
      await later();
      await disable({ path, own });
      const during = await announce(accountId, 'client.created', {});
      await later();
      // Disabled once more: the events of the meantime are still not delivered to it.
      await gateway.patch(path, { enabled: false });

      for (const eventId of [before, during])
        await fanOut({ eventId, accountId }, { log: testLog, isFirstRun: true } as never);
      const job = await queues.raw(deliverWebhook).getJob(`${deliveryId(before, endpoint.id)}-0`);
      if (job) await deliver(job.data, { log: testLog, isFirstRun: true } as never);
      const whileDisabled = await stored();
      await gateway.patch(path, { enabled: true });
      await close();

      expect(whileDisabled).toEqual([[before, 'held']]);
      expect(await stored()).toEqual([[before, 'pending']]);
    },
  );
});

test('when events wait in the outbox, then each goes to the endpoints that existed and were enabled when it happened, whatever changed later', async () => {
  const account = await workspace.account();
  const { key } = account;
  const before = await announce(account.id, 'client.created', {});
  const { endpoint } = await register(workspace, account.id, receiver.url, ['client.*']);
  const { fanOut, close } = await openWork();
  const path = `/api/v1/webhooks/${endpoint.id}`;
  const during: Id[] = [];
  const expected: Id[] = [];
  for (let round = 0; round < 3; round += 1) {
    expected.push(await announce(account.id, 'client.created', {}));
    await gateway.patch(path, { enabled: false }, { key });
    during.push(await announce(account.id, 'client.created', {}));
    await gateway.patch(path, { enabled: true }, { key });
  }
  expected.push(await announce(account.id, 'client.created', {}));
  for (const eventId of [before, ...during, ...expected])
    await fanOut({ eventId, accountId: account.id }, { log: testLog, isFirstRun: true } as never);
  await close();

  const made = await Delivery.find({ account_id: account.id }).readConcern('local').lean<DeliveryRecord[]>();
  expect(made.map(({ event_id }) => wireId(event_id)).sort()).toEqual(expected.sort());
});

test.each([
  [true, null, true],
  [true, [{ after: 0, until: 7 }], false],
  [true, [{ after: 0, until: 6 }], true],
  [true, [{ after: 6 }], true],
  [false, [{ after: 6 }], false],
  [false, [{ after: 7 }], true],
  [false, [{ after: 0, until: 7 }, { after: 9 }], false],
  [false, null, false],
  [false, [{ after: 6 }, { after: 7 }], true],
  [true, [{ after: 5 }, { after: 6, until: 9 }], false],
])('when an endpoint is enabled: %j, with the pauses %j, then it gets event 7: %j', (enabled, pauses, getsIt) => {
  expect(wasEnabledFor({ enabled, pauses }, { sequence: 7 })).toBe(getsIt);
});

describe('an endpoint that changes while its deliveries are reconciled', () => {
  async function suspendedAt(enabled: boolean) {
    const { id: accountId } = await workspace.account();
    const { endpoint } = await register(workspace, accountId, receiver.url);
    await storedDelivery(accountId, endpoint.id);
    const own = { _id: endpoint.id, account_id: accountId };
    await WebhookEndpoint.updateOne(own, { enabled: false });
    await suspendDeliveries(accountId, endpoint.id);
    await WebhookEndpoint.updateOne(own, { enabled });
    const stored = (await WebhookEndpoint.findOne(own).lean()) as WebhookEndpointRecord;
    return {
      own,
      requestReconcile: () => inTransaction((session) => requestReconcile(stored, session)),
      status: async () =>
        (await Delivery.findOne({ account_id: accountId }).readConcern('local').lean<DeliveryRecord>())?.status,
      requests: () => EndpointReconcile.countDocuments({ account_id: accountId }),
    };
  }

  test('when it was enabled and the process that was to resume its deliveries died, then another process resumes them', async () => {
    const { requestReconcile, status, requests } = await suspendedAt(true);
    await requestReconcile();
    await reconcilePending();
    expect(await status()).toBe('held'); // The process that made the change may be about to resume it.

    expect(await reconcilePending(new Date(Date.now() + 60_000))).toBe(1);
    expect([await status(), await requests()]).toEqual(['pending', 0]);
  });

  test('when the process that reconciles is asked to stop, then the rest waits for another process', async () => {
    const { requestReconcile, status, requests } = await suspendedAt(true);
    await requestReconcile();
    const later = new Date(Date.now() + 60_000);

    expect(await reconcilePending(later, AbortSignal.abort())).toBe(0);
    expect([await status(), await requests()]).toEqual(['held', 1]);
    expect(await reconcilePending(later)).toBe(1);
  });

  test('when one endpoint cannot be reconciled, then those after it are, and the next round tries it again', async () => {
    const broken = await suspendedAt(true);
    await broken.requestReconcile();
    const next = await suspendedAt(true);
    await next.requestReconcile();
    const later = new Date(Date.now() + 60_000);
    jest.spyOn(WebhookEndpoint, 'findOne').mockImplementationOnce(() => {
      throw new Error('broken');
    });

    await expect(reconcilePending(later)).rejects.toThrow(`such as ${String(broken.own._id)}`);
    expect([await broken.status(), await next.status()]).toEqual(['held', 'pending']);
    expect(await reconcilePending(later)).toBe(1);
  });

  test('when it was deleted and has suspended deliveries, then they become dead', async () => {
    const { own, requestReconcile, status, requests } = await suspendedAt(false);
    await requestReconcile();
    await WebhookEndpoint.deleteOne(own);

    await reconcilePending(new Date(Date.now() + 60_000));
    expect([await status(), await requests()]).toEqual(['dead', 0]);
  });

  test('when it is enabled while another process still suspends its deliveries, then none stays suspended', async () => {
    const { own, requestReconcile, status, requests } = await suspendedAt(false);
    await requestReconcile();
    const find = WebhookEndpoint.findOne.bind(WebhookEndpoint);
    // Enabled right after the first read.
    jest.spyOn(WebhookEndpoint, 'findOne').mockImplementationOnce(((...args: Parameters<typeof find>) => {
      const query = find(...args);
      const lean = query.lean.bind(query);
      query.lean = (() =>
        lean().then(async (found: unknown) => {
          await WebhookEndpoint.updateOne(own, { enabled: true });
          return found;
        })) as never;
      return query;
    }) as never);

    await reconcileEndpoint(own.account_id, own._id);
    expect([await status(), await requests()]).toEqual(['pending', 0]);
  });
});

test('when MongoDB fails after the endpoint was disabled, then the caller gets a 200, and the deliveries are reconciled later', async () => {
  const { endpoint } = await register(gateway.workspace, gateway.account.id, receiver.url);
  const path = `/api/v1/webhooks/${endpoint.id}`;
  const failing = {
    failCommands: ['update'],
    namespace: `${Delivery.db.name}.${Delivery.collection.name}`,
    errorCode: 189,
  };
  const reply = await withErrors(failing, () => gateway.patch(path, { enabled: false }));
  const removed = await withErrors(failing, () => gateway.delete(path));

  expect([reply.status, removed.status]).toEqual([200, 200]);
  expect(await EndpointReconcile.countDocuments({ _id: endpoint.id, account_id: gateway.account.id })).toBe(1);
});
