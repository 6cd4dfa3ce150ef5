// The overview tells which endpoints fail and which deliveries and mails wait, from the records, at a bounded cost.
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Account } from '#libs/models/accounts/account.ts';
import {
  MESSAGES_COUNTED_MAX,
  MESSAGES_EXAMINED_MAX,
  readMailProblems,
  readOverdueMail,
} from '#libs/models/messages/mail-problems.ts';
import { Message } from '#libs/models/messages/message.ts';
import { DUE_EXAMINED_MAX } from '#libs/models/overdue.ts';
import { driverOf } from '#libs/models/records.ts';
import { acrossAccounts, newId, newRecord, storedId } from '#libs/models/tenant.ts';
import { Delivery } from '#libs/models/webhooks/delivery.ts';
import {
  DELIVERIES_COUNTED_MAX,
  ENDPOINTS_COUNTED_MAX,
  readDeliveryProblems,
} from '#libs/models/webhooks/delivery-problems.ts';
import { WebhookEndpoint } from '#libs/models/webhooks/webhook-endpoint.ts';
import { makeMetrics, watchDeliveryProblems, watchOverdueMail } from '#libs/service/metrics.ts';
import { examineDeliveries } from '../../../services/admin/doctor-deliveries.ts';
import { examineMail } from '../../../services/admin/doctor-mail.ts';
import { type Browser, startDashboard, type TestDashboard } from '../../support/dashboard/dashboard.ts';
import { addDelivery, addEndpoint } from '../../support/dashboard/records.ts';
import { insertMessage, messageOf } from '../../support/messages.ts';
import { plansOf } from '../../support/plans.ts';

let dashboard: TestDashboard;
let viewer: Browser;
let account: { id: string; name: string };
beforeAll(async () => {
  dashboard = await startDashboard();
  viewer = await dashboard.login('viewer');
  const { id } = await dashboard.workspace.account();
  account = { id, name: 'Studio North' };
  await Account.updateOne({ _id: id }, { name: account.name });
});
beforeEach(async () => {
  await Promise.all([
    WebhookEndpoint.deleteMany({}).setOptions(acrossAccounts),
    Delivery.deleteMany({}).setOptions(acrossAccounts),
    Message.deleteMany({}).setOptions(acrossAccounts),
  ]);
});
afterAll(() => dashboard.close());

/** The messages of the overview: tone, text and link of each. */
async function alarms(): Promise<{ tone: string; text: string; href: string | undefined }[]> {
  const { text } = await viewer.get('/');
  const section = /<section id="alarms"[^>]*>(.*?)<\/section>/s.exec(text)?.[1] ?? '';
  return [...section.matchAll(/<div class="note (\w+)"[^>]*>(?:<a href="([^"]+)">)?([^<]+)/g)].map(
    ([, tone = '', href, content = '']) => ({ tone, text: content, href }),
  );
}
const findings = async () =>
  Object.fromEntries([...(await examineDeliveries()), ...(await examineMail())].map((found) => [found.check, found]));

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
const secondsAhead = (seconds: number) => new Date(Date.now() + seconds * 1_000);

/** The values of the gauges of overdue records, as the scheduler reports them. */
async function overdueMetrics(): Promise<Record<string, number>> {
  const registry = makeMetrics();
  watchDeliveryProblems(registry, () => readDeliveryProblems());
  watchOverdueMail(registry, () => readOverdueMail());
  const lines = (await registry.metrics()).matchAll(/^(billhook_\w+_overdue_\w+) (\S+)$/gm);
  return Object.fromEntries([...lines].map(([, name, value]) => [name, Number(value)]));
}

test('when endpoints fail in a row, then overview and doctor name each with its URL, account, failures and deliveries', async () => {
  const accountId = account.id;
  const dead = await addEndpoint(accountId, { url: 'https://dead.example.com/in', failures: 32, failingMinutes: 180 });
  const shaky = await addEndpoint(accountId, { url: 'https://shaky.example.com/in', failures: 3, failingMinutes: 20 });
  await addEndpoint(accountId, { url: 'https://fine.example.com/in', failures: 2 });
  await addDelivery({ accountId, endpointId: dead, status: 'pending', dueMinutesAgo: -10, deferrals: 2 });
  await addDelivery({ accountId, endpointId: dead, status: 'pending', dueMinutesAgo: -10 });

  const shown = await alarms();
  expect(shown).toContainEqual({
    tone: 'bad',
    text: `${account.name}: https://dead.example.com/in has failed 32 times in a row for 3 h; 2 deliveries wait (circuit breaker open).`,
    href: `/endpoints/${dead}`,
  });
  expect(shown).toContainEqual({
    tone: 'warn',
    text: `${account.name}: https://shaky.example.com/in has failed 3 times in a row for 20 min; 0 deliveries wait.`,
    href: `/endpoints/${shaky}`,
  });
  expect(JSON.stringify(shown)).not.toMatch(/fine\.example|All is well/);
  const found = (await findings())['Failing endpoints'];
  expect(found).toMatchObject({ status: 'problem', advice: expect.stringContaining('admin webhooks deliveries') });
  expect(found?.found).toBe(
    `2 endpoint(s): dead.example.com of ${account.name} (${dead}): 32 failures in a row for 180 min, 2 deliveries wait, circuit breaker open; ` +
      `shaky.example.com of ${account.name} (${shaky}): 3 failures in a row for 20 min, 0 deliveries wait`,
  );
});

