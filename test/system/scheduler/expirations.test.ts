// Schedulers as processes, beside each other and stopped with work left: each expiry event is written once.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addDays, dayIn } from '#libs/day.ts';
import { AppError } from '#libs/errors.ts';
import { Invoice, type InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { newId, storedId } from '#libs/models/tenant.ts';
import { Event, type EventRecord } from '#libs/models/webhooks/event.ts';
import { eventually } from '../../support/eventually.ts';
import { callerOf, startGateway, type TestGateway } from '../../support/gateway.ts';
import { emitExpirations, planReminders } from '../../support/rounds.ts';
import { type SpawnedService, spawnService } from '../../support/spawn-service.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

async function user() {
  const account = await gateway.workspace.account();
  const call = callerOf(gateway.url, account.key);
  const send = async (path: string, body: unknown) => (await call('POST', `/api/v1${path}`, { body })).body.data;
  const client = await send('/clients', { name: 'Ada', email: 'ada@example.com' });
  return {
    id: account.id,
    invoice: (due_date: string): Promise<{ id: string }> =>
      send('/invoices', { client_id: client.id, amount: 100, due_date, status: 'Sent' }),
    /** Returns the ids of the invoices that have an event, one for each event. */
    overdue: async () => {
      const events = await Event.find({ account_id: account.id, type: 'invoice.overdue' }).lean<EventRecord[]>();
      return events.map(({ body }) => String(JSON.parse(body).data.id));
    },
  };
}

async function lagSeconds({ healthUrl }: SpawnedService): Promise<number> {
  const text = await (await fetch(`${healthUrl}/metrics`)).text();
  return Number(/^billhook_scheduler_lag_seconds (\S+)$/m.exec(text)?.[1]);
}

/** Runs a round as a poller does: what an account was too busy for is left to the next one. */
async function roundOfPoller(): Promise<undefined> {
  await emitExpirations().catch((error: Error) => {
    if (!(error.cause instanceof AppError) || error.cause.code !== 'record_busy') throw error;
  });
}

test('when two schedulers and four more pollers find the same invoices, then each has one event, and no lag is left', async () => {
  const me = await user();
  const yesterday = addDays(dayIn('UTC'), -1);
  const ids: string[] = [];
  for (let count = 0; count < 20; count += 1) ids.push((await me.invoice(yesterday)).id);
  const schedulers = await Promise.all([
    spawnService('scheduler', gateway.workspace),
    spawnService('scheduler', gateway.workspace),
    ...Array.from({ length: 4 }, () => roundOfPoller()),
  ]);
  const started = schedulers.flatMap((scheduler) => scheduler ?? []);
  try {
    await eventually(async () => (await me.overdue()).length >= ids.length);
    await Promise.all([emitExpirations(), emitExpirations()]);
    const emitted = await me.overdue();
    expect(emitted.toSorted()).toEqual(ids.toSorted());
    // The lag is also that of their reminders, which other rounds of the schedulers look at.
    await planReminders();
    expect(await Promise.all(started.map(lagSeconds))).toEqual([0, 0]);
  } finally {
    expect(await Promise.all(started.map((scheduler) => scheduler.stop()))).toEqual([0, 0]);
  }
});

test('when a scheduler is stopped with very many events left, then it exits with 0 before it has written all of them', async () => {
  const MANY = 1_000;
  const me = await user();
  await me.invoice(addDays(dayIn('UTC'), -2));
  const one = (await Invoice.findOne({ account_id: me.id }).lean<InvoiceRecord>()) as InvoiceRecord;
  const copies = Array.from({ length: MANY }, (_, index) => ({
    ...one,
    _id: storedId(newId()),
    number: 1_000 + index,
  }));
  await Invoice.collection.insertMany(copies as object[]);
  const service = await spawnService('scheduler', gateway.workspace);
  await eventually(async () => (await me.overdue()).length > 0);

  expect(await service.stop()).toBe(0);
  expect((await me.overdue()).length).toBeLessThan(MANY);
});
