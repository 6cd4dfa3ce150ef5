// The page of an account's developer: a link opens it, and everything about webhooks is done on it without script.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Event } from '#libs/models/webhooks/event.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type PortalBrowser, pathOf, startPortal, type TestPortal } from '../../support/portal.ts';
import { type Receiver, startReceiver, verify } from '../../support/receiver.ts';
import { type RunningService, startWebhookService } from '../../support/webhooks.ts';

let gateway: TestGateway;
let portal: TestPortal;
let webhooks: RunningService;
let receiver: Receiver;

beforeAll(async () => {
  gateway = await startGateway();
  [portal, webhooks, receiver] = await Promise.all([
    startPortal(gateway.workspace),
    startWebhookService(gateway.workspace),
    startReceiver(),
  ]);
});
afterAll(async () => {
  await portal.close();
  await webhooks.stop();
  await receiver.close();
  await gateway.close();
});

async function newLink(key = gateway.account.key): Promise<{ id: string; url: string; expires_at: string }> {
  const reply = await gateway.post('/api/v1/webhooks/portal-link', undefined, { key });
  expect(reply.status).toBe(201);
  return reply.body.data;
}

/** Sends a form, and returns the page that it redirects to. */
async function submit(browser: PortalBrowser, path: string, fields?: Record<string, string>) {
  const answer = await browser.post(path, fields);
  expect([path, answer.status]).toEqual([path, 303]);
  return browser.get(String(answer.headers.get('location')));
}

const idIn = (text: string, kind: 'endpoints' | 'deliveries') =>
  new RegExp(`/developer/${kind}/([0-9a-f-]{36})`).exec(text)?.[1] ?? '';
const secretIn = (text: string) => /whsec_[\w+/=]+/.exec(text)?.[0] ?? '';

test('when a link is opened, then an endpoint can be added, pinged, replayed, rotated, changed, disabled and deleted', async () => {
  const link = await newLink();
  const start = await portal.browser().get(pathOf(link.url));
  expect([start.status, start.text]).toEqual([200, expect.stringContaining('>Open</button>')]);
  const browser = await portal.open(link.url);
  expect((await browser.get('/developer')).text).toContain('No endpoint yet');

  const added = await browser.post('/developer/endpoints', { url: receiver.url, events: 'client.*, ping' });
  expect(added.status).toBe(200);
  const [id, first] = [idIn(added.text, 'endpoints'), secretIn(added.text)];
  const path = `/developer/endpoints/${id}`;
  expect((await browser.get('/developer')).text).toContain(receiver.url);

  expect((await submit(browser, `${path}/ping`)).text).toContain('A ping is on its way');
  const ping = await eventually(() => receiver.received[0]);
  expect(verify(first, ping)).toMatchObject({ type: 'ping', data: { webhook_id: id } });
  const page = await eventually(async () => {
    const { text } = await browser.get(`${path}?event=ping&status=delivered`);
    return text.includes('>204</span>') && text;
  });
  const deliveryPath = `/developer/deliveries/${idIn(page, 'deliveries')}`;
  const delivery = await browser.get(deliveryPath);
  expect(delivery.text).toContain('The receiver took it.');
  expect(delivery.text).toContain('If you can read this and verify its signature');
  // The event names the link that caused it.
  expect(await Event.findOne({ account_id: gateway.account.id, type: 'ping' }).lean()).toMatchObject({
    request_id: link.id,
  });

  expect((await submit(browser, `${deliveryPath}/replay`)).text).toContain('is sent again');
  await eventually(() => receiver.received.length === 2);
  expect(receiver.received[1]?.id).toBe(ping.id);

  const [, seen = ''] = /name="seen" value="([^"]+)"/.exec((await browser.get(path)).text) ?? [];
  const rotated = await browser.post(`${path}/rotate-secret`, { seen });
  const second = secretIn(rotated.text);
  expect([rotated.status, second.length, second === first]).toEqual([200, first.length, false]);
  // The page was reloaded: the secret that it shows stays.
  expect((await browser.post(`${path}/rotate-secret`, { seen })).status).toBe(409);
  await submit(browser, `${path}/ping`);
  const signed = await eventually(() => receiver.received[2]);
  expect(verify(second, signed)).toMatchObject({ type: 'ping' });

  const changed = await submit(browser, `${path}/change`, { url: receiver.url, events: '*', description: 'Staging' });
  expect(changed.text).toContain('Staging');
  const disabled = await submit(browser, `${path}/disable`);
  expect(disabled.text).toContain('Its deliveries are held until you enable it');
  expect((await browser.post(`${path}/ping`)).text).toContain('The webhook is disabled, enable it first');
  await submit(browser, `${path}/enable`);
  // The address of the former message was kept.
  expect((await browser.get(`${path}?done=disabled`)).text).not.toContain('The endpoint is disabled');
  expect((await browser.get(`${path}?done=enabled`)).text).toContain('The endpoint is enabled');
  expect((await gateway.get(`/api/v1/webhooks/${id}`)).body.data).toMatchObject({
    enabled: true,
    events: ['*'],
    description: 'Staging',
  });
  await submit(browser, `${path}/delete`);
  expect((await gateway.get(`/api/v1/webhooks/${id}`)).status).toBe(404);
});

