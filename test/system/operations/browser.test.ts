// The dashboard in a real browser: every page in light, dark and on a phone, by mouse and by keyboard, under its own security policy.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'puppeteer-core';
import { catalog, deliverWebhook, fanOutEvent, renderDocument } from '#libs/jobs/catalog.ts';
import { pauseQueue, resumeQueue } from '#libs/jobs/control.ts';
import { type RunningWorker, startWorker } from '#libs/jobs/worker.ts';
import { Account } from '#libs/models/accounts/account.ts';
import { RECIPIENT_STATES, type Recipient } from '#libs/models/messages/message.ts';
import { audit } from '#libs/models/operations/audit-entry.ts';
import { insertOperator } from '#libs/models/operations/operator.ts';
import { accessFaults, overhanging, tabThrough } from '../../support/accessibility.ts';
import { PASSWORD, startDashboard, type TestDashboard } from '../../support/dashboard/dashboard.ts';
import { addFailedJobs } from '../../support/dashboard/failed-jobs.ts';
import { addDelivery, addEndpoint, addRender, addRequests, addSamples } from '../../support/dashboard/records.ts';
import { eventually } from '../../support/eventually.ts';
import { insertMessage } from '../../support/messages.ts';
import { openWatchedPage } from '../../support/watched-page.ts';
import { testLog } from '../../support/workspace.ts';

/** Pictures are kept where SCREENSHOTS says, for people to look at. */
const PICTURES = process.env['SCREENSHOTS'];
const WIDE = { width: 1280, height: 900 };
/** The narrowest width of WCAG 1.4.10, which is also that of a wide window enlarged four times. */
const PHONE = { width: 320, height: 640, isMobile: true, hasTouch: true };

let dashboard: TestDashboard;
let chromium: Browser;
let page: Page;
let accountId: string;
let endpointId: string;
let disabledId: string;
let deliveryId: string;
let failedJobIds: string[];
let messageId: string;
let problems: string[];
const workers: RunningWorker[] = [];
let release: () => void = () => undefined;

beforeAll(async () => {
  dashboard = await startDashboard();
  ({ chromium, page, problems } = await openWatchedPage(dashboard.workspace.chromiumPath));
  await insertOperator({ name: 'ada', role: 'operator', password: PASSWORD });
  await fill();
});

afterAll(async () => {
  release();
  await chromium.close();
  await Promise.all(workers.map((worker) => worker.close(1_000)));
  await dashboard.close();
});

