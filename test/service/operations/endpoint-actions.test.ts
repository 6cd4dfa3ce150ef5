// Operators enable, disable and ping an endpoint, and find the endpoints that fail or are disabled.
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { AuditEntry } from '#libs/models/operations/audit-entry.ts';
import { acrossAccounts, type Id } from '#libs/models/tenant.ts';
import { Delivery } from '#libs/models/webhooks/delivery.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { endpointView, WebhookEndpoint, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { webhookResponse } from '#libs/responses/webhook.ts';
import { RATE_COUNTED_MAX, readDeliveryRates } from '../../../services/operations/store/delivery-rates.ts';
import { rateText } from '../../../services/operations/views/endpoint-state.ts';
import { recordFailure, recordGone, recordSuccess } from '../../../services/webhooks/endpoint-health.ts';
import { type Browser, startDashboard, type TestDashboard } from '../../support/dashboard/dashboard.ts';
import { addDelivery, addEndpoint } from '../../support/dashboard/records.ts';
import { plansOf } from '../../support/plans.ts';

let dashboard: TestDashboard;
let operator: Browser & { name: string };
let viewer: Browser & { name: string };
let accountId: Id;
let endpointId: Id;
beforeAll(async () => {
  dashboard = await startDashboard();
  operator = await dashboard.login('operator');
  viewer = await dashboard.login('viewer');
  accountId = (await dashboard.workspace.account({ name: 'Bureau <b>' })).id;
});
beforeEach(async () => {
  endpointId = await addEndpoint(accountId, { url: 'https://hooks.example.com/in?token=secret-7' });
});
afterAll(() => dashboard.close());

const endpointOf = (id: Id) =>
  WebhookEndpoint.findOne({ _id: id }).setOptions(acrossAccounts).lean<WebhookEndpointRecord>();
const lastEntry = () => AuditEntry.findOne({ target: endpointId }).sort({ _id: -1 }).lean();
const lastEvent = (type: string) => Event.findOne({ account_id: accountId, type }).sort({ sequence: -1 }).lean();
const at = (path: string) => `/endpoints/${endpointId}/${path}`;

test('when an operator disables an endpoint and enables it, then its deliveries are suspended and resume, its account sees who it was, and the log names the operator', async () => {
  const id = await addDelivery({ accountId, endpointId, status: 'pending', dueMinutesAgo: 1 });
  const statusOf = async () => (await Delivery.findOne({ _id: id, account_id: accountId }).lean())?.status;

  const { status, headers } = await operator.post(at('disable'));

  expect(status).toBe(303);
  expect((await operator.get(String(headers.get('location')))).text).toContain(
    'The endpoint at hooks.example.com is disabled; its deliveries are suspended.',
  );
  const disabled = (await endpointOf(endpointId)) as WebhookEndpointRecord;
  expect(endpointView(disabled)).toMatchObject({ enabled: false, disabled_reason: 'operator' });
  expect(webhookResponse.validate(endpointView(disabled)).error).toBeUndefined();
  expect(JSON.parse(String((await lastEvent('endpoint.disabled'))?.body)).data).toEqual(endpointView(disabled));
  expect(await statusOf()).toBe('held');
  expect(await lastEntry()).toMatchObject({ action: 'webhook.disable', operator: operator.name, outcome: 'done' });
  expect((await lastEntry())?.detail).not.toContain('secret-7');
  expect((await operator.get(`/endpoints/${endpointId}`)).text).toContain('An operator disabled it');
  expect((await viewer.get(`/deliveries/${id}`)).text).toContain('An operator disabled it; enabling the endpoint');

  const nudges = dashboard.nudges();
  await operator.post(at('enable'));

  const enabled = await endpointOf(endpointId);
  expect([enabled?.enabled, enabled?.disabled_reason]).toEqual([true, undefined]);
  expect(await statusOf()).toBe('pending');
  expect(dashboard.nudges()).toBeGreaterThan(nudges);
  expect(await lastEntry()).toMatchObject({ action: 'webhook.enable', outcome: 'done' });
});

test('when two operators disable an endpoint at once, then one of them does, and the page of the other says that nothing was changed', async () => {
  const answers = await Promise.all([operator.post(at('disable')), operator.post(at('disable'))]);

  expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 409]);
  expect(answers.find(({ status }) => status === 409)?.text).toContain(
    'The endpoint is disabled already; nothing was changed',
  );
  expect((await endpointOf(endpointId))?.pauses).toHaveLength(1);
  expect(await Event.countDocuments({ account_id: accountId, type: 'endpoint.disabled' })).toBeGreaterThan(0);
});

test('when an attempt ends with 410 after an operator disabled the endpoint, then the reason stays that of the operator', async () => {
  const called = (await endpointOf(endpointId)) as WebhookEndpointRecord;
  await operator.post(at('disable'));

  expect(await recordGone(called, { at: new Date(), error_class: 'gone', response_status: 410 })).toBe(true);

  expect((await endpointOf(endpointId))?.disabled_reason).toBe('operator');
});

test('when an operator pings an endpoint, then it alone gets a ping; a disabled one gets none, and the page says why', async () => {
  const { status } = await operator.post(at('ping'));

  expect(status).toBe(303);
  expect(String((await lastEvent('ping'))?.endpoint_id)).toBe(endpointId);
  expect(await lastEntry()).toMatchObject({ action: 'webhook.ping', outcome: 'done' });
  await operator.post(at('disable'));
  const refused = await operator.post(at('ping'));
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('The webhook is disabled')]);
  expect(await lastEntry()).toMatchObject({ action: 'webhook.ping', outcome: 'failed' });
});

