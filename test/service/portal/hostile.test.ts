// The developer's pages against other accounts, other sites, weaker keys and hostile texts.
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { WebhookEndpoint } from '#libs/models/webhooks/webhook-endpoint.ts';
import { DEVELOPER_FORMS, DEVELOPER_PAGES } from '../../../services/portal/developer/developer-routes.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type PortalBrowser, pathOf, startPortal, type TestPortal } from '../../support/portal.ts';
import { register, storedDelivery } from '../../support/webhooks.ts';

const HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>';
const FIELDS = { url: 'http://127.0.0.1:9/x', events: '*', seen: 'x' };

let gateway: TestGateway;
let portal: TestPortal;
let owner: PortalBrowser;
let link: string;
let endpointId: string;
let deliveryId: string;
let log = '';

beforeAll(async () => {
  gateway = await startGateway();
  const stream = new Writable({
    write(chunk, _encoding, done) {
      log += String(chunk);
      done();
    },
  });
  // The test sends more forms in a minute than a person does.
  const limits = { address: 10_000, link: 10_000, forms: 10_000 };
  portal = await startPortal(gateway.workspace, { log: pino({ level: 'trace' }, stream), developer: { limits } });
  const { id } = gateway.account;
  const { endpoint } = await register(gateway.workspace, id, 'http://127.0.0.1:9/hook');
  endpointId = endpoint.id;
  deliveryId = await storedDelivery(id, endpointId);
  link = await newLink(gateway.account.key);
  owner = await portal.open(link);
});
afterAll(async () => {
  await portal.close();
  await gateway.close();
});

async function newLink(key: string): Promise<string> {
  return (await gateway.post('/api/v1/webhooks/portal-link', undefined, { key })).body.data.url;
}

async function browserWith(scopes: string[]): Promise<PortalBrowser> {
  const { key } = (await gateway.post('/api/v1/keys', { name: 'x', scopes })).body.data;
  return portal.open(await newLink(key));
}

/** Fills the path with ids of the owner's account. */
const filled = (path: string) =>
  path.replace(':id', path.includes('/deliveries/') ? deliveryId : endpointId).replace(':type', 'client.created');

const stateOf = async () =>
  JSON.stringify(await WebhookEndpoint.find({ account_id: gateway.account.id }).sort({ _id: 1 }).lean());

const withId = (path: string) => path.includes(':id');
const pages = Object.keys(DEVELOPER_PAGES);
const forms = Object.keys(DEVELOPER_FORMS);

test('when the tables are read, then they have the pages and forms that the rules below go over', () => {
  expect(pages.filter(withId).length).toBeGreaterThan(1);
  expect(forms.filter(withId).length).toBeGreaterThan(5);
});

describe.each(pages)('GET %s', (path) => {
  test('when it is read in any way, then nothing is changed, and no site may frame, cache or index it', async () => {
    const before = await stateOf();

    const page = await owner.get(filled(path));
    const head = await fetch(portal.url + filled(path), { method: 'HEAD', headers: { Cookie: owner.cookie } });

    expect([page.status, head.status]).toEqual([200, 200]);
    expect(await stateOf()).toBe(before);
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'x-frame-options': 'DENY',
      'x-robots-tag': 'noindex, nofollow, noarchive',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    });
    expect(page.headers.get('content-security-policy')).not.toContain('script-src');
  });

  test('when there is no session, then the page is 401 and shows nothing', async () => {
    const { status, text } = await portal.browser().get(filled(path));
    expect([status, text.includes('127.0.0.1:9')]).toEqual([401, false]);
  });
});

describe.each([...pages, ...forms].filter(withId))('%s', (path) => {
  test('when another account names the id, then the answer is 404 and nothing is changed', async () => {
    const stranger = await portal.open(await newLink((await gateway.workspace.account()).key));
    const before = await stateOf();

    const isPage = pages.includes(path);
    const answer = isPage ? await stranger.get(filled(path)) : await stranger.post(filled(path), FIELDS);

    expect([answer.status, answer.text.includes('127.0.0.1:9/hook')]).toEqual([404, false]);
    expect(await stateOf()).toBe(before);
  });
});

