// Webhooks as a caller uses them: over HTTP, with the webhook service running and real receivers.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { nudgeRelay } from '#libs/jobs/nudge.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { Idempotency } from '#libs/models/idempotency-record.ts';
import { newId } from '#libs/models/tenant.ts';
import { Delivery } from '#libs/models/webhooks/delivery.ts';
import { pausedAfter } from '#libs/models/webhooks/endpoint-pauses.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { WebhookEndpoint } from '#libs/models/webhooks/webhook-endpoint.ts';
import { inTransaction } from '#libs/mongo/connection.ts';
import { openOutbound } from '#libs/outbound/outbound.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { makeApp } from '../../../services/gateway/app.ts';
import { eventually } from '../../support/eventually.ts';
import { appOptionsFor, callerOf, type Reply } from '../../support/gateway.ts';
import { openReadyQueues } from '../../support/queues.ts';
import { answer, type Receiver, startReceiver, verify } from '../../support/receiver.ts';
import { announce, LOOPBACK, type RunningService, startWebhookService } from '../../support/webhooks.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let queues: Queues;
let server: Server;
let service: RunningService;
let url: string;
const receivers: Receiver[] = [];
/** Addresses of names, so that no test queries a real resolver. */
const names: Record<string, string[]> = { 'example.com': ['93.184.216.34'], 'inside.example': ['10.0.0.5'] };

beforeAll(async () => {
  workspace = await openWorkspace();
  queues = await openReadyQueues(workspace);
  const nudge = () => nudgeRelay(queues.redis, workspace.redisPrefix);
  const resolve = async (host: string) => names[host] ?? Promise.reject(new Error(`no ${host}`));
  const outbound = openOutbound({ allow: LOOPBACK, resolve });
  server = createServer(makeApp({ ...appOptionsFor(workspace), outbound, nudge }));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  service = await startWebhookService(workspace);
});
afterAll(async () => {
  await service.stop();
  for (const receiver of receivers) await receiver.close();
  server.closeAllConnections();
  server.close();
  await queues.close();
  await workspace.close();
});

async function receiver(...args: Parameters<typeof startReceiver>) {
  const started = await startReceiver(...args);
  receivers.push(started);
  return started;
}

/** A fresh account and functions that call the API with its key. */
async function user(scopes?: string[]) {
  const account = await workspace.account(scopes ? { scopes } : {});
  const call = callerOf(url, account.key);
  return {
    ...account,
    get: (path: string) => call('GET', `/api/v1${path}`),
    post: (path: string, body?: unknown, headers?: Record<string, string>) =>
      call('POST', `/api/v1${path}`, { body, ...(headers ? { headers } : {}) }),
    patch: (path: string, body: unknown) => call('PATCH', `/api/v1${path}`, { body }),
    delete: (path: string) => call('DELETE', `/api/v1${path}`),
  };
}

type User = Awaited<ReturnType<typeof user>>;

const settled = (me: User, id: string, status: string): Promise<Reply['body']> =>
  eventually(async () => {
    const { body } = await me.get(`/deliveries/${id}`);
    return body.data?.status === status && body.data;
  });

test.each([
  { given: 'hooks.example.com/in', reason: 'malformed' },
  { given: 'ftp://example.com/in', reason: 'scheme' },
  { given: 'https://ada:secret@example.com/in', reason: 'userinfo' },
])(
  'when a new endpoint has the URL $given and wrong events, then both are named at once',
  async ({ given, reason }) => {
    const me = await user();

    const created = await me.post('/webhooks', { url: given, events: ['invoice.eaten'] });

    expect(created).toMatchObject({
      status: 400,
      body: {
        details: {
          url: [expect.stringMatching(new RegExp(`^url must .*\\(${reason}\\)$`))],
          'events.0': [expect.stringContaining('is no event type')],
        },
      },
    });
  },
);

async function firstDelivery(me: User, webhookId: string): Promise<Reply['body']> {
  return eventually(async () => (await me.get(`/webhooks/${webhookId}/deliveries`)).body.data[0]);
}

