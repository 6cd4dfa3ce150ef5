// Every polling loop and every worker has a bound on the bytes of one step, whatever the accounts hold: a new one without a row is red.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { deliverWebhook, fanOutEvent } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { Account } from '#libs/models/accounts/account.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { type Id, newId, newRecord, storedId } from '#libs/models/tenant.ts';
import { Delivery } from '#libs/models/webhooks/delivery.ts';
import { reconcilePending, requestReconcile } from '#libs/models/webhooks/endpoint-reconcile.ts';
import { AT_ONCE, Event, type EventRecord } from '#libs/models/webhooks/event.ts';
import { WebhookEndpoint } from '#libs/models/webhooks/webhook-endpoint.ts';
import { type Outbound, openOutbound } from '#libs/outbound/outbound.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { sample } from '../../../services/operations/monitoring/sampler.ts';
import { makeDeliverWebhook } from '../../../services/webhooks/deliver-webhook.ts';
import { enqueueDueDeliveries } from '../../../services/webhooks/enqueue-due-deliveries.ts';
import { makeFanOutEvent } from '../../../services/webhooks/fan-out-event.ts';
import { openEventLoader } from '../../../services/webhooks/loading/event-loader.ts';
import { makePostSigned } from '../../../services/webhooks/post-signed.ts';
import { openRelay } from '../../../services/webhooks/relay-events.ts';
import { insertDeliveries } from '../../../services/webhooks/store/new-deliveries.ts';
import { openTraffic } from '../../../services/webhooks/traffic/traffic.ts';
import { countBytes } from '../../support/counted-bytes.ts';
import { eventually } from '../../support/eventually.ts';
import { openReadyQueues } from '../../support/queues.ts';
import { answer, type Receiver, startReceiver } from '../../support/receiver.ts';
import { announceAllFollowUps, planReminders } from '../../support/rounds.ts';
import { asSystem } from '../../support/shards/watch-commands.ts';
import { LOOPBACK, register } from '../../support/webhooks.ts';
import { openWorkspace, testLog, type Workspace } from '../../support/workspace.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const EVENTS = 40;
const BODY_BYTES = 2 * MIB;
const DELIVERIES = 3_000;
const INVOICES = 3_000;
/** See LARGE_BODIES_MAX_BYTES: fewer bodies than the events have. */
const BODIES = 32 * MIB;
/** A batch of small records. */
const BATCH = { read: MIB, sent: MIB };
const NOTHING = { read: 64 * KIB, sent: 64 * KIB };

type Row =
  | { read: number; sent: number; step: () => Promise<unknown> }
  /** Where its bound is checked, or why there is nothing to bound. */
  | { elsewhere: string };

const ROWS: Readonly<Record<string, Row>> = {
  'the relay': { ...BATCH, step: () => openRelay(queues).relay() },
  fanOutEvent: { ...BATCH, step: fanOutAll },
  deliverWebhook: { read: BODIES + MIB, sent: MIB, step: deliverAll },
  retryWebhook: { elsewhere: 'test/system/webhooks/rounds.test.ts' }, // The same work, see main.ts.
  'the delivery poller': { ...BATCH, step: () => enqueueDueDeliveries(queues, openTraffic({ scale: 1 })) },
  'the count of webhook processes': { ...NOTHING, step: () => queues.workerCount(deliverWebhook) },
  'the reconciler of endpoints': { ...NOTHING, step: reconcileOne },
  'the sampler of queues': { ...NOTHING, step: () => sample(queues) },
  // One record at a time, each in a unit of work.
  'the expiry poller': { elsewhere: 'test/service/scheduler/emit-expirations.test.ts' },
  'the poller of recurring invoices': { elsewhere: 'test/service/scheduler/run-recurring-invoices.test.ts' },
  'the poller of reminders': { ...BATCH, step: () => planReminders() },
  // A part of each of some thousand records.
  'the poller of follow-ups': { read: 2 * MIB, sent: MIB, step: followUpsOfAll },
  // Counters of a few operations, in one write.
  'the figures of requests': { elsewhere: 'test/service/operations/requests.test.ts' },
  // One message at a time, each with one mail of at most 15 MiB.
  sendMail: { elsewhere: 'test/service/mail/send-message.test.ts' },
  sendOwnMail: { elsewhere: 'test/service/mail/own-server.test.ts' }, // The same work, see main.ts.
  'the tester of mail servers': { elsewhere: 'test/service/mail/own-server.test.ts' },
  'the remover of old mails': { elsewhere: 'test/service/mail/remove-old-mails.test.ts' },
  'the mail poller': { elsewhere: 'test/service/mail/send-message.test.ts' },
  // At most five megabytes are read, and 80 KiB sent.
  loadLogo: { elsewhere: 'test/service/renderer/images.test.ts' },
  renderDocument: { elsewhere: 'test/service/gateway/printable-size.test.ts' },
};