test('when a disabled endpoint has suspended deliveries, then it is red unless its account disabled it', async () => {
  const accountId = account.id;
  const gone = await addEndpoint(accountId, { url: 'https://gone.example.com/', enabled: false, reason: 'gone' });
  const paused = await addEndpoint(accountId, { url: 'https://paused.example.com/', enabled: false });
  await addEndpoint(accountId, { url: 'https://nothing-waits.example.com/', enabled: false });
  for (const endpointId of [gone, paused]) await addDelivery({ accountId, endpointId, status: 'held' });

  const shown = await alarms();
  const of = (host: string) => shown.filter(({ text }) => text.includes(host));
  expect(of('gone')).toEqual([
    {
      tone: 'bad',
      text: `${account.name}: https://gone.example.com/ is disabled (gone); 1 delivery is suspended.`,
      href: `/endpoints/${gone}`,
    },
  ]);
  expect(of('paused')).toMatchObject([{ tone: 'warn', href: `/endpoints/${paused}` }]);
  expect(of('nothing-waits')).toEqual([]);
  expect((await findings())['Suspended deliveries']).toMatchObject({
    status: 'problem',
    found: expect.stringMatching(
      /^2 endpoint\(s\): .*gone\.example\.com of .*disabled \(gone\), 1 deliveries suspended/,
    ),
  });
});

test('when deliveries are old, then that is a warning; when they are due and not taken, then a problem', async () => {
  const endpointId = await addEndpoint(account.id);
  const waiting = { accountId: account.id, endpointId, status: 'pending' as const };
  await addDelivery({ ...waiting, minutesAgo: 30, dueMinutesAgo: -10 });
  const before = JSON.stringify(await alarms());
  await addDelivery({ ...waiting, minutesAgo: 180, dueMinutesAgo: -10 });
  await addDelivery({ ...waiting, minutesAgo: 12, dueMinutesAgo: 12 });

  expect(before).not.toMatch(/pending for|is due/);
  const href = '/deliveries?status=pending';
  expect(await alarms()).toEqual(
    expect.arrayContaining([
      { tone: 'bad', text: '1 delivery is due, and no webhook service has taken the oldest for 12 min.', href },
      { tone: 'warn', text: '1 delivery has been pending for over an hour, the oldest for 3 h.', href },
    ]),
  );
  expect(await findings()).toMatchObject({
    'Due deliveries': { status: 'problem', found: '1, the oldest for 12 min' },
    'Pending deliveries': { status: 'warning', found: '1 for over an hour, the oldest 180 min' },
  });
});

test('when the poller enqueues a delivery and a message again and again in vain, then overview, doctor and metrics tell of both', async () => {
  const endpointId = await addEndpoint(account.id);
  const inVain = { accountId: account.id, endpointId, status: 'pending', minutesAgo: 10, dueMinutesAgo: 10 } as const;
  await addDelivery({ ...inVain, lookAgainAt: secondsAhead(10) });
  // The worker died, and its lease has ended.
  await addDelivery({ ...inVain, lookAgainAt: secondsAhead(10), leaseUntil: minutesAgo(8) });
  await addDelivery({ ...inVain, dueMinutesAgo: 4, lookAgainAt: secondsAhead(10) });
  await insertMessage(account.id, { next_at: minutesAgo(10), due_at: secondsAhead(10) });
  await insertMessage(account.id, { next_at: minutesAgo(4), due_at: secondsAhead(10) });
  await insertMessage(account.id, {
    ...{ sender: 'own@north.example', next_at: minutesAgo(9), due_at: secondsAhead(60) },
    ...{ lease_id: 'of-a-dead-worker', lease_until: minutesAgo(8) },
  });

  expect((await alarms()).map(({ text }) => text)).toEqual(
    expect.arrayContaining([
      '2 deliveries are due, and no webhook service has taken the oldest for 10 min.',
      '2 messages are due, and no mail service has taken the oldest for 10 min.',
    ]),
  );
  expect(await findings()).toMatchObject({
    'Due deliveries': { status: 'problem', found: '2, the oldest for 10 min' },
    'Due mail': { status: 'problem', found: '2 message(s), the oldest for 10 min' },
  });
  const told = await overdueMetrics();
  expect(told['billhook_mail_overdue_messages']).toBe(2);
  for (const name of ['billhook_deliveries_overdue_seconds', 'billhook_mail_overdue_seconds'])
    expect(told[name]).toBeGreaterThanOrEqual(600);
});