describe.each([...forms, '/developer/leave'])('POST %s', (path) => {
  test.each([
    ['without the token of the session', { csrf: '' }, {}],
    ['from another site', {}, { Origin: 'https://evil.example' }],
    ['from a page without an origin', {}, { Origin: 'null' }],
    ['from another site, as the browser says', {}, { 'Sec-Fetch-Site': 'cross-site' }],
  ])('when it is sent %s, then it is 403 and nothing is changed', async (_how, token, headers) => {
    const before = await stateOf();

    const { status } = await owner.post(filled(path), { ...FIELDS, ...token }, headers as Record<string, string>);

    expect(status).toBe(403);
    expect(await stateOf()).toBe(before);
    expect((await owner.get('/developer')).status).toBe(200);
  });
});

test.each(forms)('when a key that only reads made the link, then %s is 403 and no page has the form', async (path) => {
  const reader = await browserWith(['webhooks:read']);
  const before = await stateOf();

  const { status, text } = await reader.post(filled(path), FIELDS);

  expect([status, text.includes('lacks the webhooks:write scope')]).toEqual([403, true]);
  expect(await stateOf()).toBe(before);
  const shown = await Promise.all(pages.map(async (page) => (await reader.get(filled(page))).text));
  expect(shown.join('')).not.toContain(`action="${filled(path)}"`);
});

test('when the key may not read events, then bodies are not shown', async () => {
  const path = `/developer/deliveries/${deliveryId}`;
  expect((await owner.get(path)).text).toContain('&quot;timestamp&quot;');
  const { text } = await (await browserWith(['webhooks:write'])).get(path);
  expect(text).toContain('lacks the events:read scope');
  expect(text).not.toContain('&quot;timestamp&quot;');
});

test('when stored and typed texts are markup, then pages show them as text', async () => {
  const answers = [
    await owner.post('/developer/endpoints', { url: HOSTILE, events: HOSTILE, description: HOSTILE }),
    await owner.post(`/developer/endpoints/${endpointId}/change`, {
      url: 'http://127.0.0.1:9/hook',
      events: '*',
      description: HOSTILE,
    }),
    await owner.get('/developer'),
    await owner.get(`/developer/endpoints/${endpointId}?event=${encodeURIComponent(HOSTILE)}&done=${HOSTILE}`),
    await owner.get(`/developer/events?q=${encodeURIComponent(HOSTILE)}`),
  ];
  expect(answers.map(({ status }) => status)).toEqual([400, 303, 200, 200, 200]);
  const text = answers.map((answer) => answer.text).join('');
  expect(text).toContain('&lt;script');
  expect(text).not.toMatch(/<script|<img|"\s+onerror/);
});

test('when links were opened and forms sent, then the log names the form and has no token', async () => {
  await owner.get(pathOf(link));
  const tokens = [link.split('/').at(-1), owner.cookie.split('=')[1]];

  expect(log).toContain('"form":"/developer/endpoints/:id/change"');
  expect(tokens.filter((token) => token && log.includes(token))).toEqual([]);
});

test('when one link sends too much, then it is 429 with a time to wait', async () => {
  const limits = { address: 1_000, link: 3, forms: 1 };
  const limited = await startPortal(gateway.workspace, { developer: { limits } });
  const browser = await limited.open(await newLink(gateway.account.key));

  const statuses: number[] = [];
  for (let each = 0; each < 4; each += 1) statuses.push((await browser.get('/developer/events')).status);
  const last = await browser.get('/developer/events');
  await limited.close();

  expect(statuses).toEqual([200, 200, 200, 429]);
  expect(last.headers.get('retry-after')).toBe('60');
});
