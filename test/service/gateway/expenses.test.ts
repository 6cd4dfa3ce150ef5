// Expenses are billed once, and locked and released exactly like time.
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Expense } from '#libs/models/time/expense.ts';
import { callerOf, startGateway, type TestGateway, type Verbs, verbsOf } from '../../support/gateway.ts';
import { UNKNOWN_ID } from '../../support/records.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

interface World {
  api: Verbs;
  client: string;
  project: string;
  spend(amount: number, fields?: object): Promise<string>;
  log(hours: number): Promise<string>;
  shown(id: string): Promise<Record<string, unknown>>;
  bill(body?: object, query?: string): ReturnType<Verbs['post']>;
}

async function world(fields: object = {}): Promise<World> {
  const { key } = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, key));
  const made = async (path: string, body: object) => (await api.post(`/api/v1/${path}`, body)).body.data.id as string;
  const person = { name: 'Ada', email: 'ada@example.com', hourly_rate: 100, currency: 'EUR' };
  const client = await made('clients', person);
  const project = await made('projects', { name: 'Website', client_id: client, ...fields });
  const expense = { project_id: project, date: '2026-11-03', description: 'Train' };
  return {
    api,
    client,
    project,
    spend: (amount, more = {}) => made('expenses', { ...expense, amount, ...more }),
    log: (hours) => made('time-entries', { project_id: project, hours, date: '2026-11-02' }),
    shown: async (id) => (await api.get(`/api/v1/expenses/${id}`)).body.data,
    bill: (body = {}, query = '') => api.post(`/api/v1/invoices/from-time${query}`, { client_id: client, ...body }),
  };
}

const linesOf = (data: { line_items: { description: string; qty: string; rate: string }[] }) =>
  data.line_items.map(({ description, qty, rate }) => [description, qty, rate]);

test('when expenses are included, then each has a line after the time, with its markup, and refers to the invoice', async () => {
  const w = await world();
  const id = await w.spend(33.35, { markup: 10, receipt: 'https://example.com/17.pdf' });
  await w.spend(20, { date: '2026-11-01', description: 'Paper' });
  const [foreign, own] = [await w.spend(5, { currency: 'USD' }), await w.spend(7, { billable: false })];
  await w.log(1);
  expect((await w.api.get('/api/v1/unbilled')).body.data).toMatchObject([
    { currency: 'EUR', entries: 1, amount: 100, expenses: 2, expense_amount: 56.69, oldest_date: '2026-11-01' },
    { currency: 'USD', entries: 0, amount: 0, expenses: 1, expense_amount: 5 },
  ]);
  expect((await w.bill({}, '?dry_run=true')).body.data.amount).toBe(100);
  const { data } = (await w.bill({ include_expenses: true, extra_lines: [{ description: 'x', quantity: 1, rate: 1 }] }))
    .body;
  expect([data.amount, linesOf(data)]).toEqual([
    157.69,
    [
      ['Website', '1', '100'],
      ['Nov 1, 2026: Paper', '1', '20'],
      ['Nov 3, 2026: Train', '1', '36.69'],
      ['x', '1', '1'],
    ],
  ]);
  expect(await w.shown(id)).toMatchObject({
    billed_amount: 36.69,
    billing: 'on_draft',
    invoice: { id: data.id, invoice_number: 'INV-0001' },
    client: { id: w.client },
  });
  const listed = async (query: string) => (await w.api.get(`/api/v1/expenses?${query}`)).body.pagination.total;
  expect([
    await listed('billing=on_draft'),
    await listed('billing=unbilled'),
    await listed(`invoice_id=${data.id}`),
    await listed('billing=not_billable'),
  ]).toEqual([2, 1, 2, 1]);
  const named = async (body: object) => (await w.bill({ include_time: false, ...body })).body;
  expect((await named({ expense_ids: [foreign] })).details).toEqual({
    expense_ids: ['expense_ids must be in EUR, the currency of the invoice'],
  });
  expect((await named({ expense_ids: [own] })).error).toBe('Expense is not billable');
  expect((await named({ expense_ids: [id] })).error).toBe('Expense is already on INV-0001');
  expect((await named({ include_expenses: true })).error).toBe('Nothing to bill');
  expect((await named({ expense_ids: [foreign], currency: 'USD' })).data).toMatchObject({ amount: 5, currency: 'USD' });
});

test('when all is billed while what is unbilled is read, then the response is as it was before', async () => {
  const w = await world();
  await w.log(1);
  await w.spend(20);
  const unbilled = async () => (await w.api.get('/api/v1/unbilled')).body.data;
  const before = await unbilled();
  expect(before).toMatchObject([{ amount: 100, expense_amount: 20 }]);
  const aggregate = Expense.collection.aggregate.bind(Expense.collection);
  jest.spyOn(Expense.collection, 'aggregate').mockImplementationOnce((...given) => {
    const toArray = async () => {
      expect((await w.bill({ include_expenses: true })).status).toBe(201);
      return aggregate(...given).toArray();
    };
    return { toArray } as never;
  });
  expect(await unbilled()).toEqual(before);
  expect(await unbilled()).toEqual([]);
});