test('when an endpoint is registered, then the response shows its secret once, and the secret is stored sealed', async () => {
  const me = await user();
  const reply = await me.post('/webhooks', {
    url: 'https://example.com/hook',
    events: ['client.created', 'invoice.*'],
  });
  expect(reply.status).toBe(201);
  const { secret, ...webhook } = reply.body.data;
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(webhook).toMatchObject({
    url: 'https://example.com/hook',
    events: ['client.created', 'invoice.*'],
    description: null,
    enabled: true,
    disabled_reason: null,
  });
  expect((await me.get(`/webhooks/${webhook.id}`)).body).toEqual({ data: webhook });
  expect((await me.get('/webhooks')).body).toMatchObject({ data: [webhook], pagination: { total: 1 } });
  const stored = await WebhookEndpoint.findOne({ _id: webhook.id, account_id: me.id }).lean();
  expect(JSON.stringify(stored)).not.toContain(secret.slice(6));
});

test('when an endpoint is registered with an Idempotency-Key, then a replay finds the same endpoint and no secret is stored in clear', async () => {
  const me = await user();
  const body = { url: 'https://example.com/hook' };
  const first = await me.post('/webhooks', body, { 'Idempotency-Key': 'k-1' });
  const again = await me.post('/webhooks', body, { 'Idempotency-Key': 'k-1' });
  expect([first.status, again.status]).toEqual([201, 201]);
  expect(again.headers.get('Idempotent-Replayed')).toBe('true');
  expect(again.body.data.id).toBe(first.body.data.id);
  expect(again.body.data).toEqual({ ...first.body.data, secret: null });
  expect((await me.get('/webhooks')).body.pagination.total).toBe(1);
  const record = await Idempotency.findOne({ account_id: me.id }).lean();
  expect(record?.body).not.toContain(first.body.data.secret);
});

test('when a URL is registered twice, or an endpoint gets the URL of another, then it is done and the response says so', async () => {
  const me = await user();
  const first = await me.post('/webhooks', { url: 'https://example.com/hook' });
  const second = await me.post('/webhooks', { url: 'https://EXAMPLE.com:443/hook' }, { 'Idempotency-Key': 'twice' });
  const other = await me.post('/webhooks', { url: 'https://example.com/other' });
  const id: string = first.body.data.id;
  const warning = (of: string) => ({
    field: 'url',
    code: 'url_registered',
    message: `url is also that of webhook ${of}: each of the two gets the events that it subscribes to`,
    params: { id: of },
  });

  expect([first.body.warnings, other.body.warnings]).toEqual([undefined, undefined]);
  expect([second.status, second.body.warnings]).toEqual([201, [warning(id)]]);
  const again = await me.post('/webhooks', { url: 'https://EXAMPLE.com:443/hook' }, { 'Idempotency-Key': 'twice' });
  expect(again.body).toEqual({ ...second.body, data: { ...second.body.data, secret: null } });

  const moved = await me.patch(`/webhooks/${other.body.data.id}`, { url: 'https://example.com/hook' });
  expect([moved.status, moved.body.warnings]).toEqual([200, [warning(id), warning(second.body.data.id)]]);
  expect((await me.patch(`/webhooks/${id}`, { description: 'ours' })).body.warnings).toBeUndefined();
});

test('when the name of an endpoint resolves to a forbidden address by now, then a replay still gets the first response', async () => {
  const me = await user();
  const body = { url: 'https://moving.example/hook', events: ['*'] };
  names['moving.example'] = ['93.184.216.34'];
  const first = await me.post('/webhooks', body, { 'Idempotency-Key': 'moving' });
  names['moving.example'] = ['10.0.0.5'];
  const again = await me.post('/webhooks', body, { 'Idempotency-Key': 'moving' });

  expect([again.status, again.body.data?.id]).toEqual([201, first.body.data.id]);
  expect((await me.post('/webhooks', body, { 'Idempotency-Key': 'anew' })).status).toBe(400);
  expect((await me.get('/webhooks')).body.pagination.total).toBe(1);
});

