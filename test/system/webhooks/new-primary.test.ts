// A replica set whose members differ for a moment: what a majority lacks is not acknowledged, and what a new primary lacks is not given up.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Queues } from '#libs/jobs/queue.ts';
import { type Id, newId, storedId, wireId } from '#libs/models/tenant.ts';
import { Delivery, type DeliveryRecord, deliveryId } from '#libs/models/webhooks/delivery.ts';
import { resumeDeliveries } from '#libs/models/webhooks/endpoint-deliveries.ts';
import { reconcileEndpoint } from '#libs/models/webhooks/endpoint-reconcile.ts';
import { replayEvents } from '#libs/models/webhooks/replay-deliveries.ts';
import { WebhookEndpoint } from '#libs/models/webhooks/webhook-endpoint.ts';
import { pingMongo } from '#libs/mongo/connection.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { makeDeliverWebhook } from '../../../services/webhooks/deliver-webhook.ts';
import { makeFanOutEvent } from '../../../services/webhooks/fan-out-event.ts';
import { openEventLoader } from '../../../services/webhooks/loading/event-loader.ts';
import { insertDeliveries } from '../../../services/webhooks/store/new-deliveries.ts';
import { openTraffic } from '../../../services/webhooks/traffic/traffic.ts';
import { eventually } from '../../support/eventually.ts';
import type { Member } from '../../support/faults/system/replica-set.ts';
import { type OwnSet, openOwnSet } from '../../support/own-set.ts';
import { openReadyQueues } from '../../support/queues.ts';
import { announce, announcedEvent, register, storedDelivery } from '../../support/webhooks.ts';
import { type TestAccount, testLog, type Workspace } from '../../support/workspace.ts';

const LIMIT_MS = 180_000;
/** A delivery that is wrongly given up is given up within milliseconds. */
const QUIET_MS = 500;
/** Round trips to the primary: after them the response to an earlier command would have arrived. */
const PINGS = 50;
const URL = 'http://127.0.0.1:9/hook'; // No service calls it.

let own: OwnSet;
let queues: Queues | undefined; // Absent when the set did not start.
let workspace: Workspace;
let account: TestAccount;
let next: Member;

beforeAll(async () => {
  own = await openOwnSet('new-primary-webhooks');
  workspace = own.workspace;
  account = await workspace.account();
  queues = await openReadyQueues(workspace);
}, LIMIT_MS);
afterAll(async () => {
  await queues?.close();
  await (own as OwnSet | undefined)?.close();
}, LIMIT_MS);

beforeEach(async () => {
  next = await own.secondary();
});
afterEach(() => own.noticeMajority());

/** Runs the work after `next` was elected, and lets `next` notice the majority's state only a while later. */
async function afterElection(work: () => Promise<unknown>) {
  await own.elect(next);
  // Otherwise the driver of a busy machine would still look for the new primary when that notices the majority.
  await eventually(() => pingMongo().then(() => true));
  const done = work();
  done.catch(() => undefined); // Awaited below.
  await pause(QUIET_MS);
  await own.noticeMajority();
  await done;
}

function deliverer() {
  const deliver = makeDeliverWebhook({
    queues: queues as Queues,
    box: openSecretBox(workspace.secretKey),
    traffic: openTraffic({ scale: 1 }),
    events: openEventLoader(),
    postSigned: async () => ({ isWell: true, status: 204, durationMs: 1 }),
    leaseMs: 60_000,
    retryScale: 1,
    onOutcome: () => undefined,
  });
  return (deliveryId: Id, endpointId: Id) =>
    deliver({ deliveryId, accountId: account.id, endpointId }, { log: testLog, isFirstRun: true } as never);
}

const statusOf = async (id: Id) =>
  (await Delivery.findOne({ _id: id, account_id: account.id }).readConcern('local').lean<DeliveryRecord>())?.status;

test(
  'when a worker cannot see the endpoint and the event of a delivery yet, then it waits for them and delivers',
  async () => {
    await own.noticeNoMajority(next);
    const { endpoint } = await register(workspace, account.id, URL);
    const id = await storedDelivery(account.id, endpoint.id);
    const deliver = deliverer();

    await afterElection(() => deliver(id, endpoint.id));

    expect(await statusOf(id)).toBe('delivered');
  },
  LIMIT_MS,
);