let workspace: Workspace;
let queues: Queues;
let outbound: Outbound;
let receiver: Receiver;
/** Endpoints of accounts with as many as they may have, each with the event that it gets. */
const targets: { accountId: Id; endpointId: Id; event: EventRecord }[] = [];
const called = Promise.withResolvers<void>();
const bytes = countBytes(() => workspace.mongodbUri);

beforeAll(async () => {
  workspace = await openWorkspace();
  queues = await openReadyQueues(workspace);
  outbound = openOutbound({ allow: LOOPBACK, keepAlive: true });
  receiver = await startReceiver((_call, response) => void called.promise.then(() => answer(response, 204)));
  const body = JSON.stringify({ type: 'client.created', data: 'x'.repeat(BODY_BYTES) });
  while (targets.length < EVENTS) {
    const { id: accountId } = await workspace.account();
    for (let sequence = 1; sequence <= 10; sequence += 1) {
      const { endpoint } = await register(workspace, accountId, receiver.url);
      const common = { type: 'client.created', enqueue_count: 0, created_at: new Date(), due_at: AT_ONCE };
      const event = { ...common, _id: storedId(newId()), account_id: storedId(accountId), sequence } as EventRecord;
      await Event.insertMany([{ ...event, body, endpoint_id: storedId(endpoint.id) }]);
      targets.push({ accountId, endpointId: endpoint.id, event });
    }
  }
  await deliveriesOf(DELIVERIES);
  await invoicesOf(INVOICES);
});
afterAll(async () => {
  bytes.close();
  outbound.close();
  await receiver.close();
  await queues.close();
  await workspace.close();
});

/** Due deliveries of the first endpoint, whose events do not exist. */
async function deliveriesOf(count: number) {
  const { event, endpointId } = targets[0] as (typeof targets)[number];
  const fanOuts = Array.from({ length: count }, () => ({
    event: { ...event, _id: storedId(newId()) },
    endpointIds: [storedId(endpointId)],
  }));
  await insertDeliveries(fanOuts, new Date());
}

/** Invoices that wait for a look at their reminders. Whole, those of one round would be more than a batch. */
async function invoicesOf(count: number) {
  const { id } = await workspace.account();
  const of = { client_id: storedId(newId()) };
  const money = { currency: 'EUR', amount: 100, tax_amount: 0, amount_paid: 0 };
  const due = { status: 'Sent', due_date: '2026-01-01', reminder_due_at: new Date(0), notes: 'x'.repeat(2 * KIB) };
  const invoices = Array.from({ length: count }, () => ({ ...newRecord(id), ...of, ...money, ...due }));
  await Invoice.collection.insertMany(invoices as never[]);
}

async function fanOutAll() {
  const traffic = openTraffic({ scale: 1 });
  const parts = { queues, traffic, events: openEventLoader(), onFannedOut: () => undefined };
  const fanOut = makeFanOutEvent(parts);
  const first = { log: testLog, isFirstRun: true } as never;
  await Promise.all(targets.map(({ accountId, event }) => fanOut({ accountId, eventId: String(event._id) }, first)));
  expect(await ofAll({ lease_id: { $exists: true } })).toBe(EVENTS);
}

