// Lists of deliveries and replays over HTTP, as accounts grow large and events old.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { newId, storedId, wireId } from '#libs/models/tenant.ts';
import { Delivery, deliveryId } from '#libs/models/webhooks/delivery.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { resultWithin } from '#libs/with-timeout.ts';
import { insertDeliveries } from '../../../services/webhooks/store/new-deliveries.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { plansOf } from '../../support/plans.ts';
import { announcedEvent, register } from '../../support/webhooks.ts';

const DAY_MS = 24 * 3_600_000;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** An account with an endpoint that no service calls. */
async function subscribed() {
  const { id: accountId, key } = await gateway.workspace.account();
  const { endpoint } = await register(gateway.workspace, accountId, 'http://127.0.0.1:9/hook');
  const at = `/api/v1/webhooks/${endpoint.id}`;
  return {
    accountId,
    key,
    endpointId: endpoint.id,
    get: (path: string) => gateway.get(at + path, { key }),
    replay: async (since: Date, only: string) =>
      (await gateway.post(`${at}/replay`, { since: since.toISOString(), only }, { key })).body.data,
  };
}

test('when events since a time are replayed, then they are read along an index, not sorted, and within a time limit', async () => {
  const { accountId, replay } = await subscribed();
  const common = { account_id: storedId(accountId), type: 'client.created', body: '{}' };
  const at = (index: number) => new Date(Date.now() - index * 1_000);
  await Event.insertMany(
    Array.from({ length: 50 }, (_, index) => ({ ...common, sequence: index + 1, created_at: at(index) })),
  );

  let result: unknown;
  const plans = await plansOf(Event.collection.name, async () => {
    result = await replay(new Date(Date.now() - DAY_MS), 'all');
  });

  expect(result).toEqual({ deliveries: 50, next_since: null });
  expect(plans).toEqual([
    { command: 'find', hasSortStage: false, isByIndex: true, docsExamined: 50, keysExamined: 50, maxTimeMS: 5_000 },
  ]);
});

test('when many replays since a time come at once, then an account makes four of them at a time', async () => {
  const { accountId, replay } = await subscribed();
  await announcedEvent(accountId);
  const written = Delivery.bulkWrite.bind(Delivery) as (...of: unknown[]) => Promise<unknown>;
  let [inFlight, most] = [0, 0];
  const writes = jest.spyOn(Delivery, 'bulkWrite').mockImplementation((async (...of: unknown[]) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    await pause(50);
    inFlight -= 1;
    return written(...of);
  }) as never);
  const since = new Date(Date.now() - DAY_MS);
  const replies = await Promise.all(Array.from({ length: 12 }, () => replay(since, 'all')));
  writes.mockRestore();

  expect(replies).toEqual(Array(12).fill({ deliveries: expect.any(Number), next_since: null }));
  expect(most).toBeLessThanOrEqual(4);
});

test('when undelivered events are replayed, then no event is sent whose delivery may have been removed since it succeeded', async () => {
  const { accountId, endpointId, replay } = await subscribed();
  const [old, given, lately] = [
    await announcedEvent(accountId),
    await announcedEvent(accountId),
    await announcedEvent(accountId),
  ];
  const happened = async (event: typeof old, daysAgo: number) =>
    Event.updateOne({ _id: event._id, account_id: accountId }, { created_at: new Date(Date.now() - daysAgo * DAY_MS) });
  for (const event of [old, given]) await happened(event, 91);
  await happened(lately, 89);
  // Its record shows that it was not delivered.
  await insertDeliveries([{ event: given, endpointIds: [storedId(endpointId)] }], new Date());
  await Delivery.updateOne({ event_id: given._id, account_id: accountId }, { status: 'dead' });
  const since = new Date(Date.now() - 100 * DAY_MS);
  const statuses = async () =>
    new Map((await Delivery.find({ account_id: accountId }).lean()).map((one) => [wireId(one._id), one.status]));
  const idOf = ({ _id }: typeof old) => deliveryId(wireId(_id), endpointId);

  expect(await replay(since, 'undelivered')).toEqual({ deliveries: 2, next_since: null });
  expect(await statuses()).toEqual(
    new Map([
      [idOf(given), 'pending'],
      [idOf(lately), 'pending'],
    ]),
  );
  expect(await replay(since, 'all')).toEqual({ deliveries: 1, next_since: null });
  expect((await statuses()).get(idOf(old))).toBe('pending');
});

test('when a replay takes long, then other writes of its account are served meanwhile', async () => {
  const { accountId, key, replay } = await subscribed();
  await announcedEvent(accountId);
  const latch = Promise.withResolvers<void>();
  const bulkWrite = Delivery.bulkWrite.bind(Delivery);
  const writes = jest.spyOn(Delivery, 'bulkWrite');
  writes.mockImplementationOnce((async (...args: Parameters<typeof bulkWrite>) => {
    await latch.promise;
    return bulkWrite(...args);
  }) as never);
  try {
    const replayed = replay(new Date(Date.now() - DAY_MS), 'all');
    await eventually(() => writes.mock.calls.length === 1);

    const made = gateway.post('/api/v1/clients', { name: 'Ada', email: 'ada@example.com' }, { key });
    expect(await resultWithin(60_000, made)).toMatchObject({ status: 201 });
    latch.resolve();

    expect(await replayed).toEqual({ deliveries: 1, next_since: null });
  } finally {
    latch.resolve();
    writes.mockRestore();
  }
});

test.each(['', '?status=pending'])(
  'when the deliveries of an endpoint are listed%s, then they are counted in an index alone',
  async (query) => {
    const { accountId, endpointId, get } = await subscribed();
    const event = await announcedEvent(accountId);
    await insertDeliveries([{ event, endpointIds: [storedId(endpointId), storedId(newId())] }], new Date());

    const plans = await plansOf(Delivery.collection.name, async () => {
      const { body } = await get(`/deliveries${query}`);
      expect(body).toMatchObject({ data: [{ webhook_id: endpointId }], pagination: { total: 1 } });
    });

    expect(plans.find(({ command }) => command !== 'find')).toMatchObject({
      command: 'count',
      isByIndex: true,
      docsExamined: 0,
    });
    expect(plans.find(({ command }) => command === 'find')).toMatchObject({ hasSortStage: false, docsExamined: 1 });
  },
);