/** Stores what a system has in the middle of a bad day. */
async function fill() {
  const { queues, workspace } = dashboard;
  accountId = (await workspace.account()).id;
  endpointId = await addEndpoint(accountId, { url: 'https://hooks.example.com/billing/events' });
  await Account.updateOne({ _id: accountId }, { name: 'Studio North' });
  for (const failures of [3, 6, 12, 18, 24, 32]) {
    const url = `https://receiver-${failures}.example.net/services/billing/webhooks/incoming`;
    const failing = await addEndpoint(accountId, { url, failures, failingMinutes: failures * 5, lastStatus: 503 });
    for (let each = 0; each < 6; each += 1) {
      const waiting = { accountId, endpointId: failing, status: 'pending', dueMinutesAgo: -10 } as const;
      await addDelivery({ ...waiting, minutesAgo: 90, deferrals: failures > 10 ? 1 : 0 });
    }
  }
  disabledId = await addEndpoint(accountId, { url: 'https://old.example.org/in', enabled: false, reason: 'operator' });
  for (let minute = 1; minute <= 60; minute += 1) {
    const many = Math.round(3 + 3 * Math.sin(minute / 6) + (minute % 4));
    const durations = Array.from({ length: many }, (_, each) => 60 + 40 * each + minute);
    await Promise.all(durations.map((durationMs) => addRender({ accountId, durationMs, minutesAgo: minute + 0.2 })));
    if (minute % 17 === 0) {
      const failure = { status: 'expired', errorClass: 'deadline', durationMs: 30_000 } as const;
      await addRender({ accountId, ...failure, minutesAgo: minute + 0.3 });
    }
    await addDelivery({
      accountId,
      endpointId,
      status: 'delivered',
      minutesAgo: minute,
      last: { responseStatus: 200 },
    });
  }
  await addRender({ accountId, status: 'refused', errorClass: 'Validation failed', minutesAgo: 3 });
  const head = [
    { name: 'content-type', value: 'text/html; charset=utf-8' },
    { name: 'set-cookie', value: '(masked)' },
    { name: 'x-a-long-name-of-a-header-that-does-not-break', value: 'x'.repeat(200) },
  ];
  const failures = [{ errorClass: 'timeout' }, { errorClass: 'status', responseStatus: 500, head }];
  for (const last of failures) {
    for (let each = 0; each < 6; each += 1) {
      deliveryId = await addDelivery({ accountId, endpointId, status: 'dead', minutesAgo: 10 + each, last });
    }
  }
  await addDelivery({ accountId, endpointId, status: 'pending', last: { errorClass: 'timeout' } });
  await addDelivery({ accountId, endpointId: disabledId, status: 'held', eventType: 'client.created' });
  const refusal = {
    at: new Date(),
    code: '535 5.7.8',
    text: 'Login refused, see https://mail.example/help/why_was_my_login_rejected_by_this_server_and_what_can_be_done_about_it',
  };
  const later = new Date(Date.now() + 3_600_000);
  const waiting = { next_at: later, due_at: later, attempts: [refusal, refusal], attempts_made: 2 };
  await insertMessage(accountId, waiting);
  const at = new Date();
  const recipients: Recipient[] = RECIPIENT_STATES.map((state, index) => ({
    ...{ state, at, role: 'cc', code: '550 5.1.1', text: `<ada@example.com> ${'unknown '.repeat(9)}${'x'.repeat(90)}` },
    address: `someone.with.a.long.name.${index}@a-department-with-a-long-name.example.org`,
  }));
  const ended = { state: 'failed', settled_at: at, due_at: undefined, next_at: undefined } as const;
  const attachments = [
    { name: `INV-0042-${'of-a-long-project-'.repeat(6)}.pdf`, bytes: 48_000, sha256: '0'.repeat(64) },
  ];
  const failed = { ...ended, recipients, attempts: [{ ...refusal, code: '550 5.1.1' }, refusal], attachments };
  messageId = String((await insertMessage(accountId, { ...failed, kind: 'reminder_1', attempts_made: 2 }))._id);
  await audit({ operator: 'ada', address: '203.0.113.7', action: 'login' }, 'refused', 'wrong name or password');
  for (const { name } of catalog) await addSamples(name);
  await addRequests();

  const reasons = ['Event 17 has no account', 'Event 18 has no account', 'Event 19 has no account'];
  failedJobIds = await addFailedJobs(queues, workspace, fanOutEvent, reasons);
  await pauseQueue(queues, deliverWebhook);
  for (const id of ['waiting-1', 'waiting-2'])
    await queues.raw(deliverWebhook).add('deliver-webhook', {}, { jobId: id });
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { redisUrl, redisPrefix: prefix } = workspace;
  const place = { redisUrl, prefix, concurrency: 2, log: testLog };
  workers.push(
    startWorker(renderDocument, () => held, place),
    startWorker(fanOutEvent, () => held, place),
  );
  const document = { title: 'Invoice', number: 'INV-0042', lineItems: [{}, {}], clientName: 'Secret Customer' };
  const data = { document, requestId: '0198c0de-0000-7000-8000-000000000001' };
  await queues.raw(renderDocument).add('render-document', data, { jobId: 'render-1' });
  await eventually(() => workers[0]?.active() === 1);
}

async function open(path: string) {
  await page.goto(dashboard.url + path, { waitUntil: 'load' });
}

async function picture(name: string) {
  if (!PICTURES) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`) as `${string}.png`, fullPage: true });
}

/** Finds the cells of a phone that show the name of their column and nothing else. */
const NAMES_ALONE = `[...document.querySelectorAll('td')]
  .filter((cell) => getComputedStyle(cell).display !== 'none' && cell.innerText.trim() === '' && !cell.querySelector('svg'))
  .map(({ dataset }) => dataset.name)`;

async function text(selector = 'body'): Promise<string> {
  // The visible text only.
  return String(await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).innerText`));
}