test('when a worker has a record, or its turn comes after another one, then it is not overdue', async () => {
  const endpointId = await addEndpoint(account.id);
  const lease = { lease_id: 'of-a-worker', lease_until: secondsAhead(40), due_at: secondsAhead(40) };
  const waiting = { accountId: account.id, endpointId, status: 'pending', minutesAgo: 10, dueMinutesAgo: 10 } as const;
  await addDelivery({ ...waiting, lookAgainAt: lease.due_at, leaseUntil: lease.lease_until });
  await insertMessage(account.id, { next_at: minutesAgo(10), ...lease });
  const { id: sendsItself } = await dashboard.workspace.account();
  const own = { sender: 'own@north.example', next_at: minutesAgo(10) };
  await insertMessage(sendsItself, { ...own, ...lease, next_at: minutesAgo(1) });
  await insertMessage(sendsItself, { ...own, due_at: secondsAhead(60) });
  await insertMessage(sendsItself, { ...own, due_at: minutesAgo(10) });

  expect((await alarms()).filter(({ text }) => /is due|are due/.test(text))).toEqual([]);
  expect(await findings()).toMatchObject({ 'Due deliveries': { status: 'ok' }, 'Due mail': { status: 'ok' } });
  expect(await overdueMetrics()).toEqual({
    billhook_deliveries_overdue_seconds: 0,
    billhook_mail_overdue_messages: 0,
    billhook_mail_overdue_seconds: 0,
  });

  await insertMessage(sendsItself, { next_at: minutesAgo(10), due_at: secondsAhead(10) });
  expect(await readOverdueMail()).toMatchObject({ count: 1 });
});

test('when nothing fails or waits, then each finding is ok', async () => {
  expect((await examineDeliveries()).map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'ok']);
});

test('when many endpoints fail or are disabled, then five are named and no more is read than is counted', async () => {
  const more = ENDPOINTS_COUNTED_MAX + 50;
  const blank = { account_id: account.id, url: 'https://a.example.com/', events: ['*'], secret: 'sealed' };
  const endpoints = Array.from({ length: 2 * more }, (_, slot) => ({
    ...blank,
    slot,
    enabled: slot < more,
    ...(slot < more ? { failures: 3 + slot, failing_since: new Date() } : { disabled_reason: 'failing' }),
  }));
  const made = await WebhookEndpoint.insertMany(endpoints);
  const disabled = made.filter(({ enabled }) => !enabled);
  await Promise.all(
    disabled.map(({ _id }) => addDelivery({ accountId: account.id, endpointId: String(_id), status: 'held' })),
  );

  const examined = async (collection: string) => {
    const plans = await plansOf(collection, readDeliveryProblems);
    return plans.map(({ docsExamined, keysExamined, isByIndex, command, hasSortStage }) => {
      return { docsExamined, keysExamined, isByIndex, command, hasSortStage };
    });
  };
  const reads = [...(await examined(WebhookEndpoint.collection.name)), ...(await examined(Delivery.collection.name))];
  expect(Math.max(...reads.map(({ docsExamined }) => docsExamined))).toBeLessThanOrEqual(ENDPOINTS_COUNTED_MAX);
  // Counting reads one key beyond its limit at most, and a look-up by ids two a piece.
  expect(Math.max(...reads.map(({ keysExamined }) => keysExamined))).toBeLessThanOrEqual(2 * ENDPOINTS_COUNTED_MAX + 1);
  expect(reads.filter(({ hasSortStage }) => hasSortStage)).toEqual([]);

  const shown = await alarms();
  expect(shown.filter(({ text }) => text.includes('in a row'))).toHaveLength(5);
  expect(shown.filter(({ text }) => text.includes('is disabled'))).toHaveLength(5);
  expect(shown.map(({ text }) => text)).toEqual(
    expect.arrayContaining([
      '95 or more further endpoints fail.',
      '95 or more further disabled endpoints have suspended deliveries.',
    ]),
  );
});

