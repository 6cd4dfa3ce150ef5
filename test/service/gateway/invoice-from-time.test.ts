// An invoice from unbilled time: each entry once, all or nothing, and each line is the product of its printed figures.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { driverOf } from '#libs/models/records.ts';
import { newId, storedId } from '#libs/models/tenant.ts';
import { Project } from '#libs/models/time/project.ts';
import { TimeEntry } from '#libs/models/time/time-entry.ts';
import { callerOf, startGateway, type TestGateway, type Verbs, verbsOf } from '../../support/gateway.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

interface Work {
  api: Verbs;
  client: string;
  project: string;
  task: string;
  log(changes?: object): Promise<string>;
  entry(id: string): Promise<Record<string, unknown>>;
}

/** A new account with a client, a project and a task. */
async function work(
  settings: { account?: object; client?: object; project?: object; task?: object } = {},
): Promise<Work> {
  const { key } = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, key));
  const made = async (path: string, body: object) => (await api.post(path, body)).body.data.id as string;
  if (settings.account) await api.patch('/api/v1/account', settings.account);
  const client = await made('/api/v1/clients', { name: 'Ada', email: 'ada@example.com', ...settings.client });
  const project = await made('/api/v1/projects', { name: 'Engine', client_id: client, ...settings.project });
  const task = await made('/api/v1/tasks', { name: 'Drawings', project_id: project, rate: 100, ...settings.task });
  return {
    api,
    client,
    project,
    task,
    log: (changes = {}) =>
      made('/api/v1/time-entries', { project_id: project, task_id: task, hours: 1, date: '2026-11-02', ...changes }),
    entry: async (id) => (await api.get(`/api/v1/time-entries/${id}`)).body.data,
  };
}

const bill = ({ api, client }: Work, body: object = {}, query = '') =>
  api.post(`/api/v1/invoices/from-time${query}`, { client_id: client, ...body });
const linesOf = (data: { line_items: { description: string; qty: string; rate: string }[] }) =>
  data.line_items.map(({ description, qty, rate }) => [description, qty, rate]);

