// The reference in a real browser, under its own policy: no request leaves the origin, on a phone and by night too.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page } from 'puppeteer-core';
import { isFull } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { create } from '../../support/records.ts';
import { openWatchedPage } from '../../support/watched-page.ts';

/** Pictures are kept where SCREENSHOTS says, for people to look at. */
const PICTURES = process.env['SCREENSHOTS'];
const WIDE = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844, isMobile: true, hasTouch: true };
const LIST_CLIENTS = '/docs#tag/clients/GET/api/v1/clients';

let gateway: TestGateway;
let chromium: Browser;
let page: Page;
let problems: string[];
let requests: string[] = [];

beforeAll(async () => {
  gateway = await startGateway();
  ({ chromium, page, problems } = await openWatchedPage(gateway.workspace.chromiumPath));
  page.on('request', (request) => requests.push(`${request.method()} ${request.url()}`));
});

afterAll(async () => {
  await chromium.close();
  await gateway.close();
});

async function open(path: string) {
  problems.length = 0;
  requests = [];
  await page.goto('about:blank');
  await page.goto(gateway.url + path, { waitUntil: 'networkidle0' });
}

/** Waits until the page has the text. */
async function waitForText(text: string) {
  await page.waitForFunction((wanted: string) => document.body.textContent.includes(wanted), {}, text);
}

async function keep(name: string) {
  if (!PICTURES) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`) as `${string}.png` });
}

const foreign = () =>
  requests.filter((request) => !request.includes(` ${gateway.url}/`) && !/ (?:data|blob|about):/.test(request));

const PAGES = [
  ['start', '/docs', 'Clients, projects, tasks'],
  ['operation', LIST_CLIENTS, 'Query Parameters'],
  ['guide', '/docs/guides/getting-paid', 'Bill time'],
] as const;

/** Opening a page takes two seconds of processor time. The short form opens each on both devices and in both schemes, the whole form in all four pairs. */
const LOOKS = [
  ['phone', 'light', PHONE, ['start', 'guide']],
  ['phone', 'dark', PHONE, ['operation']],
  ['desktop', 'light', WIDE, ['operation']],
  ['desktop', 'dark', WIDE, ['start', 'guide']],
] as const;

test.each(LOOKS)(
  'when the reference is opened on a %s in %s, then it is there, fits the width, and calls no other origin',
  async (device, scheme, viewport, short: readonly string[]) => {
    await page.setViewport(viewport);
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    for (const [name, path, text] of PAGES.filter(([page]) => isFull || short.includes(page))) {
      await open(path);
      await waitForText(text);
      await keep(`reference-${name}-${device}-${scheme}`);
      const { width, colour } = await page.evaluate(() => ({
        width: document.documentElement.scrollWidth,
        colour: getComputedStyle(document.querySelector('.bar') as Element).backgroundColor,
      }));
      const [red = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number);

      expect([name, width]).toEqual([name, viewport.width]);
      expect([name, colour, red < 60]).toEqual([name, colour, scheme === 'dark']);
      expect([name, foreign(), problems]).toEqual([name, [], []]);
    }
  },
);

test('when a key is typed in and a request is tried, then the gateway responds, and the key is not kept', async () => {
  await create(gateway, '/api/v1/clients', { name: 'Ada of the reference', email: 'ada@example.com' });
  await page.setViewport(WIDE);
  await open(LIST_CLIENTS);
  await page.waitForSelector('button ::-p-text((get /api/v1/clients))');
  await page.evaluate(() => {
    const buttons = [...document.querySelectorAll('button')];
    buttons.find((button) => button.textContent?.includes('(get /api/v1/clients)'))?.click();
  });
  await page.waitForSelector('[role=dialog] input[placeholder=Token]', { visible: true });
  await page.type('[role=dialog] input[placeholder=Token]', gateway.account.key);
  await page.keyboard.down('Control');
  await page.keyboard.press('Enter');
  await page.keyboard.up('Control');
  await waitForText('Ada of the reference');
  await keep('reference-tried');

  expect(requests.filter((request) => request.includes(` ${gateway.url}/api/`))).toEqual([
    `GET ${gateway.url}/api/v1/clients?limit=50&offset=0`,
  ]);
  expect([foreign(), problems]).toEqual([[], []]);
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  expect(kept).not.toContain(gateway.account.key);
});

test('when words are searched for, then the operation is found', async () => {
  await page.setViewport(WIDE);
  await open('/docs');
  await waitForText('Clients, projects, tasks');
  await page.keyboard.down('Control');
  await page.keyboard.press('k');
  await page.keyboard.up('Control');
  await page.waitForSelector('[role=dialog] input');
  await page.type('[role=dialog] input', 'credit note');
  await page.waitForFunction(() =>
    document.querySelector('[role=dialog]')?.textContent?.includes('/api/v1/credit-notes'),
  );

  expect([foreign(), problems]).toEqual([[], []]);
});

test('when samples in another language are chosen, then they are shown', async () => {
  const samples = { 'Node.js': 'fetch(', Python: 'requests.', Go: 'http.NewRequest', PHP: 'curl_init' };
  await page.setViewport(WIDE);
  await open('/docs');
  for (const [language, sample] of Object.entries(samples)) {
    await page.evaluate(() => location.assign('#'));
    await page.waitForSelector(`button ::-p-text(${language})`);
    await page.evaluate((name: string) => {
      const buttons = [...document.querySelectorAll('button')];
      buttons.find((button) => button.textContent?.trim() === name)?.click();
    }, language);
    await page.evaluate((hash: string) => location.assign(hash), LIST_CLIENTS.replace('/docs', ''));
    await waitForText(sample);
  }

  expect([foreign(), problems]).toEqual([[], []]);
});