test('when an operator logs in with the keyboard alone, then the requested page is shown', async () => {
  await page.setViewport(WIDE);
  await open('/renders?status=expired');
  await picture('login');
  expect(page.url()).toContain('/login');

  // The page sets the focus by itself, a moment after it was loaded; a script has to wait for that.
  await page.waitForFunction("document.activeElement?.getAttribute('name') === 'name'");
  await page.keyboard.type('ada');
  await page.keyboard.press('Tab');
  await page.keyboard.type(PASSWORD);
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);

  expect(page.url()).toBe(`${dashboard.url}/renders?status=expired`);
  expect(await text('main')).toMatch(/3 documents match/);
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
    [
      'overview',
      () => '/',
      /has refused 1 message[\s\S]*535 5\.7\.8[\s\S]*oldest waiting[\s\S]*Per minute[\s\S]*Delivered[\s\S]*Last backup/,
    ],
    ['requests', () => '/requests', /generatePdf[\s\S]*rate_limited/],
    [
      'failures',
      () => '/failures',
      /status 500[\s\S]*535 5\.7\.8[\s\S]*retrying[\s\S]*deadline[\s\S]*Event # has no account/,
    ],
    ['deliveries', () => '/deliveries?status=dead', /12 deliveries match/],
    ['delivery', () => `/deliveries/${deliveryId}`, /Attempts[\s\S]*status[\s\S]*3 headers/],
    ['endpoint', () => `/endpoints/${endpointId}`, /hooks\.example\.com[\s\S]*Replay since/i],
    ['endpoint-disabled', () => `/endpoints/${disabledId}`, /An operator disabled it[\s\S]*Enable/],
    ['replay', () => '/deliveries/replay?status=dead', /12 deliveries that are dead/],
    ['mail', () => '/mail', /INV-0042[\s\S]*\(masked\)@a-department[\s\S]*and 7 more[\s\S]*retrying[\s\S]*Try now/],
    ['mail-search', () => '/mail?state=failed&address=none@example.com', /0 messages match/],
    [
      'message',
      () => `/mail/${messageId}`,
      /No recipient got it[\s\S]*Send again[\s\S]*no such mailbox[\s\S]*login is rejected[\s\S]*46\.9 KiB/,
    ],
    ['mail-retry', () => '/mail/retry?state=failed', /1 message that is failed/],
    ['renders', () => '/renders', /documents match/],
    ['accounts', () => '/accounts', /Studio North[\s\S]*6 failing/],
    ['business', () => '/business', /Invoices issued[\s\S]*No payment has this date/],
    ['account', () => `/accounts/${accountId}`, /Use of limits[\s\S]*Endpoints[\s\S]*hooks\.example\.com[\s\S]*Keys/],
    ['endpoints', () => '/endpoints', /Failing[\s\S]*status 503[\s\S]*Disabled[\s\S]*disabled \(operator\)/],
    ['queue', () => '/queues/deliver-webhook', /PAUSED/],
    ['queue-failed', () => '/queues/fan-out-event', /Event 17 has no account/],
    ['job', () => `/queues/fan-out-event/jobs/${failedJobIds[0]}`, /Event 17 has no account[\s\S]*Remove/],
    ['runs', () => '/bulk', /No run yet/],
    ['audit', () => '/audit', /wrong name or password/],
  ];
  const all = schemes.flatMap((scheme) => pages.map(([name, path, shows]) => ({ ...scheme, name, path, shows })));

  test.each(all)('when $name is shown ($look), then it is complete and nothing overflows its width', async (one) => {
    await page.setViewport(one.viewport);
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: one.scheme }]);
    await open(one.path());
    // Hidden parts must fit the page, too.
    await page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true");
    await picture(`${one.name}-${one.look}`);

    expect(await text()).toMatch(one.shows);
    expect(await overhanging(page)).toEqual([]);
    if (one.viewport === PHONE) expect(await page.evaluate(NAMES_ALONE)).toEqual([]);
    if (CHECKED.has(one.look)) expect(await accessFaults(page)).toEqual([]);
    const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(ground).toBe(one.scheme === 'dark' ? 'rgb(15, 20, 22)' : 'rgb(245, 246, 247)');
  });
});

