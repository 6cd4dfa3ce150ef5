// Recurring invoices: each occurrence is made once, on the account's day, even after a downtime; an error says why it cannot be made.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { NotDue } from '#libs/billing/recurring/due-occurrence.ts';
import { skipOccurrence } from '#libs/billing/recurring/run-recurring.ts';
import { runUnitOfWork } from '#libs/billing/unit-of-work.ts';
import { addDays, dayIn } from '#libs/day.ts';
import { Client } from '#libs/models/accounts/client.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { NumberLedger } from '#libs/models/billing/number-ledger.ts';
import { RecurringInvoice } from '#libs/models/billing/recurring-invoice.ts';
import { RecurringRun } from '#libs/models/billing/recurring-run.ts';
import { readSchedulerBacklog } from '#libs/models/billing/scheduler-backlog.ts';
import { newId, storedId } from '#libs/models/tenant.ts';
import { TimeEntry } from '#libs/models/time/time-entry.ts';
import { callerOf, startGateway, type TestGateway, type Verbs, verbsOf } from '../../support/gateway.ts';
import { runRecurringInvoices } from '../../support/rounds.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const FEE = [{ description: 'Support in {month} {year}', quantity: 1, rate: 450 }];
const YEAR = Number(dayIn('UTC').slice(0, 4)) + 1;
const FIRST = `${YEAR}-01-31`;
/** The first Sunday on a day or after it. */
const sundayFrom = (day: string) => addDays(day, (7 - new Date(`${day}T00:00:00Z`).getUTCDay()) % 7);
const noonOf = (day: string) => new Date(`${day}T12:00:00Z`);

interface Agency {
  id: string;
  api: Verbs;
  client: string;
  project: string;
  recurring(fields?: object): Promise<string>;
  read(id: string): Promise<Record<string, unknown>>;
  invoices(): Promise<Record<string, unknown>[]>;
  events(): Promise<string[]>;
}

async function agency({ timeZone = 'UTC', client: clientFields = {} } = {}): Promise<Agency> {
  const account = await gateway.workspace.account({ timeZone });
  const api = verbsOf(callerOf(gateway.url, account.key));
  const made = async (path: string, body: object) => (await api.post(path, body)).body.data.id as string;
  const client = await made('/api/v1/clients', { name: 'Ada', email: 'ada@example.com', ...clientFields });
  const project = await made('/api/v1/projects', { name: 'Engine', client_id: client, hourly_rate: 100 });
  return {
    id: account.id,
    api,
    client,
    project,
    recurring: (fields = {}) =>
      made('/api/v1/recurring-invoices', {
        client_id: client,
        line_items: FEE,
        schedule: { unit: 'month', start_on: FIRST },
        ...fields,
      }),
    read: async (id) => (await api.get(`/api/v1/recurring-invoices/${id}`)).body.data,
    invoices: async () => (await api.get('/api/v1/invoices?sort=created_at')).body.data,
    events: async () => {
      const { data } = (await api.get('/api/v1/events?limit=100')).body;
      return data.map(({ type }: { type: string }) => type).filter((type: string) => type.startsWith('recurring'));
    },
  };
}

const periodsOf = (invoices: Record<string, unknown>[]) =>
  invoices.map(({ recurring }) => (recurring as { period_from: string }).period_from);

