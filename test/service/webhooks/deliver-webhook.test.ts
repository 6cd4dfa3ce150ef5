// Deliveries from the committed event to the receiver: the service runs as a process of its own, receivers are real servers.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { acrossAccounts, storedId } from '#libs/models/tenant.ts';
import { Delivery, type DeliveryRecord, deliveryId, deliveryView } from '#libs/models/webhooks/delivery.ts';
import { Event, type EventRecord } from '#libs/models/webhooks/event.ts';
import { WebhookEndpoint } from '#libs/models/webhooks/webhook-endpoint.ts';
import { deliveryResponse } from '#libs/responses/webhook.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { insertDeliveries } from '../../../services/webhooks/store/new-deliveries.ts';
import { eventually } from '../../support/eventually.ts';
import { answer, type Receiver, startReceiver, verify } from '../../support/receiver.ts';
import {
  announce,
  announcedEvent,
  type RunningService,
  register,
  startWebhookService,
} from '../../support/webhooks.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let service: RunningService;
const receivers: Receiver[] = [];

beforeAll(async () => {
  workspace = await openWorkspace();
  service = await start();
});
afterAll(async () => {
  await service.stop();
  for (const receiver of receivers) await receiver.close();
  await workspace.close();
});

/** Starts a service whose attempts end as a timeout only where a receiver hangs, also on a busy machine. */
const start = () => startWebhookService(workspace, { WEBHOOK_TIMEOUT_MS: '30000' });

/** Runs a part of a test with another service. */
async function withService(env: NodeJS.ProcessEnv, work: () => Promise<void>) {
  await service.stop();
  service = await startWebhookService(workspace, env);
  try {
    await work();
  } finally {
    await service.stop();
    service = await start();
  }
}

async function receiver(...args: Parameters<typeof startReceiver>) {
  const started = await startReceiver(...args);
  receivers.push(started);
  return started;
}

/** An account with one endpoint at the receiver. */
async function subscribed(target: Receiver, events?: string[], mode: 'live' | 'test' = 'live') {
  const account = await workspace.account({ mode });
  const { endpoint, secret } = await register(workspace, account.id, target.url, events);
  return { account, endpoint, secret };
}

const deliveryOf = (eventId: string, endpointId: string) =>
  Delivery.findOne({ _id: deliveryId(eventId, endpointId) })
    .setOptions(acrossAccounts)
    .lean<DeliveryRecord>();

async function settled(eventId: string, endpointId: string, status: string) {
  return eventually(async () => {
    const delivery = await deliveryOf(eventId, endpointId);
    return delivery?.status === status && delivery;
  });
}

test('when a receiver fails twice and then succeeds, then it gets exactly that event, signed each time, with the same id', async () => {
  const target = await receiver((_request, response, count) => answer(response, count < 3 ? 500 : 200));
  const { account, endpoint, secret } = await subscribed(target);
  const data = { id: 'c-1', name: 'Ünïcode & "quotes"' };
  const eventId = await announce(account.id, 'client.created', data);

  const delivery = await settled(eventId, endpoint.id, 'delivered');

  expect(target.received.map(({ id }) => id)).toEqual([eventId, eventId, eventId]);
  const event = await Event.findOne({ _id: eventId, account_id: account.id }).lean();
  for (const call of target.received) {
    expect(verify(secret, call)).toEqual({ type: 'client.created', timestamp: expect.any(String), data });
    expect(call.body).toBe(event?.body);
    expect(call.headers['user-agent']).toMatch(/^Billhook\/\d/);
    expect(call.headers['content-type']).toBe('application/json');
  }
  expect(delivery.attempts.map(({ response_status, error_class }) => [response_status, error_class ?? null])).toEqual([
    [500, 'status'],
    [500, 'status'],
    [200, null],
  ]);
  expect(event?.due_at).toBeUndefined();
});

test('when a receiver sends headers, then each attempt keeps them as texts, and the API shows them in its form', async () => {
  const odd = { 'X-Field': '$account_id', 'X-Markup': '<b>&', 'Set-Cookie': 'session=secret' };
  const target = await receiver((_request, response, count) => answer(response, count < 2 ? 503 : 200, odd));
  const { account, endpoint } = await subscribed(target);
  const eventId = await announce(account.id, 'client.created', { id: 'c-1' });

  const delivery = await settled(eventId, endpoint.id, 'delivered');

  const view = deliveryView(delivery);
  expect(deliveryResponse.validate(view, { convert: false }).error).toBeUndefined();
  expect(view.attempts).toHaveLength(2);
  for (const { response_headers } of view.attempts)
    expect(response_headers).toEqual(
      expect.arrayContaining([
        { name: 'x-field', value: '$account_id' },
        { name: 'x-markup', value: '<b>&' },
        { name: 'set-cookie', value: '(masked)' },
      ]),
    );
});

