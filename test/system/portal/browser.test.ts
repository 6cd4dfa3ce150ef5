// The developer's pages in a real browser: hostile texts in every field are shown as texts, in light, dark and on a phone.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'puppeteer-core';
import { Account } from '#libs/models/accounts/account.ts';
import { Delivery } from '#libs/models/webhooks/delivery.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { WebhookEndpoint } from '#libs/models/webhooks/webhook-endpoint.ts';
import { accessFaults, overhanging, tabThrough } from '../../support/accessibility.ts';
import { addDelivery, addEndpoint } from '../../support/dashboard/records.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { pathOf, startPortal, type TestPortal } from '../../support/portal.ts';
import { openWatchedPage } from '../../support/watched-page.ts';

/** Pictures are kept where SCREENSHOTS says, for people to look at. */
const PICTURES = process.env['SCREENSHOTS'];
const WIDE = { width: 1280, height: 900 };
/** The narrowest width of WCAG 1.4.10, which is also that of a wide window enlarged four times. */
const PHONE = { width: 320, height: 640, isMobile: true, hasTouch: true };
/** It would run in a text, in an attribute of either quotes, in a style, in a script and as a link. */
const HOSTILE = `</pre></title>'"><script>hit=1</script><img src=x onerror=hit=1><svg onload=hit=1></svg><a href="javascript:hit=1">`;

const LONG = 'x'.repeat(200);

let gateway: TestGateway;
let portal: TestPortal;
let chromium: Browser;
let page: Page;
let problems: string[];
let link: string;
let endpointId: string;
let deliveryId: string;

beforeAll(async () => {
  gateway = await startGateway();
  portal = await startPortal(gateway.workspace);
  ({ chromium, page, problems } = await openWatchedPage(gateway.workspace.chromiumPath));
  await fill();
});
afterAll(async () => {
  await chromium.close();
  await portal.close();
  await gateway.close();
});

/** Stores an endpoint and its deliveries with hostile texts wherever a caller or a receiver can put one. */
async function fill() {
  const { id: accountId, key } = gateway.account;
  await Account.updateOne({ _id: accountId }, { name: HOSTILE });
  const url = `https://receiver.example.net/hooks?x=${encodeURIComponent(HOSTILE)}`;
  endpointId = await addEndpoint(accountId, { url, failures: 12, failingMinutes: 60, lastStatus: 503 });
  await WebhookEndpoint.updateOne({ _id: endpointId, account_id: accountId }, { description: HOSTILE + LONG });
  await gateway.post('/api/v1/clients', { name: HOSTILE, email: 'ada@example.com' });
  const event = await Event.findOne({ account_id: accountId, type: 'client.created' }).sort({ sequence: -1 }).lean();
  const head = [{ name: 'x-odd', value: HOSTILE }];
  const last = { errorClass: 'status', responseStatus: 500, head };
  for (let each = 0; each < 12; each += 1) {
    const fields = { accountId, endpointId, eventType: 'client.created', minutesAgo: 10 + each, last } as const;
    deliveryId = await addDelivery({ ...fields, status: each % 3 === 0 ? 'pending' : 'dead' });
  }
  await Delivery.updateOne({ _id: deliveryId, account_id: accountId }, { event_id: event?._id });
  link = (await gateway.post('/api/v1/webhooks/portal-link', undefined, { key })).body.data.url;
}

async function picture(name: string) {
  if (!PICTURES) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
}

const text = async () => String(await page.evaluate("document.querySelector('body').innerText"));

test('when a person opens the link and presses its button, then the endpoints are shown, at an address without the token', async () => {
  await page.setViewport(PHONE);
  await page.goto(portal.url + pathOf(link));
  await picture('open');
  expect(await text()).toMatch(/Open/);
  await Promise.all([page.waitForNavigation(), page.click('main button')]);

  expect(page.url()).toBe(`${portal.url}/developer`);
  expect(await text()).toContain('receiver.example.net');
});

describe('looks', () => {
  /** The looks with all colours and widths between them. */
  const CHECKED = new Set(['light', 'phone-dark']);
  const schemes = [
    { look: 'light', viewport: WIDE, scheme: 'light' },
    { look: 'dark', viewport: WIDE, scheme: 'dark' },
    { look: 'phone', viewport: PHONE, scheme: 'light' },
    { look: 'phone-dark', viewport: PHONE, scheme: 'dark' },
  ];
  const pages: [name: string, path: () => string, shows: RegExp][] = [
    ['endpoints', () => '/developer', /receiver\.example\.net/],
    ['endpoint', () => `/developer/endpoints/${endpointId}`, /client\.created/],
    ['delivery', () => `/developer/deliveries/${deliveryId}`, /x-odd[\s\S]*<script>hit=1/],
    ['event-types', () => '/developer/events', /invoice\.paid/],
    ['event-type', () => '/developer/events/client.created', /email/],
    ['nothing', () => `/developer/endpoints/${encodeURIComponent(HOSTILE)}`, /not found|no such|does not exist/i],
  ];
  const all = schemes.flatMap((scheme) => pages.map(([name, path, shows]) => ({ ...scheme, name, path, shows })));

  test.each(all)(
    'when $name is shown ($look), then no text of others runs, and nothing overflows its width',
    async (one) => {
      await page.setViewport(one.viewport);
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: one.scheme }]);
      await page.goto(portal.url + one.path());
      // Hidden parts must fit the page, too.
      await page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true");
      await picture(`${one.name}-${one.look}`);

      expect(await text()).toMatch(one.shows);
      if (one.name !== 'nothing') {
        // However long the name of the account is, the sections can be reached.
        const nav = await page.$eval('nav[aria-label="Sections"]', ({ clientWidth, scrollWidth }) => [
          clientWidth,
          scrollWidth,
        ]);
        expect(nav[0]).toBe(nav[1]);
      }
      expect(await page.evaluate('typeof hit')).toBe('undefined');
      const foreign = 'script, img, svg[onload], a[href^="javascript:"], [onerror]';
      expect(await page.evaluate(`document.querySelectorAll('${foreign}').length`)).toBe(0);
      expect(await overhanging(page)).toEqual([]);
      if (CHECKED.has(one.look)) expect(await accessFaults(page)).toEqual([]);
    },
  );
});

test('when a person has only a keyboard, then the Tab key leads through the page in its order, and each stop can be seen', async () => {
  await page.setViewport(WIDE);
  await page.goto(`${portal.url}/developer/events`);
  const { stops, unseen } = await tabThrough(page);
  expect(unseen).toEqual([]);
  expect(stops.slice(0, 6)).toEqual([
    'a Skip to the content',
    expect.stringContaining('a </pre>'),
    'a Endpoints',
    'a Event types',
    'button Leave',
    'input Type or word',
  ]);
});

test('when all pages were shown, then the browser reported no error but the page that is not there', () => {
  expect(problems.filter((problem) => !problem.includes('404'))).toEqual([]);
});