describe('on the due day', () => {
  test('when the day has come, then one invoice is made with its month in the texts, and the next one is due on the last of February', async () => {
    const me = await agency();
    const id = await me.recurring({ create_as: 'Sent' });
    await runRecurringInvoices(noonOf(addDays(FIRST, -1)));
    expect(await me.invoices()).toEqual([]);
    await runRecurringInvoices(noonOf(FIRST));
    await runRecurringInvoices(noonOf(FIRST));
    const [invoice, ...more] = await me.invoices();
    expect(more).toEqual([]);
    expect(invoice).toMatchObject({
      status: 'Sent',
      amount: 450,
      due_date: addDays(FIRST, 30),
      line_items: [{ description: `Support in January ${YEAR}`, qty: '1', rate: '450' }],
      recurring: { id, occurrence: 1, period_from: FIRST },
      service_period: { from: FIRST },
    });
    expect(await me.read(id)).toMatchObject({
      status: 'Active',
      next_on: addDays(`${YEAR}-03-01`, -1),
      occurrences_made: 1,
      last_invoice: { invoice_number: 'INV-0001' },
    });
    expect(await me.events()).toEqual(['recurring_invoice.created', 'recurring_invoice.ran']);
    const { data } = (await me.api.get(`/api/v1/recurring-invoices/${id}/occurrences`)).body;
    expect(data).toMatchObject([{ occurrence: 1, due_on: FIRST, invoice: { invoice_number: 'INV-0001' } }]);
  });

  test.each([
    ['Pacific/Kiritimati', FIRST, `${addDays(FIRST, -1)}T10:00:00Z`],
    ['Pacific/Honolulu', FIRST, `${FIRST}T10:00:00Z`],
    // Both changes to daylight saving time and back, and one that skips midnight: the day begins at one.
    ['Europe/Berlin', sundayFrom(`${YEAR}-03-25`), `${addDays(sundayFrom(`${YEAR}-03-25`), -1)}T23:00:00Z`],
    ['Europe/Berlin', sundayFrom(`${YEAR}-10-25`), `${addDays(sundayFrom(`${YEAR}-10-25`), -1)}T22:00:00Z`],
    ['America/Santiago', sundayFrom(`${YEAR}-09-02`), `${sundayFrom(`${YEAR}-09-02`)}T04:00:00Z`],
  ])(
    'when the account is in %s and the day is %s, then the invoice is made at the first moment of that day',
    async (timeZone, day, midnight) => {
      const me = await agency({ timeZone });
      await me.recurring({ schedule: { unit: 'week', start_on: day } });
      await runRecurringInvoices(new Date(Date.parse(midnight) - 1));
      expect(await me.invoices()).toEqual([]);
      await runRecurringInvoices(new Date(midnight));
      expect(await me.invoices()).toHaveLength(1);
    },
  );

  test('when a run is late, then the days after it are still computed from the first one', async () => {
    const me = await agency();
    const id = await me.recurring();
    await runRecurringInvoices(noonOf(`${YEAR}-02-10`));
    await runRecurringInvoices(noonOf(`${YEAR}-03-20`));
    await runRecurringInvoices(noonOf(`${YEAR}-03-31`));
    const february = addDays(`${YEAR}-03-01`, -1);
    expect(periodsOf(await me.invoices())).toEqual([FIRST, february, `${YEAR}-03-31`]);
    expect(await me.read(id)).toMatchObject({ next_on: `${YEAR}-04-30` });
  });

  test('when the count is reached, then the recurring invoice ends, with one event', async () => {
    const me = await agency();
    const id = await me.recurring({ schedule: { unit: 'month', start_on: FIRST, count: 1 } });
    await runRecurringInvoices(noonOf(FIRST));
    await runRecurringInvoices(noonOf(`${YEAR + 1}-01-01`));
    expect(await me.read(id)).toMatchObject({ status: 'Ended', next_on: null, upcoming: [] });
    expect((await me.events()).slice(-2)).toEqual(['recurring_invoice.ran', 'recurring_invoice.ended']);
    const again = await me.api.post(`/api/v1/recurring-invoices/${id}/run`, {});
    expect([again.status, again.body]).toEqual([
      409,
      expect.objectContaining({ error: 'Recurring invoice has ended' }),
    ]);
  });
});

