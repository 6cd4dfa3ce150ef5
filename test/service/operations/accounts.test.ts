// The pages of accounts and endpoints, and what a delivery waits for: by index, within a page, and without what viewers may not see.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { deliverWebhook } from '#libs/jobs/catalog.ts';
import { Account } from '#libs/models/accounts/account.ts';
import { ApiKey, issueApiKey } from '#libs/models/accounts/api-key.ts';
import { Counter } from '#libs/models/counter.ts';
import { DocumentBatch } from '#libs/models/documents/document-batch.ts';
import { Render } from '#libs/models/documents/render-record.ts';
import { RoundTry } from '#libs/models/operations/round-try.ts';
import { newId, storedId } from '#libs/models/tenant.ts';
import { Delivery } from '#libs/models/webhooks/delivery.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { WebhookEndpoint } from '#libs/models/webhooks/webhook-endpoint.ts';
import { searchDeliveries } from '../../../services/operations/store/delivery-search.ts';
import { type Browser, LIMITS, startDashboard, type TestDashboard } from '../../support/dashboard/dashboard.ts';
import { addDelivery, addEndpoint, addRender } from '../../support/dashboard/records.ts';
import { plansOf } from '../../support/plans.ts';

let dashboard: TestDashboard;
let operator: Browser;
let viewer: Browser;
let accountId: string;
beforeAll(async () => {
  dashboard = await startDashboard();
  operator = await dashboard.login('operator');
  viewer = await dashboard.login('viewer');
  accountId = (await dashboard.workspace.account({ name: 'Bureau Élan <b>' })).id;
});
afterAll(() => dashboard.close());

test('when accounts are searched by the beginning of a name or by id, then case and accents do not matter, and a name is text', async () => {
  for (const name of ['bureau elan', 'BUREAU É', accountId]) {
    const { text } = await viewer.get(`/accounts?${new URLSearchParams({ name })}`);
    expect(text).toContain(`href="/accounts/${accountId}">Bureau Élan &lt;b></a>`);
  }
  expect((await viewer.get('/accounts?name=elan')).text).toContain('No account matches.');
});

test('when an account is shown, then its keys, endpoints and stored bytes are there, and no hash or secret', async () => {
  const endpointId = await addEndpoint(accountId, { url: 'https://dead.example.com/in', failures: 7 });

  const { text } = await viewer.get(`/accounts/${accountId}`);

  expect(text).toContain(`href="/endpoints/${endpointId}"`);
  expect(text).toMatch(/bh_live_\w{4}…/);
  expect(text).toContain('7 times in a row');
  expect(text).not.toContain('sealed');
  expect((await viewer.get(`/accounts/${newId()}`)).status).toBe(404);
  expect((await viewer.get('/accounts/nothing')).status).toBe(404);
});

test('when an account is shown, then its use stands beside its limits, its keys have scopes and ends, and what fails is named', async () => {
  const { id } = await dashboard.workspace.account({ name: 'Near its limits' });
  await issueApiKey({
    accountId: id,
    name: 'reads',
    scopes: ['clients:read', 'invoices:read', 'quotes:read', 'tasks:read'],
  });
  await ApiKey.updateOne({ account_id: id, name: 'reads' }, { $set: { revoked_at: new Date(Date.now() - 3_600_000) } });
  await Counter.updateOne(
    { _id: id },
    {
      $set: {
        stored_bytes: LIMITS.recordBytes * 0.9,
        counts: { 'invoices/Draft': 2, 'invoices/Sent 2026-12': 3, 'clients/all': 4 },
      },
    },
  );
  const endpointId = await addEndpoint(id, { url: 'https://lost.example.com/in', failures: 5 });
  for (let each = 0; each < 3; each += 1) await addDelivery({ accountId: id, endpointId, status: 'dead' });
  for (let each = 0; each < 19; each += 1) await addRender({ accountId: id, minutesAgo: 0.1 });
  await addRender({ accountId: id, status: 'expired', errorClass: 'deadline', minutesAgo: 90 });
  await RoundTry.create({
    _id: `documents of batches/${id}`,
    account_id: id,
    round: 'documents of batches',
    record_id: newId(),
    tries: 2,
    tried_at: new Date(),
    error: 'no <such> font',
    error_id: newId(),
  });

  const { text } = await viewer.get(`/accounts/${id}`);
  const renders = (await viewer.get(`/renders?id=${id}`)).text;

  expect(text).toMatch(/<span class="warn">921\.6 KiB of 1 MiB \(90 %\)/);
  expect(text).toMatch(/Documents in the last minute<[^>]*>\s*<span class="bad">19 of 20 \(95 %\)/);
  expect(text).toMatch(/Usable keys<[^>]*>\s*<span class="main">1 of 100 \(1 %\)/);
  expect(text).toMatch(/<dt>Invoices<\/dt><dd>5</);
  expect(text).toContain('clients:read, invoices:read, quotes:read and 1 more');
  expect(text).toMatch(/revoked[\s\S]*60 min ago/);
  expect(text).toMatch(/Endpoint fails[\s\S]*lost\.example\.com[\s\S]*5 times in a row/);
  expect(text).toMatch(/Dead deliveries[\s\S]*3 deliveries/);
  expect(text).toMatch(/Document expired[\s\S]*deadline[\s\S]*1 document/);
  expect(text).toMatch(/Set aside[\s\S]*no &lt;such> font/);
  expect(renders).toContain(`href="/accounts/${id}">Near its limits</a>`);
  expect((await viewer.get(`/accounts/${accountId}`)).text).not.toContain('no &lt;such> font');
});