test.each([
  ['https://10.0.0.1/hook', 'address'],
  ['https://[::ffff:10.0.0.1]/hook', 'address'],
  ['https://169.254.169.254/latest/', 'address'],
  ['https://inside.example/hook', 'address'],
  ['http://example.com/hook', 'scheme'],
  ['ftp://example.com/hook', 'scheme'],
  ['https://user:pass@example.com/hook', 'userinfo'],
  ['https://example.com:8443/hook', 'port'],
  ['https://printer.local/hook', 'host'],
  ['https://redis/hook', 'host'],
  ['not a url', 'malformed'],
])('when an endpoint is registered at %s, then 400 names the class of the reason: %s', async (target, reason) => {
  const me = await user();
  const reply = await me.post('/webhooks', { url: target, events: ['*'] });
  expect(reply.status).toBe(400);
  expect(reply.body).toMatchObject({ error: 'Validation failed' });
  expect(reply.body.details.url[0]).toContain(`(${reason})`);
  expect((await me.get('/webhooks')).body.pagination.total).toBe(0);
});

test('when an endpoint is registered at a URL that is too long, then 400 names the class of the reason', async () => {
  const me = await user();
  const reply = await me.post('/webhooks', { url: `https://example.com/${'a'.repeat(2_050)}` });
  expect([reply.status, reply.body.details.url]).toEqual([400, [expect.stringContaining('(length)')]]);
});

test('when a name cannot be resolved yet, then an https URL may still be registered: each delivery resolves it again', async () => {
  const me = await user();
  expect((await me.post('/webhooks', { url: 'https://not-yet.example/hook' })).status).toBe(201);
  expect((await me.post('/webhooks', { url: 'http://not-yet.example/hook' })).status).toBe(400);
});

test('when event filters are invalid, then 400 names each of them', async () => {
  const me = await user();
  const reply = await me.post('/webhooks', {
    url: 'https://example.com/',
    events: ['client.exploded', 'ping', 'x.*', ''],
  });
  expect(reply.status).toBe(400);
  expect(Object.keys(reply.body.details)).toEqual(['events.0', 'events.2', 'events.3']);
  expect((await me.post('/webhooks', { url: 'https://example.com/', events: [] })).status).toBe(400);
  expect((await me.post('/webhooks', { events: ['*'] })).body.details).toEqual({ url: ['url is required'] });
});

test('when twenty endpoints exist, then the next gets 409 with the limit, also when several are registered at once', async () => {
  const me = await user();
  const register = () => me.post('/webhooks', { url: 'https://example.com/' });
  for (let count = 0; count < 19; count += 1) expect((await register()).status).toBe(201);
  const statuses = (await Promise.all([register(), register(), register()])).map(({ status }) => status);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 409, 409]);
  const rejected = await register();
  expect(rejected.body.error).toContain('20');
  const [first] = (await me.get('/webhooks')).body.data;
  await me.delete(`/webhooks/${first.id}`);
  expect((await register()).status).toBe(201);
});

test('when another account uses its ids, then it gets 404 and can change nothing', async () => {
  const [owner, stranger] = [await user(), await user()];
  const { id } = (await owner.post('/webhooks', { url: 'https://example.com/' })).body.data;
  for (const reply of [
    await stranger.get(`/webhooks/${id}`),
    await stranger.patch(`/webhooks/${id}`, { enabled: false }),
    await stranger.delete(`/webhooks/${id}`),
    await stranger.post(`/webhooks/${id}/test`),
    await stranger.post(`/webhooks/${id}/rotate-secret`),
    await stranger.get(`/webhooks/${id}/deliveries`),
    await stranger.post(`/webhooks/${id}/replay`, { since: '2020-01-01' }),
    await stranger.get(`/deliveries/${newId()}`),
    await stranger.get(`/events/${newId()}`),
  ])
    expect([reply.status, Object.keys(reply.body)]).toEqual([404, ['error', 'code', 'params']]);
  expect((await owner.get(`/webhooks/${id}`)).body.data.enabled).toBe(true);
});

test('when a key lacks the scope, then 403', async () => {
  const reader = await user(['webhooks:read']);
  expect((await reader.get('/webhooks')).status).toBe(200);
  expect((await reader.post('/webhooks', { url: 'https://example.com/' })).status).toBe(403);
  expect((await reader.get('/events')).status).toBe(403);
});