describe('a fee in arrears', () => {
  const february = addDays(`${YEAR}-03-01`, -1);

  test('when its day comes, then its period ends the day before, in texts, invoice and list of occurrences', async () => {
    const me = await agency();
    const id = await me.recurring({
      fee_period: 'in_arrears',
      line_items: [{ ...FEE[0], description: '{from} to {to}' }],
    });
    await runRecurringInvoices(noonOf(FIRST));
    await runRecurringInvoices(noonOf(february));
    const before = { from: `${YEAR - 1}-12-31`, to: addDays(FIRST, -1) };
    const after = { from: FIRST, to: addDays(february, -1) };
    expect(await me.invoices()).toMatchObject([
      { service_period: before, recurring: { period_from: before.from, period_to: before.to } },
      { service_period: after, recurring: { period_from: after.from, period_to: after.to } },
    ]);
    const [first] = (await me.invoices()) as { line_items: { description: string }[] }[];
    expect(first?.line_items[0]?.description).toBe(`Dec 31, ${YEAR - 1} to Jan 30, ${YEAR}`);
    expect((await me.api.get(`/api/v1/recurring-invoices/${id}/occurrences`)).body.data).toMatchObject([
      { due_on: february, period_from: after.from, period_to: after.to },
      { due_on: FIRST, period_from: before.from, period_to: before.to },
    ]);
  });

  test('when its rhythm changes, then no day is billed twice; and it cannot move to the other side of its day', async () => {
    const me = await agency();
    const id = await me.recurring({ fee_period: 'in_arrears' });
    await runRecurringInvoices(noonOf(FIRST));
    const path = `/api/v1/recurring-invoices/${id}`;
    const { body } = await me.api.patch(path, { schedule: { unit: 'month', start_on: FIRST, day: 15 } });
    expect(body.data).toMatchObject({ next_on: `${YEAR}-02-15`, fee_period: 'in_arrears' });
    await runRecurringInvoices(noonOf(`${YEAR}-02-15`));
    expect((await me.invoices())[1]).toMatchObject({ service_period: { from: FIRST, to: `${YEAR}-02-14` } });
    expect((await me.api.patch(path, { fee_period: 'in_advance' })).body).toMatchObject({
      error: 'fee_period cannot be changed after the first occurrence',
    });
    expect((await me.api.patch(path, { fee_period: 'in_arrears' })).status).toBe(200);
  });
});

describe('after a downtime', () => {
  test('when four months were missed, then all four are made as drafts with one event, and the next one is made as planned', async () => {
    const me = await agency();
    await me.recurring({ create_as: 'Sent' });
    await runRecurringInvoices(noonOf(`${YEAR}-05-01`));
    expect((await me.invoices()).map(({ status }) => status)).toEqual(['Draft', 'Draft', 'Draft', 'Draft']);
    const catchUps = (await me.events()).filter((type) => type === 'recurring_invoice.caught_up');
    expect(catchUps).toHaveLength(1);
    await runRecurringInvoices(noonOf(`${YEAR}-05-31`));
    expect((await me.invoices()).map(({ status }) => status)).toEqual(['Draft', 'Draft', 'Draft', 'Draft', 'Sent']);
  });

  test('when the scheduler was down for 400 days, then no occurrence of any schedule is missing or made twice', async () => {
    const me = await agency();
    for (const unit of ['week', 'month', 'year']) await me.recurring({ schedule: { unit, start_on: FIRST } });
    await runRecurringInvoices(noonOf(addDays(FIRST, 400)));
    const runs = await RecurringRun.countDocuments({ account_id: me.id });
    expect(runs).toBe(58 + 14 + 2);
    expect((await me.api.get('/api/v1/invoices?limit=1')).body.pagination.total).toBe(runs);
  });

  test('when four schedulers run at once, then each occurrence is made once', async () => {
    const agencies = await Promise.all(Array.from({ length: 3 }, () => agency()));
    for (const me of agencies) for (let count = 0; count < 3; count += 1) await me.recurring();
    const at = noonOf(`${YEAR}-04-01`);
    // One that loses a conflict to the others may fail; the next round makes the rest.
    await Promise.allSettled(Array.from({ length: 4 }, () => runRecurringInvoices(at)));
    await runRecurringInvoices(at);
    for (const me of agencies) {
      const invoices = await Invoice.find({ account_id: me.id }).lean();
      const made = invoices.map(({ recurring }) => `${recurring.id} ${recurring.occurrence}`);
      expect(new Set(made).size).toBe(made.length);
      expect(made).toHaveLength(9);
      const numbers = invoices.map(({ number }) => number).toSorted((one, other) => one - other);
      expect(numbers).toEqual(numbers.map((_number, index) => index + 1));
    }
  });
});