test.each([
  ['test', 'test'],
  ['live', undefined],
] as const)(
  'when an event belongs to a %s account, then the header billhook-mode is %j and the body is the same',
  async (mode, header) => {
    const target = await receiver();
    const { account, endpoint, secret } = await subscribed(target, undefined, mode);
    const eventId = await announce(account.id, 'client.created', { id: 'c-1' });

    await settled(eventId, endpoint.id, 'delivered');

    const [call] = target.received as [Receiver['received'][number]];
    expect(call.headers['billhook-mode']).toBe(header);
    expect(verify(secret, call)).toEqual({
      type: 'client.created',
      timestamp: expect.any(String),
      data: { id: 'c-1' },
    });
  },
);

test('when an endpoint has filters, then it gets only the events that they name', async () => {
  const target = await receiver();
  const { account } = await subscribed(target, ['invoice.*', 'client.created']);
  const ids = [
    await announce(account.id, 'client.updated', {}),
    await announce(account.id, 'client.created', {}),
    await announce(account.id, 'invoice.paid', {}),
    await announce(account.id, 'quote.sent', {}),
    await announce(account.id, 'ping', {}),
    await announce(account.id, 'invoice.created', {}),
  ];
  await eventually(() => target.received.length >= 3);
  await eventually(async () => (await Event.countDocuments({ account_id: account.id, due_at: null })) === ids.length);
  expect(new Set(target.received.map(({ id }) => id))).toEqual(new Set([ids[1], ids[2], ids[5]]));
});

test('when an event is for one endpoint, then no other gets it, whatever they subscribe to', async () => {
  const chosen = await receiver();
  const other = await receiver();
  const { account, endpoint } = await subscribed(chosen, ['invoice.*']);
  const { endpoint: second } = await register(workspace, account.id, other.url, ['*']);
  const eventId = await announce(account.id, 'ping', {}, endpoint.id);
  await settled(eventId, endpoint.id, 'delivered');
  expect(chosen.received).toHaveLength(1);
  expect(await deliveryOf(eventId, second.id)).toBeNull();
});

test('when another account has an endpoint for everything, then it gets nothing of this account', async () => {
  const mine = await receiver();
  const theirs = await receiver();
  const { account, endpoint } = await subscribed(mine);
  await subscribed(theirs);
  await settled(await announce(account.id, 'client.created', {}), endpoint.id, 'delivered');
  expect(theirs.received).toEqual([]);
});

test('when a secret was rotated, then both verify during the overlap, and only the new one after it', async () => {
  const target = await receiver();
  const { account, endpoint, secret } = await subscribed(target);
  const box = openSecretBox(workspace.secretKey);
  const fresh = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const rotate = (until: Date) =>
    WebhookEndpoint.updateOne(
      { _id: endpoint.id, account_id: account.id },
      { $set: { secret: box.seal(fresh), previous_secrets: [{ secret: box.seal(secret), until }] } },
    );
  await rotate(new Date(Date.now() + 60_000));
  await settled(await announce(account.id, 'client.created', {}), endpoint.id, 'delivered');
  const [during] = target.received;
  if (!during) throw new Error('nothing arrived');
  expect(String(during.headers['webhook-signature']).split(' ')).toHaveLength(2);
  verify(fresh, during);
  verify(secret, during);

  await rotate(new Date(Date.now() - 1));
  await settled(await announce(account.id, 'client.created', {}), endpoint.id, 'delivered');
  const after = target.received[1];
  if (!after) throw new Error('nothing arrived');
  verify(fresh, after);
  expect(() => verify(secret, after)).toThrow('No matching signature');
});

