// Journey: a client is created, and its event reaches the receiver, however often that fails first.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { type Receiver, startReceiver, verify } from '../support/receiver.ts';
import { startSystem, type TestSystem } from '../support/system.ts';

let system: TestSystem;
let receiver: Receiver;
beforeAll(async () => {
  // Waits between attempts shrink to a thousandth: 5 ms, 20 ms, 80 ms…
  system = await startSystem({ env: { WEBHOOK_RETRY_SCALE: '0.001' } });
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  await system.close();
});

test('when a receiver fails twice and then answers, then it gets exactly that event, signed, three times with one id', async () => {
  const endpoint = await system.call('POST', '/api/v1/webhooks', {
    body: { url: receiver.url, events: ['client.created'] },
  });
  expect(endpoint.status).toBe(201);
  const { id, secret } = endpoint.body.data;
  receiver.answerWith(500, 503);

  const client = await system.call('POST', '/api/v1/clients', { body: { name: 'Ada', email: 'ada@example.com' } });
  expect(client.status).toBe(201);

  await eventually(() => receiver.received.length >= 3);
  const events = receiver.received.map((call) => verify(secret, call));
  expect(events.map(({ type, data }) => [type, data])).toEqual(Array(3).fill(['client.created', client.body.data]));
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  const delivery = await eventually(async () => {
    const [first] = (await system.call('GET', `/api/v1/webhooks/${id}/deliveries`)).body.data;
    return first?.status === 'delivered' && first;
  });
  expect(delivery).toMatchObject({ status: 'delivered', event_type: 'client.created' });
});

test('when Redis is unavailable and returns empty, then a client created meanwhile is announced all the same', async () => {
  const before = receiver.received.length;
  await system.redis.kill();

  const client = await system.call('POST', '/api/v1/clients', { body: { name: 'Grace', email: 'grace@example.com' } });
  expect(client.status).toBe(201);
  await system.redis.start();

  await eventually(() => receiver.received.length > before);
  const last = JSON.parse(receiver.received.at(-1)?.body ?? '{}');
  expect(last.data.id).toBe(client.body.data.id);
});