test('when placeholders make a text longer than a line may be, then it is cut, so that the lines of the draft can be sent back', async () => {
  const me = await agency();
  await me.recurring({ line_items: [{ description: '{from} '.repeat(280), quantity: 1, rate: 450 }] });
  await runRecurringInvoices(noonOf(FIRST));
  const [invoice] = (await me.invoices()) as { id: string; line_items: { description: string }[] }[];
  expect(invoice?.line_items[0]?.description).toHaveLength(2_000);
  const back = await me.api.patch(`/api/v1/invoices/${invoice?.id}`, { line_items: invoice?.line_items });
  expect(back.status).toBe(200);
});

describe('time', () => {
  const log = (me: Agency, hours: number, date = '2026-01-05') =>
    me.api.post('/api/v1/time-entries', { project_id: me.project, hours, date });

  test('when 12 hours were logged and 10 are included, then the fee, the hours and the deduction of the included ones are lines', async () => {
    const me = await agency();
    await log(me, 12);
    await me.recurring({ include_time: { group_by: 'project', included_hours: 10 } });
    await runRecurringInvoices(noonOf(FIRST));
    const [invoice] = await me.invoices();
    expect(invoice).toMatchObject({ amount: 450 + 200 });
    expect(invoice?.['line_items']).toMatchObject([
      { qty: '1' },
      { qty: '12', unit: 'hour' },
      { qty: '-10', unit: 'hour' },
    ]);
    const { data } = (await me.api.get('/api/v1/time-entries?billing=on_draft')).body;
    expect(data).toMatchObject([{ hours: 12, invoice: { invoice_number: 'INV-0001' } }]);
  });

  test('when only time is billed, then the service period is that of the work, and follows it', async () => {
    const me = await agency();
    await log(me, 1, '2026-01-03');
    const last = (await log(me, 1, '2026-01-20')).body.data.id;
    await me.recurring({ line_items: null, include_time: { group_by: 'project' } });
    await runRecurringInvoices(noonOf(FIRST));
    const [invoice] = await me.invoices();
    expect(invoice).toMatchObject({ service_period: { from: '2026-01-03', to: '2026-01-20' } });
    const released = await me.api.post(`/api/v1/invoices/${invoice?.['id']}/time-entries/release`, {
      time_entry_ids: [last],
    });
    expect(released.body.data).toMatchObject({ service_period: { from: '2026-01-03', to: '2026-01-03' } });
  });

  test('when a fee and time are billed, then the service period covers both, and follows the time', async () => {
    const me = await agency();
    await log(me, 1, '2026-01-03');
    await me.recurring({ include_time: { group_by: 'project' } });
    await runRecurringInvoices(noonOf(FIRST));
    const [invoice] = await me.invoices();
    const until = addDays(`${YEAR}-03-01`, -2);
    expect(invoice).toMatchObject({ service_period: { from: '2026-01-03', to: until } });
    const released = await me.api.post(`/api/v1/invoices/${invoice?.['id']}/time-entries/release`, {});
    expect(released.body.data).toMatchObject({ service_period: { from: FIRST, to: until } });
  });

  test.each([
    ['entries', 1_003, 'project', 1_000],
    ['lines', 502, 'entry', 250],
  ])(
    'when there are too many %s, then the fee is billed with the oldest of them, and an event says so',
    async (_what, count, group_by, taken) => {
      const me = await agency();
      await log(me, 1);
      const one = await TimeEntry.findOne({ account_id: me.id }).lean();
      const copies = Array.from({ length: count - 1 }, (_, index) => ({
        ...one,
        _id: storedId(newId()),
        date: addDays('2026-01-05', 1 + (index % 300)),
      }));
      await TimeEntry.collection.insertMany(copies as never);
      await me.recurring({ include_time: { group_by } });
      await runRecurringInvoices(noonOf(FIRST));
      const [invoice] = await me.invoices();
      expect(invoice).toMatchObject({ amount: 450 + taken * 100 });
      const billed = await TimeEntry.find({ account_id: me.id, invoice_id: invoice?.['id'] }).sort({ date: -1 }).lean();
      const left = await TimeEntry.find({ account_id: me.id, invoice_id: null }).sort({ date: 1 }).lean();
      expect([billed.length, left.length]).toEqual([taken, count - taken]);
      expect(String(billed[0]?.date) <= String(left[0]?.date)).toBe(true);
      const { body } = await me.api.get('/api/v1/events?type=recurring_invoice.time_left');
      expect(body.data).toMatchObject([{ type: 'recurring_invoice.time_left' }]);
    },
  );

  test('when only time is billed and there is none, then the occurrence is skipped, and the next one is planned', async () => {
    const me = await agency();
    const id = await me.recurring({ line_items: null, include_time: { group_by: 'task' } });
    await runRecurringInvoices(noonOf(FIRST));
    expect(await me.invoices()).toEqual([]);
    const { data } = (await me.api.get(`/api/v1/recurring-invoices/${id}/occurrences`)).body;
    expect(data).toMatchObject([{ occurrence: 1, due_on: FIRST, invoice: null }]);
    expect(await me.read(id)).toMatchObject({ occurrences_made: 0, next_on: addDays(`${YEAR}-03-01`, -1) });
  });

  test('when another scheduler has left it out meanwhile, then the next occurrence is not left out with it', async () => {
    const me = await agency();
    const id = await me.recurring({ line_items: null, include_time: { group_by: 'task' } });
    const missed = { _id: storedId(id), next_index: 0 };
    const skip = () =>
      runUnitOfWork({ accountId: me.id, by: { type: 'schedule' } }, (unit) =>
        skipOccurrence(unit, missed, noonOf(`${YEAR}-03-15`)),
      );
    await skip();
    await expect(skip()).rejects.toThrow(NotDue);
    const { data } = (await me.api.get(`/api/v1/recurring-invoices/${id}/occurrences`)).body;
    expect(data).toMatchObject([{ occurrence: 1, due_on: FIRST, invoice: null }]);
  });

  test('when a rate is missing, then it stays due, says why, is tried once a day, and goes on when it is repaired', async () => {
    const me = await agency();
    await me.api.patch(`/api/v1/projects/${me.project}`, { hourly_rate: null });
    const entry = (await log(me, 1)).body.data.id;
    const id = await me.recurring({ include_time: { group_by: 'task' } });
    for (const moment of [noonOf(FIRST), noonOf(FIRST), noonOf(addDays(FIRST, 1))]) await runRecurringInvoices(moment);
    expect(await me.invoices()).toEqual([]);
    expect(await me.read(id)).toMatchObject({
      status: 'Active',
      next_on: FIRST,
      last_error: {
        message: `1 time entry has no rate: ${entry}`,
        code: 'validation_failed',
        params: {},
        problems: [{ field: 'rate', code: 'rate_missing', params: { count: 1, time_entry_ids: [entry] } }],
      },
    });
    expect((await me.events()).filter((type) => type.endsWith('failed'))).toHaveLength(2);
    await me.api.patch(`/api/v1/projects/${me.project}`, { hourly_rate: 80 });
    await runRecurringInvoices(noonOf(addDays(FIRST, 2)));
    expect(await me.invoices()).toMatchObject([{ amount: 530, recurring: { period_from: FIRST } }]);
    expect(await me.read(id)).toMatchObject({ last_error: null });
  });
});