/** All at once: what is in memory at a time is what was read, because no receiver answers before. */
async function deliverAll() {
  const deliver = makeDeliverWebhook({
    queues,
    box: openSecretBox(workspace.secretKey),
    traffic: openTraffic({ scale: 1 }),
    events: openEventLoader(),
    postSigned: makePostSigned({ outbound, timeoutMs: 120_000, userAgent: 'Billhook/test' }),
    leaseMs: 150_000,
    retryScale: 1,
    onOutcome: () => undefined,
  });
  const ids: Id[] = [];
  for (const { event, endpointId } of targets) {
    const [added] = await insertDeliveries([{ event, endpointIds: [storedId(endpointId)] }], new Date());
    const found = added?.[0]?.id ?? (await deliveryOf(event));
    ids.push(found);
  }
  await Delivery.collection.updateMany({ _id: { $in: ids.map(storedId) } } as object, {
    $unset: { lease_id: 1, lease_until: 1 },
  });
  let ended = 0;
  const attempts = targets.map(async ({ accountId, endpointId }, index) => {
    const job = { deliveryId: ids[index] as Id, accountId, endpointId };
    await deliver(job, { log: testLog, isFirstRun: true } as never);
    ended += 1;
  });
  await eventually(() => ended + receiver.received.length === EVENTS, 60_000);
  expect(receiver.received.length).toBe(BODIES / BODY_BYTES - 1);
  called.resolve();
  await Promise.all(attempts);
  // The others go out later, and no attempt of theirs is spent.
  const rest = { _id: { $in: ids.map(storedId) }, status: 'pending', attempts_made: 0 };
  expect(await ofAll(rest)).toBe(EVENTS - receiver.received.length);
}

/** Deliveries of all accounts. */
const ofAll = (filter: object) => Delivery.collection.countDocuments(filter, { readConcern: 'local' });

async function deliveryOf({ _id, account_id }: EventRecord): Promise<Id> {
  const found = await Delivery.findOne({ account_id, event_id: _id }).lean();
  return String(found?._id);
}

async function reconcileOne() {
  const { accountId, endpointId } = targets[0] as (typeof targets)[number];
  await WebhookEndpoint.updateOne({ _id: endpointId, account_id: accountId }, { enabled: false });
  await requestReconcile({ _id: storedId(endpointId), account_id: storedId(accountId) });
  await reconcilePending(new Date(Date.now() + 60_000));
  const held = await Delivery.countDocuments({ account_id: accountId, endpoint_id: endpointId, status: 'held' });
  expect(held).toBeGreaterThanOrEqual(DELIVERIES);
}

test('each polling loop and each worker of a service has a row', () => {
  const sources = globSync('services/**/*.ts').map((path) => readFileSync(path, 'utf8'));
  const found = sources.flatMap((source) => [
    ...[...source.matchAll(/startPollingLoop\([\s\S]*?name: '([^']+)'/g)].map(([, name]) => name),
    ...[...source.matchAll(/startWorker\((\w+)/g)].map(([, name]) => name),
  ]);
  expect(found.toSorted()).toEqual(Object.keys(ROWS).toSorted());
  for (const row of Object.values(ROWS))
    if ('elsewhere' in row) expect([row, existsSync(row.elsewhere)]).toEqual([row, true]);
  expect(fanOutEvent.attempts).toBe(1);
});

describe('a step stays within its bound:', () => {
  const rows = Object.entries(ROWS).flatMap(([name, row]) => ('step' in row ? [[name, row] as const] : []));
  test.each(rows)('%s', async (_name, { step, ...bound }) => {
    const used = await bytes.during(() => asSystem(step));
    expect({ read: used.read <= bound.read, sent: used.sent <= bound.sent, used }).toEqual({
      read: true,
      sent: true,
      used,
    });
  });
});

/** Looks at accounts whose look is due, among them one with many open invoices. */
async function followUpsOfAll() {
  await Account.updateMany({}, { follow_ups_due_at: new Date(0) });
  await announceAllFollowUps();
}