describe('an invoice from time', () => {
  test('when 50 minutes at 100 are billed, then the line says 0.8333 and 83.33, and the entry is on the invoice', async () => {
    const w = await work();
    const id = await w.log({ hours: 50 / 60 });
    const { status, body } = await bill(w);
    expect([status, body.data]).toMatchObject([201, { status: 'Draft', amount: 83.33, currency: 'USD' }]);
    expect(linesOf(body.data)).toEqual([['Engine: Drawings', '0.8333', '100']]);
    expect(await w.entry(id)).toMatchObject({
      billing: 'on_draft',
      invoice: { id: body.data.id, invoice_number: 'INV-0001' },
      rate: 100,
      rate_from: 'task',
    });
    expect((await bill(w)).body).toEqual(expect.objectContaining({ error: 'Nothing to bill' }));
    const events = await w.api.get('/api/v1/events?limit=100');
    expect(events.body.data.slice(-2).map(({ type }: { type: string }) => type)).toEqual([
      'invoice.created',
      'time_entry.updated',
    ]);
    expect(events.body.data.at(-1).data).toMatchObject({ id, invoice: { invoice_number: 'INV-0001' } });
  });

  test('when it is a dry run, then the preview has the lines, no time is billed and no number drawn', async () => {
    const w = await work();
    await w.log();
    const preview = await bill(w, {}, '?dry_run=true');
    expect([preview.status, preview.body.data]).toMatchObject([200, { id: null, invoice_number: null, amount: 100 }]);
    expect((await bill(w)).body.data).toMatchObject({ invoice_number: 'INV-0001', amount: 100 });
  });

  test('when it is a dry run, then no entry is changed, not even in the transaction that is rolled back', async () => {
    const w = await work();
    await w.log();
    const changed: unknown[] = [];
    const listen = ({ command }: { command: { update?: string } }) => void changed.push(command.update);
    const client = mongoose.connection.getClient().on('commandStarted', listen);

    await bill(w, {}, '?dry_run=true');

    expect(changed).not.toContain(TimeEntry.collection.collectionName);
    await bill(w);
    expect(changed).toContain(TimeEntry.collection.collectionName);
    client.off('commandStarted', listen);
  });

  test('when an account asks for several previews at once, then one runs after the other', async () => {
    const w = await work();
    await w.log();
    const running = new Set<string>();
    let mostAtOnce = 0;
    const listen = ({ command }: { command: { txnNumber?: unknown; lsid?: { id: unknown } } }) => {
      const transaction = `${command.lsid?.id} ${command.txnNumber}`;
      if ('startTransaction' in command) running.add(transaction);
      mostAtOnce = Math.max(mostAtOnce, running.size);
      if ('abortTransaction' in command) running.delete(transaction);
    };
    const client = mongoose.connection.getClient().on('commandStarted', listen);

    const previews = await Promise.all(Array.from({ length: 6 }, () => bill(w, {}, '?dry_run=true')));

    client.off('commandStarted', listen);
    expect(previews.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(mostAtOnce).toBe(1);
  });

  test('when 8 callers bill overlapping time concurrently, then each entry is on one invoice and no hour is lost', async () => {
    const w = await work();
    for (let count = 0; count < 12; count += 1) await w.log({ date: `2026-11-${String(count + 1).padStart(2, '0')}` });
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        bill(w, { date_from: '2026-11-01', date_to: index % 2 === 0 ? '2026-11-12' : '2026-11-06' }),
      ),
    );
    const made = responses.filter(({ status }) => status === 201);
    const rejected = responses.filter(({ status }) => status !== 201);
    expect(made.reduce((sum, { body }) => sum + body.data.amount, 0)).toBe(1200);
    for (const { status, body } of rejected)
      expect([status, body]).toEqual([409, expect.objectContaining({ error: 'Nothing to bill' })]);
    const numbers = made.map(({ body }) => body.data.invoice_number).toSorted();
    expect(numbers).toEqual(numbers.map((_, index) => `INV-000${index + 1}`));
    expect((await w.api.get('/api/v1/time-entries?billing=unbilled')).body.pagination.total).toBe(0);
  });

  test('when a draft with time is deleted and a sent invoice cancelled, then the time is unbilled, with an event for each', async () => {
    const w = await work();
    const id = await w.log();
    const draft = (await bill(w)).body.data.id;
    expect((await w.api.delete(`/api/v1/invoices/${draft}`)).status).toBe(200);
    expect(await w.entry(id)).toMatchObject({ billing: 'unbilled', invoice: null });
    const sent = (await bill(w, { status: 'Sent' })).body.data.id;
    expect(await w.entry(id)).toMatchObject({ billing: 'billed' });
    expect((await w.api.patch(`/api/v1/time-entries/${id}`, { hours: 2 })).body).toMatchObject({
      error: 'Cannot change time on an issued invoice',
    });
    expect((await w.api.patch(`/api/v1/invoices/${sent}`, { status: 'Cancelled' })).status).toBe(200);
    expect(await w.entry(id)).toMatchObject({ billing: 'unbilled', invoice: null, rate: 100 });
    const events = (await w.api.get('/api/v1/events?type=time_entry.updated')).body.data;
    expect(events.map(({ data }: { data: { billing: string } }) => data.billing)).toEqual([
      'on_draft',
      'unbilled',
      'billed',
      'unbilled',
    ]);
  });

  test('when one task has two rates, then it has two lines; groups and texts are as requested', async () => {
    const w = await work();
    await w.log({ description: 'Mill' });
    await w.log({ hourly_rate: 120, date: '2026-11-03' });
    const preview = async (body: object) => linesOf((await bill(w, body, '?dry_run=true')).body.data);
    expect(await preview({})).toEqual([
      ['Engine: Drawings', '1', '120'],
      ['Engine: Drawings', '1', '100'],
    ]);
    expect(await preview({ group_by: 'entry', line_text: '{date} {description} ({hours} h)' })).toEqual([
      ['Nov 2, 2026 Mill (1 h)', '1', '100'],
      ['Nov 3, 2026 (1 h)', '1', '120'],
    ]);
    expect(
      await preview({ extra_lines: [{ description: 'Paper', quantity: 1, rate: 5 }], date_to: '2026-11-02' }),
    ).toEqual([
      ['Engine: Drawings', '1', '100'],
      ['Paper', '1', '5'],
    ]);
  });

  test('when project, client and account have rounding rules, then the closest one applies, and the request overrides all', async () => {
    const rule = { minutes: 30, mode: 'up', scope: 'day' };
    const w = await work({ account: { rounding: { minutes: 60, mode: 'up' } }, client: { rounding: rule } });
    for (let count = 0; count < 2; count += 1) await w.log({ hours: 5 / 60 });
    const qty = async (body: object = {}) => (await bill(w, body, '?dry_run=true')).body.data.line_items[0].qty;
    expect(await qty()).toBe('0.5');
    expect(await qty({ rounding: { mode: 'none' } })).toBe('0.1667');
    expect((await w.api.patch(`/api/v1/projects/${w.project}`, { rounding: { minutes: 15, mode: 'up' } })).status).toBe(
      200,
    );
    expect(await qty()).toBe('0.5');
    expect(await qty({ rounding: { minutes: 60, mode: 'up' } })).toBe('2');
    await w.api.patch(`/api/v1/projects/${w.project}`, { rounding: { mode: 'none' } });
    expect(await qty()).toBe('0.1667');
  });

  test('when an entry has no rate, then it is rejected by name, left out or billed at 0, as requested', async () => {
    const w = await work({ task: { rate: null } });
    const id = await w.log();
    await w.log({ hourly_rate: 10 });
    expect((await bill(w)).body).toMatchObject({
      error: 'Validation failed',
      details: { rate: [`1 time entry has no rate: ${id}`] },
    });
    const amounts = async (missing_rate: string) =>
      linesOf((await bill(w, { missing_rate }, '?dry_run=true')).body.data).map(([, qty, rate]) => [qty, rate]);
    expect(await amounts('skip')).toEqual([['1', '10']]);
    expect(await amounts('zero')).toEqual([
      ['1', '10'],
      ['1', '0'],
    ]);
    await w.api.patch(`/api/v1/clients/${w.client}`, { hourly_rate: 80, currency: 'EUR', payment_days: 7 });
    expect(await w.entry(id)).toMatchObject({ rate: null, rate_from: null });
    expect((await bill(w, { time_entry_ids: [id] })).body.data).toMatchObject({ amount: 80, currency: 'EUR' });
    expect(await w.entry(id)).toMatchObject({ rate: 80, rate_from: 'client' });
  });

  test('when time is not billable, settled or already billed, then a filter omits it and naming its id is 409', async () => {
    const w = await work();
    const [plain, free, settled] = [await w.log(), await w.log({ billable: false }), await w.log()];
    const settling = { time_entry_ids: [settled], status: 'billed_elsewhere' };
    expect((await w.api.post('/api/v1/time-entries/billing', settling)).body).toEqual({
      success: true,
      data: { status: 'billed_elsewhere', changed: 1 },
    });
    const named = async (id: string) => {
      const { status, body } = await bill(w, { time_entry_ids: [id] });
      return [status, body.error];
    };
    expect(await named(free)).toEqual([409, 'Time entry is not billable']);
    expect(await named(settled)).toEqual([409, 'Time entry is settled: set it to unbilled first']);
    expect((await bill(w)).body.data.amount).toBe(100);
    expect(await named(plain)).toEqual([409, 'Time entry is already on INV-0001']);
    expect((await w.api.patch(`/api/v1/time-entries/${settled}`, { hours: 2 })).status).toBe(409);
    expect(await named(w.client)).toEqual([404, 'Time entry not found or access denied']);
    const states = ['unbilled', 'on_draft', 'billed', 'billed_elsewhere', 'not_billable'];
    const counts = await Promise.all(
      states.map(async (state) => (await w.api.get(`/api/v1/time-entries?billing=${state}`)).body.pagination.total),
    );
    expect(counts).toEqual([0, 1, 0, 1, 1]);
  });

  test('when a list is filtered by state and invoice, or by project and client, then both apply', async () => {
    const w = await work();
    const [first, second] = [await w.log(), await w.log()];
    const draft = (await bill(w, { time_entry_ids: [first] })).body.data.id;
    const sent = (await bill(w, { time_entry_ids: [second], status: 'Sent' })).body.data.id;
    const other = (await w.api.post('/api/v1/clients', { name: 'Bo', email: 'bo@example.com' })).body.data.id;
    const listed = async (query: string) => {
      const { data, pagination } = (await w.api.get(`/api/v1/time-entries?${query}`)).body;
      expect(pagination.total).toBe(data.length);
      return data.map(({ id }: { id: string }) => id);
    };
    for (const [invoice, states] of [
      [draft, { on_draft: [first], billed: [], unbilled: [], not_billable: [], written_off: [] }],
      [sent, { on_draft: [], billed: [second], unbilled: [], not_billable: [], written_off: [] }],
    ] as const) {
      for (const [state, ids] of Object.entries(states)) {
        expect([state, await listed(`invoice_id=${invoice}&billing=${state}`)]).toEqual([state, ids]);
      }
    }
    expect(await listed(`project_id=${w.project}&client_id=${w.client}`)).toHaveLength(2);
    expect(await listed(`project_id=${w.project}&client_id=${other}`)).toEqual([]);
  });

  test('when a client has more projects than a condition names, then it is 400, and one of its projects is still found', async () => {
    const w = await work();
    const id = await w.log();
    const project = await driverOf(Project).findOne({ _id: storedId(w.project) });
    const many = Array.from({ length: 20_000 }, () => ({ ...project, _id: storedId(newId()), billing: 'none' }));
    await driverOf(Project).insertMany(many as never[]);
    const listed = (query: string) => w.api.get(`/api/v1/time-entries?${query}`);

    const problem = 'concerns more than 20000 records: filter by project_id or invoice_id';
    expect((await listed(`client_id=${w.client}`)).body.details).toEqual({ client_id: [`client_id ${problem}`] });
    const found = await listed(`client_id=${w.client}&project_id=${w.project}&billing=unbilled`);
    expect(found.body.data).toEqual([expect.objectContaining({ id })]);
    await driverOf(Project).deleteMany({ account_id: project?.account_id as never });
  });

  test('when unbilled time of one day is read page by page, then every entry is listed once', async () => {
    const w = await work();
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) ids.push(await w.log());
    const seen: string[] = [];
    for (let query = 'billing=unbilled&limit=2'; query; ) {
      const { body, headers } = await w.api.get(`/api/v1/time-entries?${query}`);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      query = /\?([^>]+)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1] ?? '';
    }
    expect(seen).toEqual(ids.toReversed());
  });

  test('when ids and a filter are combined, or another client is named, then 400 and nothing is billed', async () => {
    const w = await work();
    const id = await w.log();
    expect((await bill(w, { time_entry_ids: [id], date_from: '2026-11-01' })).body.details).toEqual({
      body: ['time_entry_ids must not stand beside date_from'],
    });
    const other = (await w.api.post('/api/v1/clients', { name: 'Bo', email: 'bo@example.com' })).body.data.id;
    expect((await bill(w, { client_id: other, time_entry_ids: [id] })).status).toBe(400);
    expect((await bill(w, { client_id: other, project_ids: [w.project] })).status).toBe(400);
    expect((await bill(w, { date_from: '2026-12-01', date_to: '2026-11-01' })).status).toBe(400);
    expect(await w.entry(id)).toMatchObject({ billing: 'unbilled' });
  });

  test('when more than 1,000 entries are selected, then 409; 1,000 are billed unless they give too many lines', async () => {
    const w = await work();
    const id = await w.log();
    const collection = (await import('mongoose')).default.connection.collection('time_entries');
    const [one] = await collection.find({}).sort({ _id: -1 }).limit(1).toArray();
    const { newId, storedId } = await import('#libs/models/tenant.ts');
    await collection.insertMany(Array.from({ length: 1_000 }, () => ({ ...one, _id: storedId(newId()) as never })));
    expect([(await bill(w)).status, (await bill(w)).body]).toEqual([
      409,
      expect.objectContaining({ error: 'Too many time entries for one invoice (at most 1000)' }),
    ]);
    expect((await bill(w, { time_entry_ids: [id] })).status).toBe(201);
    expect((await bill(w, { group_by: 'entry' })).body.error).toBe(
      'Too many lines (at most 500): group by task, project or day',
    );
    expect((await bill(w)).body.data).toMatchObject({ amount: 100_000 });
  });
});

