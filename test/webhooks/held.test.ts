// A delivery is held only at an endpoint that is disabled, also when that was seen a moment ago and is not so any more.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Delivery, type DeliveryRecord, deliveryId, releaseDeliveries } from '#libs/models/delivery.ts';
import { insertDeliveries } from '#libs/models/delivery-clock.ts';
import { type Id, storedId, wireId } from '#libs/models/tenant.ts';
import { WebhookEndpoint } from '#libs/models/webhook-endpoint.ts';
import { openOutbound } from '#libs/outbound.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { makeDeliverWebhook } from '../../services/webhooks/deliver-webhook.ts';
import { openEventReader } from '../../services/webhooks/event-reader.ts';
import { makePostSigned } from '../../services/webhooks/post-signed.ts';
import { openTraffic } from '../../services/webhooks/traffic.ts';
import { openReadyQueues } from '../support/queues.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { announcedEvent, LOOPBACK, register } from '../support/webhooks.ts';
import { openWorkspace, testLog, type Workspace } from '../support/workspace.ts';

let workspace: Workspace;
let receiver: Receiver;
beforeAll(async () => {
  workspace = await openWorkspace();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  await workspace.close();
});

test('when an endpoint is enabled again while deliveries find it disabled, then none of them stays held', async () => {
  const { id: accountId } = await workspace.account();
  const { endpoint } = await register(workspace, accountId, receiver.url);
  const queues = await openReadyQueues(workspace);
  const outbound = openOutbound({ allow: LOOPBACK });
  const deliver = makeDeliverWebhook({
    queues,
    box: openSecretBox(workspace.secretKey),
    traffic: openTraffic({ scale: 1 }),
    events: openEventReader(),
    postSigned: makePostSigned({ outbound, timeoutMs: 5_000, userAgent: 'Billhook/test' }),
    leaseMs: 30_000,
    retryScale: 1,
    onOutcome: () => undefined,
  });
  const attempt = (id: Id) =>
    deliver({ deliveryId: id, accountId, endpointId: endpoint.id }, { log: testLog, isFirstRun: true } as never);
  const setEnabled = (enabled: boolean) =>
    WebhookEndpoint.updateOne({ _id: endpoint.id, account_id: accountId }, { enabled });
  const aDelivery = async () => {
    const event = await announcedEvent(accountId);
    const eventId = wireId(event._id);
    await insertDeliveries([{ event, endpointIds: [storedId(endpoint.id)] }], new Date());
    return deliveryId(eventId, endpoint.id);
  };
  const statusOf = async (id: Id) =>
    (await Delivery.findOne({ _id: id, account_id: accountId }).readConcern('local').lean<DeliveryRecord>())?.status;
  const ids = [await aDelivery(), await aDelivery(), await aDelivery()];
  const [first, ...others] = ids as [Id, ...Id[]];

  await setEnabled(false);
  await attempt(first);
  expect(await statusOf(first)).toBe('held');
  await setEnabled(true);
  await releaseDeliveries(accountId, endpoint.id);
  await Promise.all(others.map(attempt));

  for (const id of ids) expect(['pending', 'delivered']).toContain(await statusOf(id));
  outbound.close();
  await queues.close();
});
