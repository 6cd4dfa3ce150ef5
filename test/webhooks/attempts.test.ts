// Single attempts, made in this process: what they hold while they last, and what follows from them.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { retryWebhook } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { startWorker } from '#libs/jobs/worker.ts';
import { Delivery, type DeliveryRecord, deliveryId } from '#libs/models/delivery.ts';
import { insertDeliveries } from '#libs/models/delivery-clock.ts';
import { type Id, storedId, wireId } from '#libs/models/tenant.ts';
import { type Outbound, openOutbound } from '#libs/outbound.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { makeDeliverWebhook } from '../../services/webhooks/deliver-webhook.ts';
import { openEventReader } from '../../services/webhooks/event-reader.ts';
import { makePostSigned } from '../../services/webhooks/post-signed.ts';
import { entryFor } from '../../services/webhooks/put-due-deliveries.ts';
import { openTraffic } from '../../services/webhooks/traffic.ts';
import { eventually } from '../support/eventually.ts';
import { openReadyQueues } from '../support/queues.ts';
import { answer, type Receiver, startReceiver } from '../support/receiver.ts';
import { announcedEvent, LOOPBACK, register } from '../support/webhooks.ts';
import { openWorkspace, testLog, type Workspace } from '../support/workspace.ts';

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

/** As a process has it: its own traffic, and waits a thousandth as long. Nobody else is there, also no clock. */
function makeDeliver() {
  return makeDeliverWebhook({
    queues,
    box: openSecretBox(workspace.secretKey),
    traffic: openTraffic({ scale: 1 }),
    events: openEventReader(),
    // No attempt of these tests ends by it.
    postSigned: makePostSigned({ outbound, timeoutMs: 120_000, userAgent: 'Billhook/test' }),
    leaseMs: 150_000,
    retryScale: 0.001,
    onOutcome: () => undefined,
  });
}

async function aDelivery({ accountId, endpointId }: { accountId: Id; endpointId: Id }) {
  const event = await announcedEvent(accountId);
  await insertDeliveries([{ event, endpointIds: [storedId(endpointId)] }], new Date());
  return deliveryId(wireId(event._id), endpointId);
}

const read = (accountId: Id, id: Id) =>
  Delivery.findOne({ _id: id, account_id: accountId }).readConcern('local').lean<DeliveryRecord>();

test('when a worker is quicker than the clock that brought the delivery, then the next attempt is put on the queue all the same', async () => {
  const target = await endpointAt((_request, response, count) => answer(response, count === 1 ? 500 : 204));
  const id = await aDelivery(target);
  // Its next attempts go over the queue that the clock uses, too.
  await Delivery.updateOne({ _id: id, account_id: target.accountId }, { attempts_made: 2 });
  const delivery = (await read(target.accountId, id)) as DeliveryRecord;
  // The clock notes what it has put there only after that.
  await queues.enqueue(retryWebhook, entryFor({ ...delivery, _id: id }, delivery.turn + 1));
  const { redisUrl, redisPrefix: prefix } = workspace;
  const worker = startWorker(retryWebhook, makeDeliver(), { redisUrl, prefix, concurrency: 1, log: testLog });
  try {
    await eventually(async () => (await read(target.accountId, id))?.status === 'delivered');
    expect(target.receiver.received).toHaveLength(2);
  } finally {
    await worker.close(1_000);
  }
});