test('when a project is unknown or of another client, then expenses are as strict about it as time', async () => {
  const w = await world();
  await w.spend(10);
  const other = (await w.api.post('/api/v1/clients', { name: 'Bob', email: 'bob@example.com' })).body.data.id;
  const foreign = (await w.api.post('/api/v1/projects', { name: 'Shop', client_id: other })).body.data.id;
  for (const include_time of [true, false]) {
    const billed = (project: string) =>
      w.bill({ include_time, include_expenses: true, project_ids: [w.project, project] });
    const unknown = await billed(UNKNOWN_ID);
    expect([unknown.status, unknown.body.error]).toEqual([404, 'Project not found or access denied']);
    expect((await billed(foreign)).body.details).toEqual({
      project_ids: ['project_ids must be projects of the same client'],
    });
  }
});

test('when the text of an expense is longer than a line, then it ends with a whole character', async () => {
  const w = await world();
  await w.spend(10, { description: `${'a'.repeat(1_986)}😀` });
  const { data } = (await w.bill({ include_time: false, include_expenses: true })).body;
  const [line] = data.line_items;
  expect([line.description.length, line.description.isWellFormed()]).toEqual([2_000, true]);
  expect(line.description).toMatch(/^Nov 3, 2026: a+…$/);
});

test('when 8 callers bill the same expenses concurrently, then each expense is on one invoice', async () => {
  const w = await world();
  for (let count = 0; count < 4; count += 1) await w.spend(10);
  const responses = await Promise.all(
    Array.from({ length: 8 }, () => w.bill({ include_time: false, include_expenses: true })),
  );
  const made = responses.filter(({ status }) => status === 201);
  expect(made.map(({ body }) => body.data.amount)).toEqual([40]);
  expect(new Set(responses.filter(({ status }) => status !== 201).map(({ body }) => body.error))).toEqual(
    new Set(['Nothing to bill']),
  );
});

test('when a draft has expenses, then its client and currency cannot change until they are taken off', async () => {
  const w = await world();
  await w.spend(120);
  const draft = (await w.bill({ include_time: false, include_expenses: true })).body.data;
  const other = (await w.api.post('/api/v1/clients', { name: 'Grace', email: 'grace@example.com' })).body.data;
  const change = async (body: object) => {
    const { status, body: reply } = await w.api.patch(`/api/v1/invoices/${draft.id}`, body);
    return [status, reply.error];
  };
  expect(await change({ currency: 'JPY' })).toEqual([
    409,
    'Cannot change currency of an invoice with expenses: take them off first',
  ]);
  expect(await change({ client_id: other.id })).toEqual([409, 'Cannot change client_id of an invoice with expenses']);
  expect(await change({ currency: draft.currency, notes: 'As agreed' })).toEqual([200, undefined]);
});

test('when an expense is on a draft or issued invoice, then it is locked; removal, deletion or cancellation releases it', async () => {
  const w = await world();
  const [id, other] = [await w.spend(10), await w.spend(20)];
  await w.log(1);
  const draft = (await w.bill({ include_expenses: true })).body.data.id;
  const change = (body: object) => w.api.patch(`/api/v1/expenses/${id}`, body);
  expect((await change({ amount: 11 })).body.error).toBe(
    'Cannot change an expense on a draft invoice: take it off INV-0001 first',
  );
  expect((await change({ receipt: 'Folder 7' })).body.data).toMatchObject({ receipt: 'Folder 7', billing: 'on_draft' });
  expect((await w.api.delete(`/api/v1/expenses/${id}`)).status).toBe(409);
  const release = async (body: object) =>
    (await w.api.post(`/api/v1/invoices/${draft}/time-entries/release`, body)).body;
  expect(linesOf((await release({ expense_ids: [id] })).data)).toEqual([
    ['Website', '1', '100'],
    ['Nov 3, 2026: Train', '1', '20'],
  ]);
  expect((await release({ expense_ids: [id] })).error).toBe('Expense is not on this invoice');
  expect((await w.shown(id))['billing']).toBe('unbilled');
  const added = await w.api.post(`/api/v1/invoices/${draft}/time-entries`, { include_time: false, expense_ids: [id] });
  expect(added.body.data.amount).toBe(130);
  expect([(await release({})).data.amount, (await w.shown(other))['billing']]).toEqual([0, 'unbilled']);
  await w.api.delete(`/api/v1/invoices/${draft}`);
  const sent = (await w.bill({ include_time: false, include_expenses: true, status: 'Sent' })).body.data;
  expect((await change({ receipt: null })).body.data.billing).toBe('billed');
  expect((await change({ amount: 12 })).body.error).toBe('Cannot change an expense on an issued invoice');
  await w.api.patch(`/api/v1/invoices/${sent.id}`, { status: 'Cancelled' });
  expect((await change({ amount: 12 })).body.data).toMatchObject({ amount: 12, billing: 'unbilled', invoice: null });
});