describe('time on a draft', () => {
  test('when time is added and removed again, then lines follow it, and removing the last entry leaves an empty draft', async () => {
    const w = await work();
    const first = await w.log();
    const { id } = (await bill(w)).body.data;
    const second = await w.log({ hours: 2, hourly_rate: 120 });
    const added = await w.api.post(`/api/v1/invoices/${id}/time-entries`, {});
    expect([added.status, added.body.data.amount]).toEqual([200, 340]);
    expect((await w.api.get(`/api/v1/invoices/${id}/time`)).body.data).toMatchObject({
      edited: false,
      lines: [
        { line: 0, rate: 100, hours: 1, entries: [{ id: first, rate_from: 'task' }] },
        { line: 1, rate: 120, hours: 2, amount: 240, entries: [{ id: second }] },
      ],
    });
    const release = (body: object) => w.api.post(`/api/v1/invoices/${id}/time-entries/release`, body);
    expect((await release({ time_entry_ids: [first] })).body.data).toMatchObject({
      amount: 240,
      line_items: [{ qty: '2', rate: '120' }],
    });
    expect(await w.entry(first)).toMatchObject({ billing: 'unbilled' });
    expect((await release({ time_entry_ids: [first] })).status).toBe(409);
    expect((await release({})).body.data).toMatchObject({ amount: 0, line_items: null });
    expect((await w.api.get(`/api/v1/invoices/${id}/time`)).body.data.lines).toEqual([]);
  });

  test('when the lines are replaced by one fixed sum, then the time stays billed there and is marked as edited', async () => {
    const w = await work();
    const id = await w.log();
    const invoice = (await bill(w)).body.data.id;
    const line_items = [{ description: 'Fixed price', quantity: 1, rate: 500 }];
    expect((await w.api.patch(`/api/v1/invoices/${invoice}`, { line_items })).body.data.amount).toBe(500);
    expect((await w.api.get(`/api/v1/invoices/${invoice}/time`)).body.data).toMatchObject({
      edited: true,
      lines: [{ line: null, amount: 100 }],
    });
    expect(await w.entry(id)).toMatchObject({ billing: 'on_draft' });
    const released = await w.api.post(`/api/v1/invoices/${invoice}/time-entries/release`, {});
    expect(released.body.data.amount).toBe(500);
    expect(await w.entry(id)).toMatchObject({ billing: 'unbilled' });
    const client_id = (await w.api.post('/api/v1/clients', { name: 'Bo', email: 'bo@example.com' })).body.data.id;
    expect((await w.api.patch(`/api/v1/invoices/${invoice}`, { client_id })).status).toBe(200);
  });

  test('when time is on a draft, then neither it nor its project or client can be changed, moved or deleted; its text can change', async () => {
    const w = await work();
    const id = await w.log();
    const invoice = (await bill(w)).body.data.id;
    const error = 'Cannot change time on a draft invoice: take it off INV-0001 first';
    const path = `/api/v1/time-entries/${id}`;
    expect((await w.api.patch(path, { hours: 2 })).body).toMatchObject({ error });
    expect((await w.api.patch(path, { description: 'Mill' })).status).toBe(200);
    expect((await w.api.delete(path)).body).toMatchObject({ error });
    expect((await w.api.delete(`/api/v1/tasks/${w.task}`)).body.error).toMatch(/take it off INV-0001 first$/);
    const other = (await w.api.post('/api/v1/clients', { name: 'Bo', email: 'bo@example.com' })).body.data.id;
    const moved = await w.api.patch(`/api/v1/projects/${w.project}`, { client_id: other });
    expect([moved.status, moved.body.error]).toEqual([409, 'Cannot move a project with billed time to another client']);
    expect((await w.api.patch(`/api/v1/invoices/${invoice}`, { client_id: other })).body.error).toBe(
      'Cannot change client_id of an invoice with time',
    );
  });
});