test('when the receiver responds with 410, then the endpoint is disabled, its deliveries are held and the other endpoints are notified', async () => {
  const gone = await receiver((_request, response) => answer(response, 410));
  const observer = await receiver();
  const { account, endpoint } = await subscribed(gone, ['client.*']);
  await register(workspace, account.id, observer.url, ['endpoint.disabled']);
  const delivery = await settled(await announce(account.id, 'client.created', {}), endpoint.id, 'held');
  expect(delivery.attempts).toMatchObject([{ response_status: 410, error_class: 'gone' }]);
  expect(delivery.next_at).toBeUndefined();
  const notice = await eventually(() => observer.received[0]);
  expect(JSON.parse(notice.body)).toMatchObject({
    type: 'endpoint.disabled',
    data: { id: endpoint.id, url: gone.url, enabled: false, disabled_reason: 'gone' },
  });
  await announce(account.id, 'client.updated', {});
  await eventually(async () => (await Event.countDocuments({ account_id: account.id, due_at: null })) === 3);
  expect(gone.received).toHaveLength(1);
});

test('when the receiver redirects, then the redirect is not followed and the attempt has failed', async () => {
  const inside = await receiver();
  const target = await receiver((_request, response, count) =>
    count === 1 ? answer(response, 307, { Location: inside.url }) : answer(response, 204),
  );
  const { account, endpoint } = await subscribed(target);
  const delivery = await settled(await announce(account.id, 'client.created', {}), endpoint.id, 'delivered');
  expect(delivery.attempts.map(({ error_class }) => error_class ?? null)).toEqual(['redirect', null]);
  expect(inside.received).toEqual([]);
});

test('when the receiver asks for a pause with Retry-After, then the next attempt is not made earlier', async () => {
  const target = await receiver((_request, response, count) =>
    count === 1 ? answer(response, 429, { 'Retry-After': '2' }) : answer(response, 204),
  );
  const { account, endpoint } = await subscribed(target);
  await settled(await announce(account.id, 'client.created', {}), endpoint.id, 'delivered');
  const [first, second] = target.received;
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(2_000);
});

test('when the receiver hangs, then the attempt ends as a timeout', async () => {
  const hanging = await receiver((_request, response, count) => {
    if (count > 1) answer(response, 204);
  });
  const { account, endpoint } = await subscribed(hanging);
  await withService({ WEBHOOK_TIMEOUT_MS: '1500' }, async () => {
    const eventId = await announce(account.id, 'client.created', {});
    const delivery = await settled(eventId, endpoint.id, 'delivered');
    expect(delivery.attempts[0]).toMatchObject({ error_class: 'timeout' });
    expect(delivery.attempts[0]?.response_status).toBeUndefined();
  });
});

test('when the receiver does not answer yet, then others are not delayed', async () => {
  const latch = Promise.withResolvers<void>();
  const slow = await receiver((_request, response) => void latch.promise.then(() => answer(response, 204)));
  const well = await receiver();
  const { account, endpoint } = await subscribed(slow);
  const { endpoint: other } = await register(workspace, account.id, well.url);
  const eventId = await announce(account.id, 'client.created', {});
  await settled(eventId, other.id, 'delivered');
  expect((await deliveryOf(eventId, endpoint.id))?.attempts).toEqual([]);
  latch.resolve();
  expect((await settled(eventId, endpoint.id, 'delivered')).attempts).toHaveLength(1);
});

test('when a port is closed, has no web server or is at a forbidden address, then a tenant sees the same error', async () => {
  const closed = await startReceiver();
  await closed.close();
  const noise = await receiver((_request, response) => {
    response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n');
  });
  const seen = [];
  for (const url of [closed.url, noise.url, 'https://10.0.0.1/']) {
    const account = await workspace.account();
    const { endpoint } = await register(workspace, account.id, noise.url);
    await WebhookEndpoint.updateOne({ _id: endpoint.id, account_id: account.id }, { $set: { url } });
    const eventId = await announce(account.id, 'client.created', {});
    const delivery = await eventually(async () => {
      const found = await deliveryOf(eventId, endpoint.id);
      return found && found.attempts.length > 0 && found;
    });
    const { at, ...shown } = delivery.attempts[0] ?? { at: undefined };
    seen.push(shown);
    // Nor is it shown how long the attempt took.
    expect(delivery.updated_at).toEqual(delivery.attempts.at(-1)?.at ?? at);
  }
  expect(seen).toEqual([
    { error_class: 'unreachable' },
    { error_class: 'unreachable' },
    { error_class: 'unreachable' },
  ]);
});