test('when lines were edited by hand, then they stay when an expense is removed', async () => {
  const w = await world();
  await w.spend(10);
  const draft = (await w.bill({ include_time: false, include_expenses: true })).body.data.id;
  await w.api.patch(`/api/v1/invoices/${draft}`, { line_items: [{ description: 'All in', quantity: 1, rate: 99 }] });
  const { data } = (await w.api.post(`/api/v1/invoices/${draft}/time-entries/release`, {})).body;
  expect([data.amount, (await w.api.get('/api/v1/expenses?billing=unbilled')).body.pagination.total]).toEqual([99, 1]);
});

test('when an expense is settled by hand, then it cannot be invoiced or changed until it is unbilled again', async () => {
  const w = await world();
  const id = await w.spend(10);
  const settle = async (status: string) =>
    (await w.api.post('/api/v1/expenses/billing', { expense_ids: [id], status })).body.data.changed;
  expect([await settle('written_off'), await settle('written_off')]).toEqual([1, 0]);
  expect((await w.bill({ include_time: false, expense_ids: [id] })).body.error).toBe(
    'Expense is settled: set it to unbilled first',
  );
  expect((await w.api.delete(`/api/v1/expenses/${id}`)).status).toBe(409);
  expect([await settle('unbilled'), (await w.shown(id))['billing']]).toEqual([1, 'unbilled']);
});

test('when a project has a fixed amount, then its expenses are billed in addition; when work is not billed, neither are they', async () => {
  const w = await world({ billing: 'fixed', fixed_amount: 1000 });
  const id = await w.spend(50);
  const draft = (await w.api.post(`/api/v1/projects/${w.project}/bill`, { percent: 30 })).body.data;
  const added = await w.api.post(`/api/v1/invoices/${draft.id}/time-entries`, { include_expenses: true });
  expect([added.body.data.amount, added.body.data.fixed_part.amount]).toEqual([350, 300]);
  expect((await w.api.patch(`/api/v1/projects/${w.project}`, { client_id: w.client })).status).toBe(200);
  expect((await w.api.delete(`/api/v1/projects/${w.project}`)).status).toBe(409);
  await w.api.delete(`/api/v1/invoices/${draft.id}`);
  await w.api.patch(`/api/v1/projects/${w.project}`, { billing: 'none' });
  expect((await w.shown(id))['billing']).toBe('not_billable');
});

test('when a recurring invoice includes time, then it includes expenses if it is set to', async () => {
  const w = await world();
  const id = await w.spend(50);
  const recurring = await w.api.post('/api/v1/recurring-invoices', {
    client_id: w.client,
    schedule: { unit: 'month', start_on: '2031-01-31' },
    include_time: { group_by: 'project', include_expenses: true },
  });
  const { data } = (await w.api.post(`/api/v1/recurring-invoices/${recurring.body.data.id}/run`)).body;
  expect([data.amount, (await w.shown(id))['invoice']]).toMatchObject([50, { id: data.id }]);
});

test('when amount, currency or project are invalid, then the expense is rejected and nothing is stored', async () => {
  const w = await world();
  const create = async (body: object) =>
    (await w.api.post('/api/v1/expenses', { project_id: w.project, date: '2026-11-03', description: 'x', ...body }))
      .body;
  expect((await create({ amount: 0, markup: -1 })).details).toEqual({
    amount: ['amount must be greater than 0'],
    markup: ['markup must be greater than or equal to 0'],
  });
  expect((await create({ amount: 1.5, currency: 'JPY' })).details).toEqual({
    amount: ['amount must be a whole number in JPY'],
  });
  const other = (await w.api.post('/api/v1/clients', { name: 'Bob', email: 'bob@example.com' })).body.data.id;
  const foreign = (await w.api.post('/api/v1/projects', { name: 'x', client_id: other })).body.data.id;
  const id = await w.spend(5);
  expect((await w.api.patch(`/api/v1/expenses/${id}`, { project_id: foreign })).body.details).toEqual({
    project_id: ['project_id must be a project of the same client'],
  });
  expect((await w.bill({ time_entry_ids: [id], include_expenses: true })).status).toBe(400);
  expect((await w.api.get('/api/v1/expenses')).body.pagination.total).toBe(1);
});