test('when unbilled time is listed, then each project has the same sums as an invoice would', async () => {
  const w = await work({
    account: { currency: 'EUR' },
    project: { rounding: { minutes: 15, mode: 'up', scope: 'day' } },
  });
  await w.log({ hours: 0.1 });
  await w.log({ hours: 0.1 });
  await w.log({ hours: 0.1, date: '2026-11-03', hourly_rate: 120 });
  await w.log({ billable: false });
  const { body } = await w.api.get('/api/v1/unbilled');
  expect(body).toMatchObject({
    data: [
      {
        client: { id: w.client },
        project: { id: w.project },
        currency: 'EUR',
        entries: 3,
        hours: 0.3,
        billed_hours: 0.5,
        amount: 55,
        oldest_date: '2026-11-02',
        without_rate: 0,
      },
    ],
    pagination: { total: 1, limit: 50, offset: 0 },
  });
  expect((await bill(w, {}, '?dry_run=true')).body.data.amount).toBe(55);
  expect((await w.api.get(`/api/v1/unbilled?client_id=${w.project}`)).body.data).toEqual([]);
});

test('when every optional field is null, then the response is as if they were absent', async () => {
  const w = await work();
  await w.log();
  const names = [
    'time_entry_ids',
    'project_ids',
    'task_ids',
    'date_from',
    'date_to',
    'group_by',
    'rounding',
    'missing_rate',
    'members',
  ];
  const others = [
    'line_text',
    'extra_lines',
    'due_date',
    'currency',
    'tax_rate',
    'description',
    'project_id',
    'status',
  ];
  const { status, body } = await bill(w, Object.fromEntries([...names, ...others].map((name) => [name, null])));
  expect([status, body.data]).toMatchObject([201, { amount: 100, currency: 'USD', status: 'Draft' }]);
});

test('when a key lacks the scope for time, then it can neither bill nor read time', async () => {
  const { key } = await gateway.workspace.account({ scopes: ['invoices:write', 'clients:write'] });
  const api = verbsOf(callerOf(gateway.url, key));
  const client_id = (await api.post('/api/v1/clients', { name: 'Ada', email: 'ada@example.com' })).body.data.id;
  const { status, body } = await api.post('/api/v1/invoices/from-time', { client_id });
  expect([status, body]).toEqual([
    403,
    expect.objectContaining({ error: 'Forbidden: API key lacks the time-entries:write scope' }),
  ]);
});