test('when an endpoint is tested, then a signed ping reaches it alone', async () => {
  const me = await user();
  const [target, other] = [await receiver(), await receiver()];
  const { id, secret } = (await me.post('/webhooks', { url: target.url, events: ['invoice.*'] })).body.data;
  await me.post('/webhooks', { url: other.url });
  const reply = await me.post(`/webhooks/${id}/test`);
  expect(reply.status).toBe(200);
  const delivery = await settled(me, reply.body.data.delivery_id, 'delivered');
  expect(delivery).toMatchObject({ webhook_id: id, event_type: 'ping', next_attempt_at: null });
  expect(delivery.attempts).toMatchObject([{ response_status: 204, error_class: null }]);
  const [call] = target.received;
  if (!call) throw new Error('nothing arrived');
  expect(verify(secret, call)).toMatchObject({ type: 'ping', data: { webhook_id: id } });
  expect(call.id).toBe(reply.body.data.event_id);
  expect(other.received).toEqual([]);
});

test('when another gateway disables an endpoint at the moment it is tested, then the test gets 409 instead of a ping that is never delivered', async () => {
  const me = await user();
  const { id } = (await me.post('/webhooks', { url: (await receiver()).url })).body.data;
  let reply: Promise<Reply> | undefined;

  await inTransaction(async (session) => {
    const disabled = { enabled: false, disabled_reason: 'manual', updated_at: new Date() };
    const filter = { _id: id, account_id: me.id };
    await WebhookEndpoint.updateOne(filter, { $set: disabled, ...pausedAfter(0) }, { session });
    reply ??= me.post(`/webhooks/${id}/test`);
    await Promise.race([reply, pause(500)]);
  });

  expect((await reply)?.status).toBe(409);
});

test('when a secret is rotated, then calls carry two signatures and each secret verifies', async () => {
  const me = await user();
  const target = await receiver();
  const { id, secret } = (await me.post('/webhooks', { url: target.url })).body.data;
  const rotated = await me.post(`/webhooks/${id}/rotate-secret`);
  expect(rotated.body.data.secret).not.toBe(secret);
  const { delivery_id } = (await me.post(`/webhooks/${id}/test`)).body.data;
  await settled(me, delivery_id, 'delivered');
  const [call] = target.received;
  if (!call) throw new Error('nothing arrived');
  verify(secret, call);
  verify(rotated.body.data.secret, call);
});

test('when a secret is rotated again within the overlap, then the first one still signs', async () => {
  const me = await user();
  const target = await receiver();
  const { id, secret } = (await me.post('/webhooks', { url: target.url })).body.data;
  await me.post(`/webhooks/${id}/rotate-secret`); // Its response is lost.
  const fresh = (await me.post(`/webhooks/${id}/rotate-secret`)).body.data.secret;
  await settled(me, (await me.post(`/webhooks/${id}/test`)).body.data.delivery_id, 'delivered');

  const [call] = target.received;
  if (!call) throw new Error('nothing arrived');
  verify(secret, call);
  verify(fresh, call);
});

test('when an endpoint is disabled, then its deliveries are held; when it is enabled, then they arrive', async () => {
  const me = await user();
  let status = 500;
  const target = await receiver((_request, response) => answer(response, status));
  const { id } = (await me.post('/webhooks', { url: target.url })).body.data;
  const eventId = await announce(me.id, 'client.created', { name: 'Ada' });
  const delivery = await firstDelivery(me, id);
  expect((await me.patch(`/webhooks/${id}`, { enabled: false })).body.data).toMatchObject({
    enabled: false,
    disabled_reason: 'manual',
  });
  await settled(me, delivery.id, 'held');
  expect((await me.post(`/webhooks/${id}/test`)).status).toBe(409);
  expect((await me.post(`/deliveries/${delivery.id}/replay`)).status).toBe(409);
  expect((await me.get(`/webhooks/${id}/deliveries?status=held`)).body.pagination.total).toBe(1);
  status = 204;
  expect((await me.patch(`/webhooks/${id}`, { enabled: true })).body.data).toMatchObject({
    enabled: true,
    disabled_reason: null,
  });
  await settled(me, delivery.id, 'delivered');
  expect(target.received.at(-1)?.id).toBe(eventId);
});