test('when the form of a new endpoint is sent again, by a reload or a second click, then no second one is added', async () => {
  const browser = await portal.open((await newLink()).url);
  const seenIn = (text: string) => /name="seen" value(?:="([^"]*)")?/.exec(text)?.[1] ?? '';
  const fields = { url: receiver.url, events: 'client.created', description: 'once' };
  const seen = seenIn((await browser.get('/developer')).text);
  const added = await browser.post('/developer/endpoints', { ...fields, seen });
  const id = idIn(added.text, 'endpoints');

  const again = await browser.post('/developer/endpoints', { ...fields, seen });

  expect([added.status, again.status]).toEqual([200, 409]);
  expect(again.text).toContain('nothing was done');
  expect(again.text).toContain('value="once"');
  expect(seenIn(again.text)).toBe(id);
  expect((await gateway.get('/api/v1/webhooks')).body.data).toHaveLength(1);
  // Two clicks at once are one endpoint as well.
  await submit(browser, `/developer/endpoints/${id}/delete`);
  const clicks = await Promise.all([1, 2].map(() => browser.post('/developer/endpoints', { ...fields, seen: '' })));
  expect(clicks.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  const [{ id: left } = { id: '' }] = (await gateway.get('/api/v1/webhooks')).body.data;
  await submit(browser, `/developer/endpoints/${left}/delete`);
});

/** The names of the fields that a screen reader announces as wrong, with the problem. */
function wrongFieldsIn(text: string): string[] {
  return [...text.matchAll(/name="(\w+)"[^>]* aria-invalid="true" aria-describedby="problem"/g)].map(
    ([, name = '']) => name,
  );
}

test('when a form has mistakes, then it is shown again with all of them and with what was typed', async () => {
  const browser = await portal.open((await newLink()).url);
  const fields = { url: 'http://10.0.0.1/hook', events: 'client.created nothing.here', description: 'mine' };

  const answer = await browser.post('/developer/endpoints', { ...fields, url: 'no url' });

  expect(answer.status).toBe(400);
  expect(answer.text).toContain('is no event type');
  expect(answer.text).toContain('value="mine"');
  expect(wrongFieldsIn(answer.text)).toEqual(['url', 'events']);
  const refused = await browser.post('/developer/endpoints', { ...fields, events: '*' });
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('(address)')]);
  expect((await gateway.get('/api/v1/webhooks')).body.data).toEqual([]);
});

test('when an event type is looked for, then its example and its schema are the ones of the API', async () => {
  const browser = await portal.open((await newLink()).url);

  const list = await browser.get('/developer/events?q=PAID');
  expect(list.text).toContain('href="/developer/events/invoice.paid"');
  expect(list.text).not.toContain('client.created');
  const { text } = await browser.get('/developer/events/invoice.paid');

  const catalogue: { type: string; schema: object; example: object }[] = (await gateway.get('/api/v1/event-types')).body
    .data;
  const entry = catalogue.find(({ type }) => type === 'invoice.paid');
  const shown = [...text.matchAll(/<pre[^>]*>([^<]*)<\/pre>/g)].map(([, json = '']) =>
    JSON.parse(json.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&')),
  );
  expect(shown).toEqual([entry?.example, entry?.schema]);
  expect((await browser.get('/developer/events/nothing.here')).status).toBe(404);
});

describe('the end', () => {
  test('when the developer leaves, then the session is over and the link still opens', async () => {
    const { url } = await newLink();
    const browser = await portal.open(url);
    const { cookie } = browser;

    expect((await browser.post('/developer/leave')).text).toContain('You have left');

    expect(browser.cookie).toBe('');
    expect((await portal.browser().get('/developer', { Cookie: cookie })).status).toBe(401);
    await portal.open(url);
  });

  test('when the key is revoked, then the page and the link end at once', async () => {
    const { key, id } = (await gateway.post('/api/v1/keys', { name: 'x', scopes: ['webhooks:write'] })).body.data;
    const { url } = await newLink(key);
    const browser = await portal.open(url);
    expect((await browser.get('/developer')).status).toBe(200);

    await gateway.delete(`/api/v1/keys/${id}`);

    const after = await browser.get('/developer');
    expect([after.status, after.text]).toEqual([401, expect.stringContaining('no longer open to you')]);
    expect(after.text).not.toContain('<nav');
    const open = [await portal.browser().get(pathOf(url)), await portal.browser().post(pathOf(url))];
    expect(open.map(({ status }) => status)).toEqual([404, 404]);
  });
});