test(
  'when a fan-out cannot see an endpoint yet, then the endpoint gets its delivery all the same',
  async () => {
    await own.noticeNoMajority(next);
    const { endpoint } = await register(workspace, account.id, URL);
    const eventId = await announce(account.id, 'client.created', {});
    const events = openEventLoader();
    await events.loadFresh(eventId); // From the old primary.
    const fanOut = makeFanOutEvent({
      queues: queues as Queues,
      traffic: openTraffic({ scale: 1 }),
      events,
      onFannedOut: () => undefined,
    });

    await afterElection(() => fanOut({ eventId, accountId: account.id }, { log: testLog } as never));

    const wanted = { account_id: account.id, event_id: eventId, endpoint_id: endpoint.id };
    expect(await Delivery.countDocuments(wanted)).toBe(1);
  },
  LIMIT_MS,
);

test(
  'when an endpoint that was enabled still looks disabled, then its delivery does not stay suspended',
  async () => {
    const { endpoint } = await register(workspace, account.id, URL);
    const ofEndpoint = { _id: endpoint.id, account_id: account.id };
    await WebhookEndpoint.updateOne(ofEndpoint, { enabled: false });
    const id = await storedDelivery(account.id, endpoint.id);
    await own.noticeNoMajority(next);
    await WebhookEndpoint.updateOne(ofEndpoint, { enabled: true });
    await resumeDeliveries(account.id, endpoint.id);
    const deliver = deliverer();

    await afterElection(() => deliver(id, endpoint.id));

    expect(await statusOf(id)).toBe('pending');
  },
  LIMIT_MS,
);

test(
  'when a reconcile cannot see an endpoint yet, then it does not give its deliveries up',
  async () => {
    await own.noticeNoMajority(next);
    const { endpoint } = await register(workspace, account.id, URL);
    const id = await storedDelivery(account.id, endpoint.id);

    await afterElection(() => reconcileEndpoint(account.id, endpoint.id));

    expect(await statusOf(id)).toBe('pending');
  },
  LIMIT_MS,
);

test('when only the primary has the deliveries of an event, then the insert is not acknowledged yet', async () => {
  const { set } = own;
  const accountId = account.id;
  const event = await announcedEvent(accountId);
  const eventId = wireId(event._id);
  const endpointId = newId();
  const _id = deliveryId(eventId, endpointId);
  const primary = await set.primary();
  const secondaries = set.members.filter((member) => member !== primary);
  const setReplicationPause = async (mode: 'alwaysOn' | 'off') => {
    for (const member of secondaries) await member.command({ configureFailPoint: 'rsSyncApplyStop', mode });
  };

  await setReplicationPause('alwaysOn');
  let isAcknowledged = false;
  const inserting = insertDeliveries([{ event, endpointIds: [storedId(endpointId)] }], new Date()).finally(() => {
    isAcknowledged = true;
  });
  try {
    await eventually(() => Delivery.findOne({ _id, account_id: accountId }).readConcern('local').lean());
    for (let count = 0; count < PINGS; count += 1) await pingMongo();
    expect(isAcknowledged).toBe(false);
  } finally {
    await setReplicationPause('off');
  }
  expect(await inserting).toEqual([[{ id: _id, endpointId: storedId(endpointId) }]]);
  expect(await Delivery.exists({ _id, account_id: accountId })).not.toBeNull();
});

// The fail point holds every upsert of a server up, also those of test files that would share it.
test('when a fan-out inserts a delivery just as a replay inserts it, then the replay continues and there is one', async () => {
  const { endpoint } = await register(workspace, account.id, URL);
  const event = await announcedEvent(account.id);
  const primary = await own.set.primary();
  const failPoint = 'hangBeforeUpsertPerformsInsert';
  const { count } = await primary.command({ configureFailPoint: failPoint, mode: 'alwaysOn' });
  const replayed = replayEvents([event], endpoint.id, { skipDelivered: false });
  try {
    await primary.command({ waitForFailPoint: failPoint, timesEntered: Number(count) + 1, maxTimeMS: 60_000 });
    await insertDeliveries([{ event, endpointIds: [storedId(endpoint.id)] }], new Date());
  } finally {
    await primary.command({ configureFailPoint: failPoint, mode: 'off' });
  }

  expect(await replayed).toBe(0);
  expect(await Delivery.countDocuments({ account_id: account.id, endpoint_id: endpoint.id })).toBe(1);
});