test('when an endpoint is deleted, then its undelivered deliveries are dead and can still be read', async () => {
  const me = await user();
  const target = await receiver((_request, response) => answer(response, 500));
  const { id } = (await me.post('/webhooks', { url: target.url })).body.data;
  await announce(me.id, 'client.created', {});
  const delivery = await firstDelivery(me, id);
  await me.patch(`/webhooks/${id}`, { enabled: false });
  await settled(me, delivery.id, 'held');
  expect((await me.delete(`/webhooks/${id}`)).body).toEqual({ success: true, message: 'Webhook deleted' });
  await settled(me, delivery.id, 'dead');
  expect((await me.get(`/webhooks/${id}`)).status).toBe(404);
  expect((await me.post(`/deliveries/${delivery.id}/replay`)).status).toBe(404);
});

test('when a delivery, an event or everything since a time is replayed, then it is sent again with the same webhook-id', async () => {
  const me = await user();
  const target = await receiver();
  const before = new Date(Date.now() - 1_000).toISOString();
  const { id } = (await me.post('/webhooks', { url: target.url, events: ['client.*'] })).body.data;
  const eventId = await announce(me.id, 'client.created', {});
  const delivery = await firstDelivery(me, id);
  await settled(me, delivery.id, 'delivered');
  const times = (count: number) =>
    eventually(() => target.received.filter((call) => call.id === eventId).length === count);

  expect((await me.post(`/deliveries/${delivery.id}/replay`)).body.data).toMatchObject({ status: 'pending' });
  await times(2);
  await settled(me, delivery.id, 'delivered');
  expect((await me.post(`/events/${eventId}/replay`)).body.data).toEqual({ deliveries: 1 });
  await times(3);
  await settled(me, delivery.id, 'delivered');
  await announce(me.id, 'invoice.paid', {});
  const all = await me.post(`/webhooks/${id}/replay`, { since: before });
  expect(all.body.data).toEqual({ deliveries: 1, next_since: null });
  await times(4);
  await settled(me, delivery.id, 'delivered');
  const undelivered = await me.post(`/webhooks/${id}/replay`, { since: before, only: 'undelivered' });
  expect(undelivered.body.data).toEqual({ deliveries: 0, next_since: null });
  const later = await me.post(`/webhooks/${id}/replay`, { since: new Date(Date.now() + 60_000).toISOString() });
  expect(later.body.data.deliveries).toBe(0);
});

test('when a delivery waits for its next attempt, then a replay sends it at once, but not while it is leased', async () => {
  const me = await user();
  const target = await receiver();
  const { id } = (await me.post('/webhooks', { url: target.url, events: ['client.*'] })).body.data;
  const eventId = await announce(me.id, 'client.created', {});
  const delivery = await firstDelivery(me, id);
  await settled(me, delivery.id, 'delivered');
  const waiting = {
    status: 'pending',
    next_at: new Date(Date.now() + 3_600_000),
    due_at: new Date(Date.now() + 3_600_000),
  };
  const own = { _id: delivery.id, account_id: me.id };

  await Delivery.updateOne(own, { $set: waiting });
  const replay = { since: new Date(Date.now() - 60_000).toISOString(), only: 'undelivered' };
  expect((await me.post(`/webhooks/${id}/replay`, replay)).body.data.deliveries).toBe(1);
  await eventually(() => target.received.filter((call) => call.id === eventId).length === 2);
  await settled(me, delivery.id, 'delivered');

  await Delivery.updateOne(own, { $set: { ...waiting, lease_id: 'another', lease_until: waiting.next_at } });
  expect((await me.post(`/webhooks/${id}/replay`, replay)).body.data.deliveries).toBe(0);
});

test('when an endpoint was disabled after a replay, then the same Idempotency-Key gets the response of that replay', async () => {
  const me = await user();
  const target = await receiver();
  const { id } = (await me.post('/webhooks', { url: target.url })).body.data;
  await announce(me.id, 'client.created', {});
  const delivery = await firstDelivery(me, id);
  await settled(me, delivery.id, 'delivered');
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const all = () => me.post(`/webhooks/${id}/replay`, { since }, { 'Idempotency-Key': 'all' });
  const one = () => me.post(`/deliveries/${delivery.id}/replay`, undefined, { 'Idempotency-Key': 'one' });
  const responses = [await all(), await one()];
  expect(responses.map(({ status }) => status)).toEqual([200, 200]);
  await me.patch(`/webhooks/${id}`, { enabled: false });

  for (const [index, again] of [await all(), await one()].entries()) {
    expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([200, 'true']);
    expect(again.body).toEqual(responses[index]?.body);
  }
});