describe('an occurrence that cannot be made', () => {
  const CAUSES: { cause: string; message: RegExp; quotaBytes?: number; happen?: (me: Agency) => Promise<unknown> }[] = [
    {
      cause: 'its client was anonymised',
      message: /^Client was anonymised/,
      happen: (me) => me.api.post(`/api/v1/clients/${me.client}/anonymise`, {}),
    },
    {
      cause: 'its client was deleted',
      message: /^Client not found or access denied$/,
      happen: (me) => Client.deleteOne({ _id: me.client, account_id: me.id }),
    },
    { cause: 'the account is over its quota', message: /MiB/, quotaBytes: 1 },
  ];

  test.each(CAUSES)(
    'when $cause, then it stays due with an error, draws no number and is retried once a day',
    async ({ happen, message, quotaBytes }) => {
      const me = await agency();
      const id = await me.recurring({ create_as: 'Sent' });
      await happen?.(me);
      for (const day of [FIRST, FIRST, addDays(FIRST, 1)]) await runRecurringInvoices(noonOf(day), { quotaBytes });
      expect(await me.invoices()).toEqual([]);
      expect(await me.read(id)).toMatchObject({
        status: 'Active',
        next_on: FIRST,
        occurrences_made: 0,
        last_error: { message: expect.stringMatching(message), at: noonOf(addDays(FIRST, 1)).toISOString() },
      });
      expect((await me.events()).filter((type) => type.endsWith('failed'))).toHaveLength(2);
      expect(await NumberLedger.countDocuments({ account_id: me.id })).toBe(0);
      expect(await RecurringRun.countDocuments({ account_id: me.id })).toBe(0);
      if (happen) return;
      // The cause is removed: the same occurrence is made, and the error is cleared.
      await runRecurringInvoices(noonOf(addDays(FIRST, 2)));
      expect(await me.invoices()).toMatchObject([{ recurring: { period_from: FIRST }, invoice_number: 'INV-0001' }]);
      expect(await me.read(id)).toMatchObject({ last_error: null, occurrences_made: 1 });
    },
  );

  test('when its number is already printed on another document, then it gets the next one, and the audit finds no gap', async () => {
    const me = await agency();
    const draft = { client_id: me.client, amount: 1, due_date: '2099-01-01' };
    const formatted = (start: number) =>
      me.api.patch('/api/v1/account', { number_formats: { invoice: { prefix: '{year}-', start, restart: 'yearly' } } });
    await formatted(2);
    const other = (await me.api.post('/api/v1/invoices', draft)).body.data.invoice_number;
    await me.api.patch('/api/v1/account', { number_formats: { invoice: { prefix: `${other.slice(0, 5)}` } } });
    await me.recurring();
    await me.recurring();
    await runRecurringInvoices(noonOf(FIRST));
    const numbers = (await me.invoices()).map(({ invoice_number }) => String(invoice_number).slice(5));
    expect(numbers).toEqual(['0002', '0001', '0003']);
    expect((await me.api.get('/api/v1/numbering/audit')).body.data).toMatchObject({ gapless: true });
  });
});

