// The receiver of the demo account: what it verifies, and that what it shows cannot be turned against the reader.
import { get } from 'node:http';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { type Receiver, startReceiver } from '../../../deploy/local/receiver.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
let receiver: Receiver;

beforeEach(async () => {
  receiver = await startReceiver();
  receiver.useSecret(SECRET);
});
afterEach(() => receiver.close());

test('when the signature is right, then the delivery is accepted and shown as verified', async () => {
  const response = await deliver({ type: 'client.created', data: { name: 'Ada' } });

  expect(response.status).toBe(204);
  expect(await deliveries()).toMatchObject([
    { verified: true, body: { type: 'client.created', data: { name: 'Ada' } } },
  ]);
});

test('when the body is not the signed one, then the delivery is rejected and shown with the reason', async () => {
  const response = await deliver({ type: 'client.created' }, { body: '{"type":"client.deleted"}' });

  expect(response.status).toBe(401);
  expect(await deliveries()).toMatchObject([{ verified: false, problem: 'No matching signature found' }]);
});

test('when a delivery holds markup, then a browser shows it as JSON and runs nothing', async () => {
  await deliver({ type: '<script>alert(1)</script>' });

  for (const url of [receiver.url, `${receiver.url}/deliveries`]) {
    const { headers } = await fetch(url);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
  }
});

test('when another host name resolves to this address, then nothing is served under it', async () => {
  const status = await new Promise((resolve) => {
    get(`${receiver.url}/deliveries`, { headers: { Host: 'rebound.example' } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
  });

  expect(status).toBe(421);
});

test('when the token is missing or wrong, then nothing is shown or accepted', async () => {
  const { origin, pathname } = new URL(receiver.url);
  await deliver({ type: 'client.created', data: { name: 'Ada' } });
  const wrong = `${pathname.slice(0, -1)}${pathname.endsWith('A') ? 'B' : 'A'}`;

  for (const path of ['/', '/deliveries', '/hook', wrong, `${wrong}/deliveries`, '/€', '//deliveries']) {
    const response = await fetch(`${origin}${path}`);
    expect({ path, status: response.status }).toEqual({ path, status: 404 });
    expect(await response.text()).not.toContain('Ada');
  }
  expect((await fetch(`${origin}/hook`, { method: 'POST', body: '{}' })).status).toBe(404);
  expect(await deliveries()).toHaveLength(1);
});

test('when it restarts with its stored state, then its token is the same', async () => {
  const { port, pathname } = new URL(receiver.url);
  await receiver.close();

  receiver = await startReceiver({ port: Number(port), token: pathname.slice(1) });

  expect(new URL(receiver.url).pathname).toBe(pathname);
});

test('when more deliveries arrive than are kept, then the newest stay', async () => {
  for (let count = 0; count <= 100; count++) await deliver({ type: `event.${count}` });

  const kept = await deliveries();

  expect(kept).toHaveLength(100);
  expect(kept[0]).toMatchObject({ body: { type: 'event.100' } });
});

async function deliver(event: unknown, { body = JSON.stringify(event) } = {}) {
  const now = new Date();
  const headers = {
    'webhook-id': 'evt-1',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(SECRET).sign('evt-1', now, JSON.stringify(event)),
  };
  return await fetch(receiver.hookUrl, { method: 'POST', headers, body });
}

async function deliveries(): Promise<unknown[]> {
  return (await (await fetch(`${receiver.url}/deliveries`)).json()) as unknown[];
}