test('when an endpoint is registered late, then a replay since a time delivers the events that it missed', async () => {
  const me = await user();
  const ids = [await announce(me.id, 'client.created', {}), await announce(me.id, 'client.updated', {})];
  await eventually(async () => (await Event.countDocuments({ account_id: me.id, due_at: null })) === 2);
  const target = await receiver();
  const { id } = (await me.post('/webhooks', { url: target.url })).body.data;
  expect((await me.post(`/webhooks/${id}/replay`, { since: '2020-01-01' })).body.data.deliveries).toBe(2);
  await eventually(() => target.received.length === 2);
  expect(target.received.map((call) => call.id).toSorted()).toEqual(ids.toSorted());
});

test('when the feed is read page by page, then every event comes once, in order, without gaps', async () => {
  const me = await user();
  const ids: string[] = [];
  for (let index = 0; index < 7; index += 1)
    ids.push(await announce(me.id, index % 2 ? 'client.updated' : 'client.created', { index }));
  const seen = [];
  let after = 0;
  for (;;) {
    const { body } = await me.get(`/events?after=${after}&limit=3`);
    seen.push(...body.data);
    after = body.next_after;
    if (!body.has_more) break;
  }
  expect(seen.map(({ id }) => id)).toEqual(ids);
  expect(seen.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(seen[3]).toMatchObject({ type: 'client.updated', data: { index: 3 }, timestamp: expect.any(String) });
  expect((await me.get('/events?type=client.updated')).body.data).toHaveLength(3);
  expect((await me.get(`/events/${ids[0]}`)).body.data).toEqual(seen[0]);
  expect((await me.get('/events?after=7')).body).toEqual({
    data: [],
    pagination: { total: 0, limit: 50, offset: 0 },
    has_more: false,
    next_after: 7,
  });
  const page = await me.get('/events?after=2&limit=3');
  expect(page.body.pagination).toEqual({ total: 5, limit: 3, offset: 0 });
  expect(page.headers.get('Link')).toBe('</api/v1/events?after=5&limit=3>; rel="next"');
  // By offset, as other lists.
  const last = await me.get('/events?after=2&limit=3&offset=3');
  expect(last.body.data.map(({ sequence }: { sequence: number }) => sequence)).toEqual([6, 7]);
  expect(last.body).toMatchObject({ pagination: { total: 5, limit: 3, offset: 3 }, has_more: false, next_after: 7 });
  expect((await me.get('/events?after=-1')).status).toBe(400);
  expect((await me.get('/events?type=client.exploded')).status).toBe(400);
});

test('when the bodies of events are large, then a page of the feed ends early, and none is skipped or empty', async () => {
  const me = await user();
  const ids: string[] = [];
  const sizes = [...Array.from({ length: 24 }, () => 250_000), 3_000_000, 10];
  for (const size of sizes) ids.push(await announce(me.id, 'client.created', { notes: 'x'.repeat(size) }));
  const idsOf = ({ body }: Reply) => body.data.map(({ id }: { id: string }) => id);

  const first = await me.get('/events?limit=100');
  expect(idsOf(first)).toEqual(ids.slice(0, 9));
  expect(first.body).toMatchObject({ pagination: { total: 26, limit: 100 }, has_more: true, next_after: 9 });
  expect(first.headers.get('Link')).toBe('</api/v1/events?after=9&limit=100>; rel="next"');
  expect(idsOf(await me.get('/events?after=24&limit=100'))).toEqual([ids[24]]);
  const byOffset = await me.get('/events?limit=100&offset=9');
  expect(idsOf(byOffset)).toEqual(ids.slice(9, 18));
  expect(byOffset.headers.get('Link')).toBe('</api/v1/events?after=18&limit=100>; rel="next"');
  const seen: string[] = [];
  for (let page = first; ; page = await me.get(`/events?limit=100&after=${page.body.next_after}`)) {
    seen.push(...idsOf(page));
    if (!page.body.has_more) break;
  }
  expect(seen).toEqual(ids);
});

test('when a caller reads beyond the end of the feed, as after a restore, then 409 says where the feed ends', async () => {
  const me = await user();
  expect((await me.get('/events?after=1')).status).toBe(409);
  await announce(me.id, 'client.created', { index: 0 });
  expect((await me.get('/events?after=1')).status).toBe(200);
  for (const query of ['after=2', 'after=2&type=client.updated']) {
    const { status, body } = await me.get(`/events?${query}`);
    expect([status, body.error]).toEqual([409, 'The feed ends at sequence 1: read on from an earlier one']);
  }
});

test('when the types of events are listed, then each has a description and an example with the fields of its schema', async () => {
  const me = await user();
  const { body } = await me.get('/event-types');
  expect(body.data.map(({ type }: { type: string }) => type)).toEqual(
    expect.arrayContaining(['client.created', 'invoice.overdue', 'endpoint.disabled', 'ping']),
  );
  for (const { type, example, schema, description } of body.data) {
    expect(example).toMatchObject({ type, timestamp: expect.any(String) });
    expect(Object.keys(example.data).length).toBeGreaterThan(0);
    expect(Object.keys(schema.properties.data.properties)).toEqual(expect.arrayContaining(Object.keys(example.data)));
    expect(description).toMatch(/\.$/);
  }
});

test('when a body is as long as an event can be, then the signature check accepts it, too', async () => {
  const me = await user();
  const target = await receiver();
  await me.post('/webhooks', { url: target.url });
  await announce(me.id, 'invoice.created', {
    lines: Array.from({ length: 12_000 }, (_, index) => ({ description: index })),
  });
  await eventually(() => target.received.length === 1);
  const [call] = target.received;
  expect(call?.body.length).toBeGreaterThan(200_000);

  const { status, body } = await me.post('/webhooks/doctor', { headers: call?.headers, body: call?.body });
  expect([status, body.data?.valid]).toEqual([200, true]);
});

test('when the signature check gets far too many headers, then 400 with one problem', async () => {
  const me = await user();
  const headers = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`h${index}`, index]));
  const { status, body } = await me.post('/webhooks/doctor', { headers, body: 7 });

  expect([status, body.details]).toEqual([
    400,
    { headers: ['headers must have less than or equal to 100 keys'], body: ['body must be a string'] },
  ]);
});