test('when mail is due and not taken, or the mail server refuses it twice, then the overview says so without names of people', async () => {
  const text = `<b>Greylisted</b> <ada.lovelace@example.com> ${'x'.repeat(300)}`;
  const attempts = [{ at: minutesAgo(9) }, { at: minutesAgo(3), code: '450 4.2.0', text }];
  const refused = { due_at: minutesAgo(-30), attempts, attempts_made: 2 };
  await insertMessage(account.id, { next_at: minutesAgo(4), due_at: minutesAgo(4) });
  await insertMessage(account.id, { ...refused, attempts: attempts.slice(1), attempts_made: 1 });
  await insertMessage(account.id, { ...refused, sender: 'own@north.example' });
  const before = JSON.stringify(await alarms());
  await insertMessage(account.id, { next_at: minutesAgo(12), due_at: minutesAgo(12) });
  await insertMessage(account.id, refused);
  const earlier = [{ at: minutesAgo(8) }, { at: minutesAgo(5), code: '421', text: 'Busy' }];
  await insertMessage(account.id, { ...refused, due_at: minutesAgo(-40), attempts: earlier });

  expect(before).not.toMatch(/message/);
  const shown = await alarms();
  expect(shown).toContainEqual({
    tone: 'bad',
    text: '1 message is due, and no mail service has taken the oldest for 12 min.',
    href: '/mail?state=waiting',
  });
  const answer = 'Its last answer: 450 4.2.0 &lt;b>Greylisted&lt;/b> &lt;(masked)@example.com> x';
  expect(shown).toContainEqual({
    tone: 'warn',
    text: expect.stringMatching(/^The mail server has refused 2 messages at least twice\. .*[^x]x{100,160} …$/),
    href: '/mail?state=retrying&amp;server=installation',
  });
  expect(shown.find(({ text }) => text.includes('refused'))?.text).toContain(answer);
});

test('when thousands of messages are due, then no more is read than is examined', async () => {
  const due = { next_at: minutesAgo(10), due_at: secondsAhead(10) };
  const waiting = Array.from({ length: MESSAGES_EXAMINED_MAX + 50 }, () => messageOf(account.id, due));
  await driverOf(Message).insertMany(waiting);

  const plans = await plansOf(Message.collection.name, () => readMailProblems());

  expect(plans).toHaveLength(2);
  expect(plans.filter(({ isByIndex, hasSortStage }) => !isByIndex || hasSortStage)).toEqual([]);
  expect(Math.max(...plans.map(({ docsExamined }) => docsExamined))).toBeLessThanOrEqual(MESSAGES_EXAMINED_MAX);
  expect(await readOverdueMail()).toMatchObject({ count: MESSAGES_COUNTED_MAX });
});

test('when thousands of deliveries are due or planned, then those due are counted up to the limit and the planned ones are not read', async () => {
  const endpointId = await addEndpoint(account.id);
  const stored = { ...newRecord(account.id), endpoint_id: storedId(endpointId), status: 'pending' };
  const many = (length: number, due: object) =>
    Array.from({ length }, () => ({ ...stored, ...due, _id: storedId(newId()) }));
  const planned = { next_at: secondsAhead(3_600), due_at: secondsAhead(3_600) };
  await driverOf(Delivery).insertMany(many(DUE_EXAMINED_MAX + 50, planned));
  const readsOf = async () =>
    (await plansOf(Delivery.collection.name, () => readDeliveryProblems())).filter(
      ({ command }) => command === 'aggregate',
    );

  expect(Math.max(...(await readsOf()).map(({ docsExamined }) => docsExamined))).toBe(0);

  await driverOf(Delivery).insertMany(
    many(DUE_EXAMINED_MAX + 50, { next_at: minutesAgo(10), due_at: secondsAhead(9) }),
  );
  const reading = (await readsOf()).filter(({ docsExamined }) => docsExamined > 0);
  expect(reading).toMatchObject([{ isByIndex: true, hasSortStage: false }]);
  expect(reading[0]?.docsExamined).toBe(DUE_EXAMINED_MAX);
  expect((await readDeliveryProblems()).overdue).toMatchObject({ count: DELIVERIES_COUNTED_MAX });
});

test('when deliveries are listed, then each names the URL of its endpoint and its account, and so does the endpoint', async () => {
  const url = 'https://named.example.com/in';
  const endpointId = await addEndpoint(account.id, { url });
  await addDelivery({ accountId: account.id, endpointId });

  const row = /<td data-name="Endpoint".*?<\/td>/s.exec((await viewer.get('/deliveries')).text)?.[0];

  expect(row).toContain(`href="/endpoints/${endpointId}">${url}</a>`);
  expect(row).toContain(account.name);
  expect((await viewer.get(`/endpoints/${endpointId}`)).text).toContain(account.name);
});