describe('alive', () => {
  beforeAll(() => page.setViewport(WIDE));

  test('when a person has only a keyboard, then the Tab key leads through the page in its order, and each stop can be seen', async () => {
    await open('/queues/fan-out-event');
    const { stops, unseen } = await tabThrough(page);
    expect(unseen).toEqual([]);
    expect(stops.slice(0, 3)).toEqual(['a Skip to the content', 'a Billhook', 'a Overview']);
    expect(stops.slice(13, 18)).toEqual([
      'button Log out',
      'button Pause refresh',
      'button Pause: fan-out-event',
      'button Retry all 3',
      'button Remove all 3',
    ]);
  });

  test('when a number changes, then the page updates by itself and the focus stays', async () => {
    await open('/');
    await page.focus('#queues a[href="/queues/fan-out-event"]');
    await dashboard.queues.raw(deliverWebhook).add('deliver-webhook', {}, { jobId: 'waiting-3' });

    await eventually(async () => (await text('#alarms')).includes('3 jobs wait'));

    expect(await page.evaluate('document.activeElement.getAttribute("href")')).toBe('/queues/fan-out-event');
  });

  test('when a row above the focused button goes, then the focus stays with its job, and then with the list', async () => {
    const [, middle = '', newest = ''] = failedJobIds;
    const focused = () => page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.id');
    await open('/queues/fan-out-event');
    await page.focus(`button[aria-label="Retry: ${middle}"]`);

    await dashboard.queues.raw(fanOutEvent).remove(newest);
    await eventually(async () => !(await text('#failed')).includes('Event 19'));
    expect(await focused()).toBe(`Retry: ${middle}`);

    await dashboard.queues.raw(fanOutEvent).remove(middle);
    await eventually(async () => !(await text('#failed')).includes('Event 18'));
    expect(await focused()).toBe('failed');
  });

  test('when the numbers of an alarm change, then screen readers announce new alarms alone', async () => {
    await open('/');
    await page.evaluate(`{
      globalThis.announced = [];
      globalThis.replaced = 0;
      new MutationObserver((changes) => {
        replaced += 1;
        const alerts = changes.flatMap(({ addedNodes }) => [...addedNodes]).flatMap((node) => [...node.querySelectorAll('[role="alert"]')]);
        announced.push(...alerts.map((alert) => alert.textContent));
      }).observe(document.getElementById('alarms'), { childList: true });
    }`);
    await dashboard.queues.raw(deliverWebhook).add('deliver-webhook', {}, { jobId: 'waiting-4' });
    await eventually(async () => Number(await page.evaluate('replaced')) > 0);
    expect(await page.evaluate('announced')).toEqual([]);

    await pauseQueue(dashboard.queues, fanOutEvent);
    await eventually(async () => /fan-out-event/.test(await text('#alarms')));
    await resumeQueue(dashboard.queues, fanOutEvent);

    expect(await page.evaluate('announced')).toEqual([expect.stringMatching(/fan-out-event/)]);
  });

  test('when an operator resumes a paused queue, then the page says so and the queue runs', async () => {
    await open('/queues/deliver-webhook');
    await Promise.all([page.waitForNavigation(), page.click('button[aria-label="Resume: deliver-webhook"]')]);

    expect(await text('main')).toMatch(/deliver-webhook is running again/);
    expect(await dashboard.queues.raw(deliverWebhook).isPaused()).toBe(false);
  });

  test('when all that match are replayed, then the progress is shown to its end', async () => {
    await open(`/deliveries/replay?endpoint=${endpointId}&status=dead`);
    await Promise.all([page.waitForNavigation(), page.click('main button.main')]);
    await picture('run');

    expect(page.url()).toContain('/bulk/');
    await eventually(async () => /done[\s\S]*12 of 12/i.test(await text('#run')));
    await picture('run-done');
  });
});

test('when all pages were shown, then the browser reported no error', () => {
  expect(problems).toEqual([]);
});