test('when the signature check gets an unchanged call, then the call is valid; otherwise a finding names the failed check', async () => {
  const me = await user();
  const target = await receiver();
  const { id } = (await me.post('/webhooks', { url: target.url })).body.data;
  await settled(me, (await me.post(`/webhooks/${id}/test`)).body.data.delivery_id, 'delivered');
  const [call] = target.received;
  const ask = (body: object) => me.post('/webhooks/doctor', { headers: call?.headers, body: call?.body, ...body });
  const well = await ask({ webhook_id: id });
  expect(well.status).toBe(200);
  expect(well.body.data.valid).toBe(true);
  expect(well.body.data.findings.every(({ ok }: { ok: boolean }) => ok)).toBe(true);
  const rewritten = await ask({ body: JSON.stringify(JSON.parse(call?.body ?? ''), null, 2) });
  expect(rewritten.body.data).toMatchObject({ valid: false });
  expect(rewritten.body.data.findings.at(-1)).toMatchObject({
    check: 'body',
    ok: false,
    message: expect.stringContaining('parsed and written again'),
  });
  expect((await ask({ webhook_id: newId() })).status).toBe(404);
  const stranger = await user();
  const foreign = await stranger.post('/webhooks/doctor', { headers: call?.headers, body: call?.body });
  expect(foreign.body.data.valid).toBe(false);
  expect(JSON.stringify(foreign.body)).not.toContain(target.url);

  const lostKey = openSecretBox(Buffer.alloc(32, 1).toString('base64'));
  await WebhookEndpoint.updateOne({ _id: id, account_id: me.id }, { secret: lostKey.seal('whsec_unread') });
  const unread = await ask({ webhook_id: id });
  expect(unread.body.data).toMatchObject({ valid: false });
  expect(unread.body.data.findings.at(-1)).toMatchObject({
    check: 'secret',
    ok: false,
    message: expect.stringContaining('cannot be read any more'),
  });
});