test('when an account has many documents and deliveries, then its page reads along indexes', async () => {
  const { id } = await dashboard.workspace.account({ name: 'Busy' });
  const endpointId = await addEndpoint(id);
  await Promise.all(Array.from({ length: 60 }, () => addRender({ accountId: id, minutesAgo: 5 })));
  await Promise.all(Array.from({ length: 60 }, () => addDelivery({ accountId: id, endpointId, status: 'dead' })));

  for (const { collection } of [Render, Delivery, DocumentBatch, ApiKey]) {
    const reads = await plansOf(collection.name, async () => {
      expect((await viewer.get(`/accounts/${id}`)).status).toBe(200);
    });
    expect(reads.map(({ isByIndex }) => isByIndex)).toEqual(reads.map(() => true));
    if (collection === Delivery.collection) expect(reads.every(({ docsExamined }) => docsExamined === 0)).toBe(true);
    if (collection === Render.collection) expect(reads.every(({ docsExamined = 0 }) => docsExamined <= 60)).toBe(true);
  }
});

test('when endpoints are listed, then those that fail most come first, and all are there on request', async () => {
  const fine = await addEndpoint(accountId, { url: 'https://fine.example.com/' });
  const worse = await addEndpoint(accountId, { url: 'https://worse.example.com/', failures: 40 });

  const failing = (await viewer.get('/endpoints')).text;
  const all = (await viewer.get('/endpoints?state=all')).text;

  expect(failing.indexOf(worse)).toBeGreaterThan(0);
  expect(failing.indexOf(worse)).toBeLessThan(failing.indexOf('dead.example.com'));
  expect(failing).not.toContain(fine);
  expect(all).toContain(fine);
  for (const state of ['odd', 'toString']) expect((await viewer.get(`/endpoints?state=${state}`)).status).toBe(400);
});

test('when there are many accounts, then a page and a search read no more than they show', async () => {
  const names = Array.from({ length: 300 }, (_, index) => ({ name: `Many ${String(index).padStart(3, '0')}` }));
  await Account.insertMany(names);

  for (const query of ['', '?name=many%201', '?name=many&page=2']) {
    const reads = await plansOf(Account.collection.name, async () => {
      expect((await viewer.get(`/accounts${query}`)).status).toBe(200);
    });
    expect(reads.map(({ isByIndex, hasSortStage }) => [isByIndex, hasSortStage])).toEqual(
      reads.map(() => [true, false]),
    );
    expect(Math.max(...reads.map(({ docsExamined }) => docsExamined ?? 0))).toBeLessThanOrEqual(101);
  }
  for (const path of ['/endpoints', '/endpoints?state=failing', '/endpoints?state=disabled', '/endpoints?state=all']) {
    const reads = await plansOf(WebhookEndpoint.collection.name, () => viewer.get(path));
    expect(reads.map(({ isByIndex, hasSortStage }) => [isByIndex, hasSortStage])).toEqual(
      reads.map(() => [true, false]),
    );
  }
});

test('when an attempt has the head of a response, then the page of the delivery shows it as text, and the list does not read it', async () => {
  const endpointId = await addEndpoint(accountId);
  const head = [{ name: 'x-odd', value: '</pre><script>alert(1)</script>' }];
  const id = await addDelivery({ accountId, endpointId, last: { responseStatus: 503, errorClass: 'status', head } });

  const { text } = await viewer.get(`/deliveries/${id}`);

  expect(text).toContain('<summary>1 header</summary>');
  expect(text).toContain('x-odd: &lt;/pre>&lt;script>alert(1)&lt;/script>');
  const [listed] = await searchDeliveries({ id }, { skip: 0, limit: 1 });
  expect(listed?.attempts).toEqual([expect.not.objectContaining({ response_headers: expect.anything() })]);
});

test('when a delivery waits or has ended, then its page says why, and only operators see the body', async () => {
  const endpointId = await addEndpoint(accountId, { url: 'https://why.example.com/' });
  const closedId = await addEndpoint(accountId, { enabled: false, reason: 'gone' });
  const deferred = await addDelivery({ accountId, endpointId, status: 'pending', dueMinutesAgo: -5, deferrals: 2 });
  const later = await addDelivery({
    accountId,
    endpointId,
    status: 'pending',
    dueMinutesAgo: -5,
    last: { errorClass: 'timeout' },
  });
  const held = await addDelivery({ accountId, endpointId: closedId, status: 'held' });
  const orphan = await addDelivery({ accountId, endpointId: newId(), status: 'pending' });
  const due = await addDelivery({ accountId, endpointId, status: 'pending', dueMinutesAgo: 1, deferrals: 2 });
  const shown = async (id: string, as = operator) => (await as.get(`/deliveries/${id}`)).text;

  expect(await shown(deferred)).toContain('The circuit breaker of the endpoint is open');
  expect(await shown(later)).toContain('It waits for its next attempt after timeout.');
  expect(await shown(held)).toContain(
    'disabled because its receiver answered 410 Gone; enabling the endpoint sends it.',
  );
  expect(await shown(orphan)).toContain('The endpoint was deleted, and the delivery is about to be given up.');
  expect(await shown(due)).toContain('It is due, and waits for a free worker');
  await dashboard.queues.raw(deliverWebhook).pause();
  expect(await shown(due)).toContain('It is due, and its queue is paused.');
  await dashboard.queues.raw(deliverWebhook).resume();
  const delivery = await Delivery.findOne({ account_id: accountId, _id: later }).lean();
  await Event.collection.insertOne({
    _id: delivery?.event_id as never,
    account_id: storedId(accountId),
    body: JSON.stringify({ data: { client: '<i>Ada</i>' } }),
  });
  expect(await shown(later)).toContain('&lt;i>Ada&lt;/i>');
  expect(await shown(later, viewer)).not.toContain('Ada');
});