test('when a response never ends, then its status counts and the rest is not read', async () => {
  const target = await receiver((_request, response) => {
    response.writeHead(200);
    const send = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    response.on('drain', send);
    send();
  });
  const { account, endpoint } = await subscribed(target);
  const delivery = await settled(await announce(account.id, 'client.created', {}), endpoint.id, 'delivered');
  expect(delivery.attempts).toMatchObject([{ response_status: 200 }]);
});

test('when all eleven attempts fail, then the delivery is dead and keeps its attempts', async () => {
  await withService({ WEBHOOK_RETRY_SCALE: '0.0000001' }, async () => {
    const target = await receiver((_request, response) => answer(response, 500));
    const { account, endpoint } = await subscribed(target);
    const delivery = await settled(await announce(account.id, 'client.created', {}), endpoint.id, 'dead');
    expect(delivery.attempts).toHaveLength(11);
    expect(target.received).toHaveLength(11);
    expect(delivery.due_at).toBeUndefined();
    await eventually(async () => (await WebhookEndpoint.findOne({ account_id: account.id }))?.failures === 11);
  });
});

test('when an endpoint has failed for five days, then the next failure disables it; a success in between would not', async () => {
  const target = await receiver((request, response) => answer(response, request.path === '/hook' ? 500 : 204));
  const { account, endpoint } = await subscribed(target);
  const filter = { _id: endpoint.id, account_id: account.id };
  const longAgo = new Date(Date.now() - 5 * 24 * 3_600_000 - 1);
  await WebhookEndpoint.updateOne(filter, { failing_since: longAgo, failures: 20, url: `${target.url}/well` });
  await settled(await announce(account.id, 'client.created', {}), endpoint.id, 'delivered');
  await eventually(async () => (await WebhookEndpoint.findOne(filter))?.failing_since === undefined);

  await WebhookEndpoint.updateOne(filter, { failing_since: longAgo, failures: 20, url: target.url });
  const eventId = await announce(account.id, 'client.created', {});
  await eventually(async () => {
    const record = await WebhookEndpoint.findOne(filter).lean();
    return record?.enabled === false && record.disabled_reason === 'failing';
  });
  await settled(eventId, endpoint.id, 'held');
  expect(await Event.countDocuments({ account_id: account.id, type: 'endpoint.disabled' })).toBe(1);
});

test('when the service is stopped, then it completes the attempt in flight and exits with 0', async () => {
  const target = await receiver((_request, response) => void setTimeout(() => answer(response, 204), 700));
  const { account, endpoint } = await subscribed(target);
  const eventId = await announce(account.id, 'client.created', {});
  await eventually(() => target.received.length === 1);
  expect(await service.stop()).toBe(0);
  // An outcome is written without waiting for the disk.
  await eventually(async () => (await deliveryOf(eventId, endpoint.id))?.attempts.length === 1);
  service = await start();
});

test('when a delivery that a breaker deferred succeeds, then the other deferred ones follow at once, even if that breaker no longer exists', async () => {
  const target = await receiver();
  // It subscribes to none of these events: the deliveries below are all it gets.
  const { account, endpoint } = await subscribed(target, ['invoice.paid']);
  const deferred = (waitMs: number) =>
    new Map([[endpoint.id, { nextAt: new Date(Date.now() + waitMs), deferrals: 1 }]]);
  const [first, ...others] = [
    await announcedEvent(account.id),
    await announcedEvent(account.id),
    await announcedEvent(account.id),
  ];
  const endpointIds = [storedId(endpoint.id)];
  await insertDeliveries(
    others.map((event) => ({ event, endpointIds, deferred: deferred(3_600_000) })),
    new Date(),
  );
  await insertDeliveries([{ event: first as EventRecord, endpointIds, deferred: deferred(0) }], new Date());

  await eventually(() => target.received.length === 3);
  expect(target.received[0]?.id).toBe(String(first?._id));
  for (const event of others) await settled(String(event._id), endpoint.id, 'delivered');
});

test('when an endpoint was deleted before its delivery, then the delivery is dead, with the reason', async () => {
  const target = await receiver((_request, response) => answer(response, 500));
  const { account, endpoint } = await subscribed(target);
  const eventId = await announce(account.id, 'client.created', {});
  await eventually(() => target.received.length > 0);
  await WebhookEndpoint.deleteOne({ _id: endpoint.id, account_id: account.id });
  const delivery = await settled(eventId, endpoint.id, 'dead');
  expect(delivery.attempts.at(-1)).toMatchObject({ error_class: 'endpoint_deleted' });
});
