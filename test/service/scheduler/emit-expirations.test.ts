// Expiry events: each is written once, at midnight in the account's time zone, however many schedulers run.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addDays, dayIn } from '#libs/day.ts';
import { Invoice, type InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { readSchedulerBacklog } from '#libs/models/billing/scheduler-backlog.ts';
import { newId, storedId } from '#libs/models/tenant.ts';
import { Event, type EventRecord } from '#libs/models/webhooks/event.ts';
import { callerOf, startGateway, type TestGateway } from '../../support/gateway.ts';
import { emitExpirations, planReminders } from '../../support/rounds.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

async function user(timeZone = 'UTC') {
  const account = await gateway.workspace.account({ timeZone });
  const call = callerOf(gateway.url, account.key);
  const send = (method: string, path: string, body: unknown) => call(method, `/api/v1${path}`, { body });
  const client = await send('POST', '/clients', { name: 'Ada', email: 'ada@example.com' });
  const client_id = client.body.data.id as string;
  return {
    ...account,
    invoice: async (due_date: string, status = 'Sent') =>
      (await send('POST', '/invoices', { client_id, amount: 100, due_date, status })).body.data,
    quote: async (expires_at: string, status = 'Sent') =>
      (await send('POST', '/quotes', { client_id, amount: 100, expires_at, status })).body.data,
    patch: (path: string, body: unknown) => send('PATCH', path, body),
    get: (path: string) => call('GET', `/api/v1${path}`),
    expirations: async () => {
      const types = ['invoice.overdue', 'quote.expired'];
      const events = await Event.find({ account_id: account.id, type: { $in: types } })
        .sort({ sequence: 1 })
        .lean<EventRecord[]>();
      return events.map(({ type, body }) => ({ type, data: JSON.parse(body).data }));
    },
  };
}

const noonOf = (day: string) => new Date(`${day}T12:00:00Z`);
const DUE = addDays(dayIn('UTC'), 10);

test('when the due date of a sent invoice has passed, then invoice.overdue is emitted once, with the invoice as the API shows it', async () => {
  const me = await user();
  const invoice = await me.invoice(DUE);
  await emitExpirations(noonOf(DUE));
  expect(await me.expirations()).toEqual([]);
  await emitExpirations(noonOf(addDays(DUE, 1)));
  await emitExpirations(noonOf(addDays(DUE, 2)));
  const emitted = await me.expirations();
  expect(emitted).toEqual([
    { type: 'invoice.overdue', data: { ...invoice, status: 'Overdue', updated_at: expect.any(String) } },
  ]);
  expect(emitted[0]?.data.client).toMatchObject({ name: 'Ada' });
});

test('when the last day of a sent quote has passed, then quote.expired is emitted once', async () => {
  const me = await user();
  const quote = await me.quote(DUE);
  await emitExpirations(noonOf(DUE));
  expect(await me.expirations()).toEqual([]);
  await emitExpirations(noonOf(addDays(DUE, 1)));
  await emitExpirations(noonOf(addDays(DUE, 1)));
  expect(await me.expirations()).toMatchObject([{ type: 'quote.expired', data: { id: quote.id, status: 'Expired' } }]);
});

test.each([
  // Midnight after the due date in the account's time zone, in hours from midnight UTC.
  ['Pacific/Kiritimati', 10 - 24],
  ['Asia/Tokyo', 15 - 24],
  ['UTC', 0],
  ['Etc/GMT+12', 12],
])('when the time zone of the account is %s, then its own midnight counts', async (zone, hours) => {
  const me = await user(zone);
  await me.invoice(DUE);
  const midnight = Date.parse(`${addDays(DUE, 1)}T00:00:00Z`) + hours * 3_600_000;
  await emitExpirations(new Date(midnight - 1_000));
  expect(await me.expirations()).toEqual([]);
  await emitExpirations(new Date(midnight));
  expect(await me.expirations()).toHaveLength(1);
});

test('when an invoice was paid, cancelled, is a draft or got a later due date, then no event is emitted', async () => {
  const me = await user();
  const [paid, cancelled, moved] = [await me.invoice(DUE), await me.invoice(DUE), await me.invoice(DUE)];
  await me.invoice(DUE, 'Draft');
  await me.quote(DUE, 'Draft');
  const accepted = await me.quote(DUE);
  await me.patch(`/invoices/${paid.id}`, { status: 'Paid' });
  await me.patch(`/invoices/${cancelled.id}`, { status: 'Cancelled' });
  await me.patch(`/invoices/${moved.id}`, { due_date: addDays(DUE, 5) });
  await me.patch(`/quotes/${accepted.id}`, { status: 'Accepted' });
  await emitExpirations(noonOf(addDays(DUE, 1)));
  expect(await me.expirations()).toEqual([]);
  await emitExpirations(noonOf(addDays(DUE, 6)));
  expect(await me.expirations()).toMatchObject([{ data: { id: moved.id } }]);
});

test('when one document fails, then the events of all others are written, and the error names the document', async () => {
  const [me, other] = [await user(), await user()];
  const broken = await me.invoice(DUE);
  // So that it is found before the others.
  await Invoice.updateOne({ _id: broken.id, account_id: me.id }, { expires_on: addDays(DUE, -1) });
  await Invoice.collection.updateOne({ _id: storedId(broken.id) } as object, { $unset: { created_at: 1 } });
  const well = await other.invoice(DUE);
  const quote = await other.quote(DUE);
  try {
    await expect(emitExpirations(noonOf(addDays(DUE, 1)))).rejects.toThrow(broken.id);
    expect(await other.expirations()).toMatchObject([{ data: { id: well.id } }, { data: { id: quote.id } }]);
    expect(await me.expirations()).toEqual([]);
  } finally {
    await Invoice.deleteOne({ _id: broken.id, account_id: me.id });
  }
});

/** Stores so many sent invoices of the user and one more, which are due before all others. */
async function manyOf(me: Awaited<ReturnType<typeof user>>, count: number) {
  const day = addDays(DUE, -5);
  const { id } = await me.invoice(DUE);
  await Invoice.collection.updateOne({ _id: storedId(id) } as object, { $set: { due_date: day, expires_on: day } });
  const one = await Invoice.findOne({ _id: id, account_id: me.id }).lean<InvoiceRecord>();
  const copies = Array.from({ length: count }, (_, index) => ({
    ...one,
    _id: storedId(newId()),
    number: 1_000 + index,
  }));
  await Invoice.collection.insertMany(copies as object[]);
}

test('when one account has many documents of earlier days, then that of another does not wait for all of them', async () => {
  const [busy, me] = [await user(), await user()];
  await manyOf(busy, 60);
  await me.invoice(DUE);
  await emitExpirations(noonOf(addDays(DUE, 1)));

  const [mine] = await Event.find({ account_id: me.id, type: 'invoice.overdue' }).lean<EventRecord[]>();
  const before = { account_id: busy.id, type: 'invoice.overdue', created_at: { $lt: mine?.created_at } };
  expect(await Event.countDocuments(before as object)).toBeLessThan(30);
  expect(await busy.expirations()).toHaveLength(61);
});

test('when there are more than a round takes, then the last ones are among them, and further rounds take the rest', async () => {
  const [busy, me] = [await user(), await user()];
  await manyOf(busy, 9);
  await me.invoice(DUE);
  const round = () => emitExpirations(noonOf(addDays(DUE, 1)), undefined, { most: 4 });

  expect(await round()).toBe(6);
  expect(await me.expirations()).toHaveLength(1);
  expect([await round(), await round()]).toEqual([5, 0]);
});

test('when a round is aborted, then it finishes the current document and leaves the others to the next round', async () => {
  const me = await user();
  for (let count = 0; count < 3; count += 1) await me.invoice(DUE);
  let checks = 0;
  // Aborted while the first event is emitted.
  const signal = {
    get aborted() {
      checks += 1;
      return checks > 1;
    },
  } as AbortSignal;

  expect(await emitExpirations(noonOf(addDays(DUE, 1)), signal)).toBe(1);
  expect(await me.expirations()).toHaveLength(1);
  expect(await emitExpirations(noonOf(addDays(DUE, 1)))).toBe(2);
});

test.each([
  ['Pacific/Kiritimati', -14],
  ['UTC', 0],
  ['Etc/GMT+12', 12],
])(
  'when a day ends in %s, then the backlog counts from that midnight until the event is written',
  async (zone, hours) => {
    const me = await user(zone);
    await me.invoice(DUE);
    await me.quote(addDays(DUE, 1));
    const midnight = Date.parse(`${addDays(DUE, 1)}T00:00:00Z`) + hours * 3_600_000;
    await emitExpirations(new Date(midnight - 1));
    await planReminders(new Date(midnight - 1));
    const before = await readSchedulerBacklog(new Date(midnight - 1));

    expect(before).toEqual({ due: 0, oldestMs: 0 });
    expect(await readSchedulerBacklog(new Date(midnight + 90_000))).toEqual({ due: 1, oldestMs: 90_000 });
    await emitExpirations(new Date(midnight + 90_000));
    expect(await readSchedulerBacklog(new Date(midnight + 90_000))).toEqual({ due: 0, oldestMs: 0 });
  },
);