test.each(['enable', 'disable', 'ping'])(
  'when the account deletes the endpoint while an operator asks to %s it, then the page says so',
  async (path) => {
    const create = AuditEntry.create.bind(AuditEntry) as (...given: unknown[]) => Promise<never>;
    jest.spyOn(AuditEntry, 'create').mockImplementationOnce((async (...given: unknown[]) => {
      await WebhookEndpoint.deleteOne({ _id: endpointId, account_id: accountId });
      return create(...given);
    }) as never);

    const { status, text } = await operator.post(at(path));

    expect([status, text]).toEqual([404, expect.stringContaining('its account has deleted it. Nothing was changed.')]);
    expect(await lastEntry()).toMatchObject({ outcome: 'failed' });
    const later = await operator.post(at(path));
    expect([later.status, later.text]).toEqual([404, expect.stringContaining('it may have been deleted')]);
  },
);

test('when a viewer or another site asks, then nothing is changed, and viewers see no button', async () => {
  for (const path of ['enable', 'disable', 'ping']) {
    expect((await viewer.post(at(path))).status).toBe(403);
    expect((await operator.post(at(path), { csrf: 'guessed' })).status).toBe(403);
    expect((await operator.post(at(path), {}, { Origin: 'https://evil.example.com' })).status).toBe(403);
  }
  expect((await endpointOf(endpointId))?.enabled).toBe(true);
  const refused = await AuditEntry.find({ operator: viewer.name, action: 'act', outcome: 'refused' }).lean();
  expect(refused.map(({ target }) => target).toSorted()).toEqual(
    ['disable', 'enable', 'ping'].map((path) => `POST ${at(path)}`),
  );
  expect((await viewer.get(`/endpoints/${endpointId}`)).text).not.toContain('<form method="post" action="/endpoints');
  expect((await operator.get(`/endpoints/${endpointId}`)).text).toContain(`action="${at('disable')}"`);
});

test('when endpoints fail or are disabled, then the list has their rate of the last day and their last failure, and no delivery is read for it', async () => {
  const url = 'https://flaky.example.com/in';
  const flaky = await addEndpoint(accountId, { url, failures: 7, failingMinutes: 9 });
  const off = await addEndpoint(accountId, { url: 'https://off.example.com/', enabled: false, reason: 'operator' });
  const gone = (await endpointOf(endpointId)) as WebhookEndpointRecord;
  await recordGone(gone, { at: new Date(), error_class: 'gone', response_status: 410 });
  await recordFailure((await endpointOf(flaky)) as WebhookEndpointRecord, {
    at: new Date(),
    error_class: 'status',
    response_status: 503,
  });
  for (const status of ['delivered', 'dead', 'held', 'pending'] as const)
    await addDelivery({ accountId, endpointId: flaky, status });
  await addDelivery({ accountId, endpointId: flaky, status: 'dead', minutesAgo: 25 * 60 });
  const rowOf = (text: string, id: Id) => text.split('<tr>').find((row) => row.includes(`/endpoints/${id}`));

  const { text } = await viewer.get('/endpoints');

  expect(rowOf(text, flaky)).toContain('25 % of 4');
  expect(rowOf(text, flaky)).toContain('status 503');
  expect(rowOf(text, flaky)).toContain('Bureau &lt;b>');
  expect(rowOf(text, endpointId)).toContain('gone 410');
  expect(rowOf(text, off)).toContain('disabled (operator)');
  expect(rowOf((await viewer.get('/endpoints?state=disabled')).text, off)).toBeDefined();
  expect(rowOf((await viewer.get('/endpoints?state=failing')).text, off)).toBeUndefined();
  const reads = await plansOf(Delivery.collection.name, () => viewer.get('/endpoints'));
  expect(reads.length).toBeGreaterThan(0);
  expect(reads.map(({ isByIndex, docsExamined }) => [isByIndex, docsExamined])).toEqual(reads.map(() => [true, 0]));

  await recordSuccess((await endpointOf(flaky)) as WebhookEndpointRecord);
  expect(await endpointOf(flaky)).not.toHaveProperty('last_failure');
});

test('when an endpoint has more deliveries than are counted, then counting stops, and the rate says what is known', async () => {
  const endpoint = (await endpointOf(endpointId)) as WebhookEndpointRecord;
  const id = await addDelivery({ accountId, endpointId, status: 'delivered', last: { responseStatus: 204 } });
  const stored = await Delivery.collection.findOne({ _id: (await deliveryOf(id))?._id as never });
  const copies = Array.from({ length: RATE_COUNTED_MAX + 50 }, (_, index) => ({
    ...stored,
    _id: `copy ${index}` as never,
  }));
  await Delivery.collection.insertMany(copies);
  await addDelivery({ accountId, endpointId, status: 'dead' });

  const [read] = await plansOf(Delivery.collection.name, () => readDeliveryRates([endpoint]));
  const rate = (await readDeliveryRates([endpoint])).get(endpointId);

  expect(read?.keysExamined).toBeLessThanOrEqual(RATE_COUNTED_MAX + 5);
  expect(rate).toEqual({ delivered: RATE_COUNTED_MAX, undelivered: 1 });
  expect(rate && rateText(rate)).toBe('at least 99 %');
  expect(rateText({ delivered: 1, undelivered: RATE_COUNTED_MAX })).toBe('at most 0 %');
  expect(rateText({ delivered: RATE_COUNTED_MAX, undelivered: RATE_COUNTED_MAX })).toBe('over 1,000 each way');
});

const deliveryOf = (id: Id) => Delivery.findOne({ _id: id, account_id: accountId }).lean();