test('when a record without an account exists, then the invoices of other accounts are still made', async () => {
  const me = await agency();
  await me.recurring();
  const stray = { _id: newId(), account_id: newId(), client_id: newId(), currency: 'EUR', create_as: 'Draft' };
  const place = { status: 'Active', first_occurrence: 0, next_index: 0, next_on: FIRST, made: 0 };
  await RecurringInvoice.create({ ...stray, ...place, schedule: { every: 1, unit: 'month', start_on: FIRST } });
  try {
    await runRecurringInvoices(noonOf(FIRST)).catch(() => undefined);
    expect(await me.invoices()).toHaveLength(1);
  } finally {
    await RecurringInvoice.deleteOne({ _id: stray._id, account_id: stray.account_id });
  }
});

test('when thousands are due on the same day in later time zones, then one whose day has come does not wait for them', async () => {
  const [later, me] = [
    await agency({ timeZone: 'Pacific/Pago_Pago' }),
    await agency({ timeZone: 'Pacific/Kiritimati' }),
  ];
  const one = await RecurringInvoice.findOne({ _id: await later.recurring(), account_id: later.id }).lean();
  await RecurringInvoice.collection.insertMany(Array.from({ length: 2_500 }, () => ({ ...one, _id: newId() })));
  await me.recurring();
  // Invoices of the tests before wait for a look at their reminders.
  await Invoice.collection.updateMany({}, { $unset: { reminder_due_at: 1 } });
  try {
    const at = noonOf(addDays(FIRST, -1));
    expect((await readSchedulerBacklog(at)).oldestMs).toBe(2 * 3_600_000);
    await runRecurringInvoices(at);
    expect(await me.invoices()).toHaveLength(1);
    expect(await later.invoices()).toHaveLength(0);
  } finally {
    await RecurringInvoice.collection.deleteMany({ account_id: one?.account_id });
  }
});
