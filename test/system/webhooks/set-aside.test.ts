// A job that ends webhook services three times, or always fails, is set aside for a day and shown. All others go on.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Queues } from '#libs/jobs/queue.ts';
import { findSetAside, RoundTry, TRIES_MAX } from '#libs/models/operations/round-try.ts';
import { newId, storedId } from '#libs/models/tenant.ts';
import { Delivery } from '#libs/models/webhooks/delivery.ts';
import { EndpointReconcile, reconcilePending, requestReconcile } from '#libs/models/webhooks/endpoint-reconcile.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { readOutbox } from '#libs/models/webhooks/outbox.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { compiledCode } from '../../../deploy/local/service-env.ts';
import { makeDeliverWebhook } from '../../../services/webhooks/deliver-webhook.ts';
import { makeFanOutEvent } from '../../../services/webhooks/fan-out-event.ts';
import { openEventLoader } from '../../../services/webhooks/loading/event-loader.ts';
import { openTraffic } from '../../../services/webhooks/traffic/traffic.ts';
import { openReadyQueues } from '../../support/queues.ts';
import { announce, register, storedDelivery } from '../../support/webhooks.ts';
import { openWorkspace, testLog, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let queues: Queues;
beforeAll(async () => {
  workspace = await openWorkspace();
  queues = await openReadyQueues(workspace);
});
afterAll(async () => {
  await queues.close();
  await workspace.close();
});
afterEach(() => RoundTry.collection.deleteMany({}));

const URL_OF_NOBODY = 'http://127.0.0.1:9/hook';
const HALF_A_DAY = 12 * 3_600_000;
const again = { log: testLog, isFirstRun: false } as never;

/** Enough time has passed for another process to take the last one for dead. */
const later = () => RoundTry.collection.updateMany({}, { $set: { tried_at: new Date(Date.now() - 120_000) } });

async function dies(kind: 'fan-out' | 'delivery', payload: object) {
  const program = fileURLToPath(new URL('../../support/dying-webhooks.ts', import.meta.url));
  const { mongodbUri, redisUrl, redisPrefix, secretKey } = workspace;
  const args = [program, mongodbUri, redisUrl, redisPrefix, secretKey, kind, JSON.stringify(payload)];
  const child = spawn(process.execPath, args, {
    stdio: 'ignore',
    env: { ...process.env, ...compiledCode(process.env) },
  });
  const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  expect(signal).toBe('SIGKILL');
}

async function anEndpoint() {
  const { id: accountId } = await workspace.account();
  const { endpoint } = await register(workspace, accountId, URL_OF_NOBODY);
  return { accountId, endpointId: endpoint.id };
}

test('when the fan-out of an event ends the process three times, then the relay leaves it alone for a day, and it is shown', async () => {
  const { accountId } = await anEndpoint();
  const eventId = await announce(accountId, 'client.created', {});
  for (let count = 0; count < TRIES_MAX; count += 1) await dies('fan-out', { accountId, eventId });
  await later();

  const parts = { queues, traffic: openTraffic({ scale: 1 }), events: openEventLoader(), onFannedOut: () => undefined };
  const fanOut = makeFanOutEvent(parts);
  await fanOut({ accountId, eventId }, again);
  expect(await Delivery.countDocuments({ account_id: accountId })).toBe(0);
  const event = await Event.findOne({ _id: eventId, account_id: accountId }).lean();
  expect(event?.due_at?.getTime()).toBeGreaterThan(Date.now() + HALF_A_DAY);
  expect(await findSetAside(9)).toMatchObject([{ round: 'fan-outs of events', record_id: storedId(eventId) }]);
  expect(await readOutbox()).toEqual({ waiting: 0, oldestMs: 0 });

  const other = await announce(accountId, 'client.created', {});
  await fanOut({ accountId, eventId: other }, again);
  expect(await Delivery.countDocuments({ account_id: accountId, event_id: other })).toBe(1);
});

const deliverWith = (postSigned: () => Promise<{ isWell: true; durationMs: number; status: number }>) =>
  makeDeliverWebhook({
    queues,
    box: openSecretBox(workspace.secretKey),
    traffic: openTraffic({ scale: 1 }),
    events: openEventLoader(),
    postSigned,
    leaseMs: 30_000,
    retryScale: 1,
    onOutcome: () => undefined,
  });

test('when a delivery ends the process three times, then it waits a day and spends no attempt, and it is shown', async () => {
  const { accountId, endpointId } = await anEndpoint();
  const deliveryId = await storedDelivery(accountId, endpointId);
  const own = { _id: deliveryId, account_id: accountId };
  const past = new Date(Date.now() - 10_000);
  for (let count = 0; count < TRIES_MAX; count += 1) {
    await dies('delivery', { deliveryId, accountId, endpointId });
    // The lease of the dead worker has run out, as time does it.
    await Delivery.updateOne(own, { lease_until: past, due_at: past });
  }
  await later();

  let calls = 0;
  const deliver = deliverWith(async () => {
    calls += 1;
    return { isWell: true, durationMs: 1, status: 204 };
  });
  await deliver({ deliveryId, accountId, endpointId }, again);
  expect(calls).toBe(0);
  const delivery = await Delivery.findOne(own).readConcern('local').lean();
  expect(delivery).toMatchObject({ status: 'pending', attempts_made: 0 });
  expect(delivery?.due_at?.getTime()).toBeGreaterThan(Date.now() + HALF_A_DAY);
  expect(await findSetAside(9)).toMatchObject([{ round: 'attempts of deliveries', record_id: storedId(deliveryId) }]);
});

test('when an attempt always fails with an error of ours, then the third one sets it aside', async () => {
  const { accountId, endpointId } = await anEndpoint();
  const deliveryId = await storedDelivery(accountId, endpointId);
  const own = { _id: deliveryId, account_id: accountId };
  const deliver = deliverWith(async () => {
    throw new Error('a fault of ours');
  });
  for (let count = 0; count < TRIES_MAX; count += 1) {
    await expect(deliver({ deliveryId, accountId, endpointId, isAgain: true }, again)).rejects.toThrow(
      'a fault of ours',
    );
    await Delivery.collection.updateOne(
      { _id: storedId(deliveryId) as never },
      { $unset: { lease_id: 1, lease_until: 1 } },
    );
  }
  expect(await findSetAside(9)).toMatchObject([{ round: 'attempts of deliveries', error: 'a fault of ours' }]);
  expect((await Delivery.findOne(own).readConcern('local').lean())?.due_at?.getTime()).toBeGreaterThan(
    Date.now() + HALF_A_DAY,
  );
});

test('when a hundred endpoints are set aside, then the next one is reconciled nevertheless', async () => {
  const { accountId, endpointId } = await anEndpoint();
  const account_id = storedId(accountId);
  const bad = Array.from({ length: 100 }, () => storedId(newId()));
  for (const _id of bad) await requestReconcile({ _id, account_id });
  await RoundTry.insertMany(
    bad.map((record_id) => ({
      _id: `reconciled endpoints/${record_id}`,
      account_id,
      round: 'reconciled endpoints',
      record_id,
      tries: TRIES_MAX - 1,
      tried_at: new Date(),
      error: 'broken',
      error_id: newId(),
      retry_at: new Date(Date.now() + HALF_A_DAY),
    })),
  );
  await requestReconcile({ _id: storedId(endpointId), account_id });
  const soon = Date.now() + 60_000;
  await reconcilePending(new Date(soon));
  await reconcilePending(new Date(soon + 1_000));

  expect(await EndpointReconcile.countDocuments({ account_id })).toBe(101);
  // One that may still be suspending stays, behind the others.
  const own = await EndpointReconcile.findOne({ _id: endpointId, account_id: accountId }).lean();
  expect(own?.since.getTime()).toBe(soon + 1_000);
});
