// The client's pages in a real browser: hostile texts in every field are shown as texts, in light, dark, on a phone and
// right to left, and only a person's look is reported.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import type { Browser, HTTPRequest, Page } from 'puppeteer-core';
import sharp from 'sharp';
import { dayIn } from '#libs/day.ts';
import { openReplies } from '#libs/jobs/replies.ts';
import { DocumentLink } from '#libs/models/portal/document-link.ts';
import { drawnSignature } from '#libs/rules/quotes/drawn-signature.ts';
import { openLogos } from '../../../services/portal/client/load-logo.ts';
import { accessFaults, overhanging, tabThrough } from '../../support/accessibility.ts';
import { chanceOf } from '../../support/chance.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { pathOf, startPortal, type TestPortal } from '../../support/portal.ts';
import { openReadyQueues } from '../../support/queues.ts';
import { create } from '../../support/records.ts';
import { type PictureHost, startPictureHost } from '../../support/renderer/picture-host.ts';
import { type SpawnedService, spawnService } from '../../support/spawn-service.ts';
import { openWatchedPage } from '../../support/watched-page.ts';
import { testLog } from '../../support/workspace.ts';

/** Pictures are kept where SCREENSHOTS says, for people to look at. */
const PICTURES = process.env['SCREENSHOTS'];
const WIDE = { width: 1280, height: 900 };
/** The narrowest width of WCAG 1.4.10, which is also that of a wide window enlarged four times. */
const PHONE = { width: 320, height: 640, isMobile: true, hasTouch: true };
/** It would run in a text, in an attribute of either quotes, in a style, in a script and as a link. */
const HOSTILE = `</style></title>'"><script>hit=1</script><img src=x onerror=hit=1><svg onload=hit=1></svg><a href="javascript:hit=1">`;
const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" width="420" height="110"><circle cx="55" cy="55" r="50" fill="#e4572e"/>
  <text x="130" y="72" font-size="44" fill="#222">Studio North</text></svg>`;
const LONG = 'x'.repeat(300);
/** The most bytes of a page with all that it loads, but for a logo. */
const PAGE_BYTES_MAX = 60_000;

let gateway: TestGateway;
let portal: TestPortal;
let renderer: SpawnedService;
let logos: PictureHost;
let closeQueues: () => Promise<void>;
let chromium: Browser;
let page: Page;
let problems: string[];
const foreign: string[] = [];
const paths: Record<string, string> = {};

beforeAll(async () => {
  gateway = await startGateway();
  const limits = { address: 10_000, link: 10_000, forms: 10_000 };
  const { workspace } = gateway;
  logos = await startPictureHost();
  renderer = await spawnService('renderer', workspace, { OUTBOUND_ALLOW: '127.0.0.1/32' });
  const queues = await openReadyQueues(workspace);
  const { redisUrl, redisPrefix: prefix } = workspace;
  const replies = openReplies({ redisUrl, prefix, redis: queues.redis, log: testLog });
  closeQueues = async () => {
    replies.close();
    await queues.close();
  };
  const loadLogo = openLogos({ queues, replies, log: testLog, deadlineMs: 60_000 });
  portal = await startPortal(workspace, { client: { limits, loadLogo } });
  ({ chromium, page, problems } = await openWatchedPage(gateway.workspace.chromiumPath));
  page.on('request', (request: HTTPRequest) => {
    if (!request.url().startsWith(portal.url) && !request.url().startsWith('data:')) foreign.push(request.url());
  });
  await fill();
});
afterAll(async () => {
  await chromium.close();
  await portal.close();
  await closeQueues();
  await renderer.stop();
  logos.close();
  await gateway.close();
});

async function link(kind: string, id: string, body: object = {}): Promise<string> {
  return pathOf((await create(gateway, `/api/v1/${kind}/${id}/links`, body)).url as string);
}

/** Stores documents with hostile texts wherever a caller can put one, and others as people write them. */
async function fill() {
  const bank = {
    type: 'bank_transfer',
    holder: HOSTILE.slice(0, 70),
    iban: 'DE89370400440532013000',
    bic: 'COBADEFFXXX',
  };
  const account = {
    company: HOSTILE,
    address: HOSTILE,
    legal_note: HOSTILE,
    logo_url: logos.address(),
    phone: HOSTILE.slice(0, 50),
    bank_details: HOSTILE,
  };
  await gateway.patch('/api/v1/account', { ...account, payment_options: [bank], email: 'studio@example.com' });
  const hostile = {
    name: HOSTILE,
    email: 'ada@example.com',
    company_name: HOSTILE,
    address: HOSTILE,
    buyer_reference: HOSTILE.slice(0, 60),
  };
  const client_id = (await create(gateway, '/api/v1/clients', hostile)).id;
  const texts = { description: HOSTILE, notes: HOSTILE, terms: HOSTILE, order_reference: HOSTILE.slice(0, 60) };
  const lines = [
    { description: HOSTILE, quantity: 1, rate: 10 },
    { description: LONG, quantity: 2.25, rate: 1_000_000, discount: 5 },
  ];
  const sold = { client_id, currency: 'EUR', line_items: lines, status: 'Sent', tax_rate: 19 };
  const hit = await create(gateway, '/api/v1/invoices', { ...sold, ...texts, due_date: '2031-01-01' });
  paths['hostile'] = await link('invoices', hit.id);
  paths['hostile-list'] = await link('clients', client_id);
  await gateway.post(`/api/v1/invoices/${hit.id}/payments`, { amount: 99_999.99, reference: LONG.slice(0, 200) });
  paths['hostile-statement'] = `${paths['hostile-list']}/statement`;
  const endless = (await create(gateway, '/api/v1/clients', { name: LONG, email: 'x@example.com' })).id;
  const named = { client_id: endless, currency: 'EUR', line_items: lines, status: 'Sent', due_date: '2031-01-01' };
  paths['long'] = await link(
    'invoices',
    (await create(gateway, '/api/v1/invoices', { ...named, description: LONG })).id,
  );
  paths['long-statement'] = `${await link('clients', endless)}/statement`;
  paths['long-time'] = `${await link('invoices', await timedInvoice(endless, LONG), { show_time: true })}/time`;

  await gateway.patch('/api/v1/account', {
    company: 'Studio North',
    address: 'Hauptstraße 1\n10115 Berlin',
    legal_note: 'Amtsgericht Berlin HRB 1234',
    phone: '+49 30 1234',
    bank_details: null,
    logo_url: null,
    brand_color: '#e4572e',
    locale: 'en-GB',
    payment_options: [{ ...bank, holder: 'Studio North GmbH' }],
  });
  const ada = await create(gateway, '/api/v1/clients', {
    name: 'Ada Lovelace',
    company_name: 'Analytical Engines',
    email: 'ada@example.com',
    address: '12 St James Square\nLondon',
  });
  const work = [
    {
      description: 'Design of the difference engine: drawings, models and two rounds of changes',
      quantity: 12.5,
      rate: 95,
      unit: 'HUR',
    },
    { description: 'Workshop', quantity: 1, rate: 850 },
  ];
  const invoice = {
    client_id: ada.id,
    currency: 'EUR',
    line_items: work,
    tax_rate: 19,
    status: 'Sent',
    due_date: '2031-01-01',
    notes: 'Thank you for working with us.',
    terms: 'Payable within thirty days.',
  };
  const issue = async (fields: object = {}) =>
    (await create(gateway, '/api/v1/invoices', { ...invoice, ...fields })).id as string;
  const part = await issue();
  await gateway.post(`/api/v1/invoices/${part}/payments`, { amount: 1_000 });
  const paid = await issue();
  await gateway.post(`/api/v1/invoices/${paid}/payments`, {});
  const timed = await timedInvoice(ada.id);
  paths['invoice'] = await link('invoices', await issue());
  const large = { currency: 'KWD', line_items: [{ description: 'Machine', quantity: 1, rate: 999_999_999.999 }] };
  const largest = await issue(large);
  await gateway.post(`/api/v1/invoices/${largest}/payments`, { amount: 0.001 });
  paths['large'] = await link('invoices', largest);
  paths['overdue'] = await link('invoices', await issue({ due_date: '2026-10-01', issue_date: undefined }));
  paths['part'] = await link('invoices', part);
  paths['paid'] = await link('invoices', paid);
  const address = { line1: 'Bahnhofstrasse 1', postal_code: '8001', city: 'Zürich', country: 'CH' };
  const ways = [
    { type: 'swiss_qr', holder: 'Studio North AG', iban: 'CH9300762011623852957', address },
    { type: 'link', label: 'Pay by card', url: 'https://pay.example/{number}?sum={amount}' },
  ];
  await gateway.patch('/api/v1/account', { payment_options: ways });
  paths['ways'] = await link('invoices', await issue({ currency: 'CHF' }));
  await gateway.patch('/api/v1/account', { payment_options: [{ ...bank, holder: 'Studio North GmbH' }] });
  paths['time'] = `${await link('invoices', timed, { show_time: true })}/time`;
  paths['quote'] = await link(
    'quotes',
    (
      await create(gateway, '/api/v1/quotes', {
        amount: 2_037.5,
        client_id: ada.id,
        currency: 'EUR',
        line_items: work,
        status: 'Sent',
      })
    ).id,
  );
  const answered = async (status: string, change?: object) => {
    const quote = { amount: 850, client_id: ada.id, currency: 'EUR', status: 'Sent' };
    const { id } = await create(gateway, '/api/v1/quotes', quote);
    await gateway.patch(`/api/v1/quotes/${id}`, { status });
    if (change) await gateway.patch(`/api/v1/quotes/${id}`, change);
    return link('quotes', id);
  };
  paths['accepted'] = await answered('Accepted');
  paths['changed'] = await answered('Accepted', { notes: 'Without the workshop' });
  paths['declined'] = await answered('Declined');
  const said = await link('invoices', await issue());
  const csrf = /name="csrf" value="([^"]+)"/.exec((await portal.browser().get(said)).text)?.[1] ?? '';
  await portal.browser().post(`${said}/ask`, { csrf, text: 'Which drawings are these?' });
  await portal.browser().post(`${said}/promise`, { csrf, day: dayIn('UTC', new Date(Date.now() + 7 * 86_400_000)) });
  paths['said'] = said;
  paths['list'] = await link('clients', ada.id);
  paths['arabic-statement'] = `${paths['list']}/statement`;
  paths['expired'] = await link('invoices', part, { expires_at: '2040-01-01T00:00:00Z' });
  await DocumentLink.updateMany(
    { account_id: gateway.account.id, expires_at: { $exists: true } },
    { expires_at: new Date() },
  );
  const logo = await sharp(Buffer.from(LOGO)).png().toBuffer();
  const there = logos.address();
  logos.answer = ({ url }, response) =>
    there.endsWith(String(url)) ? response.end(logo) : response.writeHead(404).end();
  const addresses = { logo: there, 'logo-away': logos.address(), 'logo-private': 'http://10.0.0.1/logo.png' };
  for (const [name, logo_url] of Object.entries(addresses)) {
    await gateway.patch('/api/v1/account', { logo_url });
    paths[name] = await link('invoices', await issue());
  }
  await gateway.patch('/api/v1/account', { logo_url: null });
  await gateway.patch('/api/v1/account', { locale: 'ar-AE', company: 'استوديو الشمال' });
  paths['arabic'] = await link('invoices', await issue({ notes: 'شكرًا لتعاونكم معنا.' }));
}

async function timedInvoice(client_id: string, name = 'Engine'): Promise<string> {
  const { id: project_id } = await create(gateway, '/api/v1/projects', { name, client_id, hourly_rate: 95 });
  for (const date of ['2026-11-02', '2026-11-03'])
    await create(gateway, '/api/v1/time-entries', {
      project_id,
      hours: 1.25,
      date,
      description: `Drawings, ${HOSTILE}`,
    });
  const invoice = await create(gateway, '/api/v1/invoices/from-time', { client_id });
  await gateway.patch(`/api/v1/invoices/${invoice.id}`, { status: 'Sent' });
  return invoice.id;
}

async function picture(name: string) {
  if (!PICTURES) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
}

/** Finds the words and numbers of sums that a line break divides: half a number is read as another one. */
const BROKEN_WORDS = `[...document.querySelectorAll('.sum, .totals dt, .totals dd')].flatMap((one) => {
  const walker = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const node = walker.currentNode;
    for (const { 0: word, index } of node.data.matchAll(/[^\\s·]+/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      if (new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom))).size > 1) found.push(word);
    }
  }
  return found;
})`;

const text = async () => String(await page.evaluate("document.querySelector('body').innerText"));

describe('looks', () => {
  const schemes = [
    { look: 'wide', viewport: WIDE, scheme: 'light' },
    { look: 'phone-dark', viewport: PHONE, scheme: 'dark' },
    ...(PICTURES
      ? [
          { look: 'dark', viewport: WIDE, scheme: 'dark' },
          { look: 'phone', viewport: PHONE, scheme: 'light' },
        ]
      : []),
  ];
  const shows: Record<string, RegExp> = {
    hostile: /<script>hit=1[\s\S]*xxxx/,
    // The list and the statement are in the language of the account.
    'hostile-statement': /كشف حساب[\s\S]*<script>hit=1[\s\S]*xxxx/,
    'arabic-statement': /كشف حساب[\s\S]*الرصيد الختامي/,
    'hostile-list': /المستندات المفتوحة/,
    long: /xxxx/,
    'long-statement': /xxxx/,
    'long-time': /xxxx/,
    invoice: /Amount due[\s\S]*€2,424\.63|Amount due/,
    large: /KWD\s1,189,999,999\.998/,
    overdue: /Overdue/,
    part: /Partly paid/,
    paid: /Paid/,
    ways: /CH93 0076[\s\S]*RF[\s\S]*Pay by card/,
    time: /Drawings, <\/style>/,
    quote: /Quote/,
    accepted: /Accepted/,
    changed: /An earlier version of this quote was accepted/,
    declined: /Declined/,
    said: /Which drawings are these/,
    list: /المستندات المفتوحة/,
    logo: /Amount due/,
    'logo-away': /Amount due/,
    expired: /This link has expired/,
    arabic: /المبلغ المستحق/,
  };
  const all = schemes.flatMap((scheme) => Object.entries(shows).map(([name, shown]) => ({ ...scheme, name, shown })));

  test.each(all)(
    'when $name is shown ($look), then no text of others runs, and nothing overflows its width',
    async (one) => {
      await page.setViewport(one.viewport);
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: one.scheme }]);
      const path = paths[one.name] as string;
      await page.goto(portal.url + path);
      await page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true");
      await picture(`${one.name}-${one.look}`);

      expect(await text()).toMatch(one.shown);
      expect(await page.evaluate('typeof hit')).toBe('undefined');
      const unwanted = 'svg[onload], a[href^="javascript:"], [onerror], script[src], iframe';
      expect(await page.evaluate(`document.querySelectorAll('${unwanted}').length`)).toBe(0);
      expect(await overhanging(page)).toEqual([]);
      expect(await accessFaults(page)).toEqual([]);
      const bytes = 'performance.getEntries().reduce((sum, { encodedBodySize = 0 }) => sum + encodedBodySize, 0)';
      expect(await page.evaluate(bytes)).toBeLessThan(PAGE_BYTES_MAX);
      // Fields have names, headings do not skip a level, and what can be pressed is large enough for a finger.
      const faults = await page.evaluate(`[
      ...[...document.querySelectorAll('input:not([type=hidden]), textarea, select')].filter((one) => !one.labels.length),
      ...[...document.querySelectorAll('main button, .button')].filter((one) => one.getBoundingClientRect().height < 44),
      ...(document.querySelectorAll('h1').length === 1 ? [] : [document.body]),
    ].map((one) => one.outerHTML.slice(0, 200))`);
      expect(faults).toEqual([]);
      expect(await page.evaluate(BROKEN_WORDS)).toEqual([]);
    },
  );
});

test.each([
  ['logo', 224],
  ['logo-away', 0],
  ['logo-private', 0],
])(
  'when the issuer has a logo behind an address (%s), then it is shown, or its name where it cannot be',
  async (name, width) => {
    await page.setViewport(WIDE);
    // A renderer waits five seconds for a logo, which a busy machine may need, and asks for it again after a minute.
    await eventually(async () => {
      await page.goto(portal.url + paths[name]);
      const image = await page.evaluate(`(({ alt, complete, naturalWidth, width }) => ({
        alt, complete, naturalWidth, isWhole: naturalWidth === 0 || width === naturalWidth
      }))(document.querySelector('.issuer img'))`);
      expect(image).toEqual({ alt: 'Studio North', complete: true, naturalWidth: width, isWhole: true });
      return true;
    }, 150_000);
    // The name covers the browser's mark of a broken image.
    const text = `getComputedStyle(document.querySelector('.issuer img'), '::after').content`;
    expect(await page.evaluate(text)).toMatch(/Studio North/);
  },
);

test('when a person has only a keyboard, then the Tab key leads through the page in its order, and each stop can be seen', async () => {
  await page.setViewport(PHONE);
  await page.goto(portal.url + paths['quote']);
  const { stops, unseen } = await tabThrough(page);
  expect(unseen).toEqual([]);
  expect(stops).toEqual([
    'a Download PDF',
    'input Your full name',
    'input Your order number (optional)',
    'button Clear',
    'input I accept QUO-0001 over €2,037.50 and agree to its terms.',
    'button Accept with obligation to pay',
    'summary Decline',
    'summary Ask a question',
    'a Questions? Write to \u2068studio@example.com\u2069.',
  ]);
});

test('when a client clicks on the field of the signature, or draws a lot, then the picture shows it and can be sent', async () => {
  await page.setViewport(WIDE);
  await page.goto(portal.url + paths['quote']);
  const field = await page.waitForSelector('canvas');
  await field?.scrollIntoView();
  const { x = 0, y = 0, width = 0, height = 0 } = (await field?.boundingBox()) ?? {};
  const drawn = async () => {
    const url = String(await page.evaluate('document.querySelector("[name=drawn]").value'));
    return Buffer.from(url.split(',')[1] ?? '', 'base64');
  };

  await page.mouse.click(x + width / 2, y + height / 2);
  const { channels } = await sharp(await drawn()).stats();
  expect(channels.at(-1)?.max).toBe(255);

  await page.mouse.move(x + 20, y + 20);
  await page.mouse.down();
  const place = chanceOf(7, 'strokes').next;
  for (let stroke = 0; stroke < 300; stroke += 1) await page.mouse.move(x + width * place(), y + height * place());
  await page.mouse.up();
  expect(drawnSignature(await drawn())).toBeDefined();

  // Shown again with a mistake, the form has the whole picture.
  await page.evaluate('document.querySelector(\'form[action$="/accept"]\').noValidate = true');
  await Promise.all([page.waitForNavigation(), page.click('form[action$="/accept"] button.main')]);
  problems.splice(0);
  const isDrawn = (side: number) =>
    page.evaluate(
      `document.querySelector('canvas').getContext('2d').getImageData(${side}, 0, 100, 270).data.some(Boolean)`,
    );
  await eventually(async () => (await isDrawn(0)) && (await isDrawn(800)));
});

test.each(['quote', 'invoice', 'list', 'time'])(
  'when the page of the %s is printed, then nothing is on it that is only for the screen',
  async (name) => {
    await page.setViewport(WIDE);
    await page.goto(portal.url + paths[name]);
    await page.emulateMediaType('print');
    const shown =
      await page.evaluate(`[...document.querySelectorAll('form, summary, nav, a:not([href^="mailto:"]):not(.list a):not(.way a)')]
      .filter((one) => one.getClientRects().length > 0).map((one) => one.textContent.trim())`);
    const cards = await page.evaluate(`[...document.querySelectorAll('.card')]
      .filter((one) => one.getClientRects().length > 0 && one.innerText.trim().split('\\n').length === 1).map((one) => one.innerText)`);
    await page.emulateMediaType('screen');

    expect([shown, cards]).toEqual([[], []]);
  },
);

test("when a person looks for three seconds, then the visit is reported; an owner's look is not", async () => {
  const visits = async () => (await DocumentLink.find({ account_id: gateway.account.id, opens: 1 }).lean()).length;
  await page.setViewport(WIDE);
  await page.goto(`${portal.url}${paths['paid']}?preview=1`);
  expect(await page.evaluate("document.querySelectorAll('script').length")).toBe(0);
  const before = await visits();
  // A busy machine may take three seconds to load the page: the script's own wait is read instead of a clock.
  const { identifier } = await page.evaluateOnNewDocument(
    'const { setTimeout: begin } = window; window.waits = []; window.setTimeout = (work, ms) => (waits.push(ms), begin(work, ms));',
  );
  await page.goto(portal.url + paths['paid']);
  await page.removeScriptToEvaluateOnNewDocument(identifier);
  expect(await page.evaluate('waits')).toEqual([3_000]);
  await eventually(async () => (await visits()) === before + 1);
});

test.each(['invoice', 'quote'])(
  'when a program with a browser sends every form of the page of the %s by script, then at most the visit is noted',
  async (name) => {
    const records = async () => {
      const found = ['invoices', 'quotes', 'messages', 'payments', 'quote_evidence', 'promises', 'questions'].map(
        (each) => mongoose.connection.collection(each).find({}).sort({ _id: 1 }).toArray(),
      );
      return JSON.stringify(await Promise.all(found));
    };
    const url = portal.url + paths[name];
    const before = await records();
    await page.goto(url);
    const forms = Number(await page.evaluate('document.forms.length'));
    expect(forms).toBeGreaterThanOrEqual(2);
    for (let index = 0; index < forms; index += 1) {
      await page.goto(url);
      // It passes over what the browser itself would ask for.
      const [answer] = await Promise.all([
        page.waitForNavigation(),
        page.evaluate(`document.forms[${index}].submit()`),
      ]);
      expect(answer?.status()).toBe(422);
    }
    expect(await records()).toBe(before);
  },
);

test('when all pages were shown, then the browser reported no error, and asked no other host', () => {
  // A logo that is not there, the page of an expired link, and a form that is shown again.
  expect(problems.filter((problem) => !/status of 4(04|10|22)/.test(problem))).toEqual([]);
  expect(foreign).toEqual([]);
});
