// null in bodies of every route: absent on create, reset to the default or cleared on a change, and never silently ignored.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyFor, filledPath, kindOf, make } from '../../support/operations.ts';
import { create, createClient, createProject } from '../../support/records.ts';
import { fieldsOf, routeTable } from '../../support/route-table.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

type Row = (typeof routeTable)[number];
const optionalOf = (row: Row) =>
  Object.entries(fieldsOf(row)).flatMap(([name, { flags }]) => (flags?.presence === 'required' ? [] : [name]));
const createOf = (row: Row) => routeTable.find(({ method, path }) => method === 'post' && `${path}/{id}` === row.path);

/** Time, quotes and fixed amounts are billed once: the same call cannot be made twice. */
const ONCE = new Set([
  ...['createInvoiceFromTime', 'addTimeToInvoice', 'releaseTimeFromInvoice', 'convertQuote', 'billProject'],
]);
const posts = routeTable.filter(
  (row) => row.method === 'post' && row.body && !row.produces && !ONCE.has(row.operation),
);
const patches = routeTable.filter(({ method }) => method === 'patch');
const changesOfCreated = patches.filter((row) => createOf(row));

/** An invoice needs an amount or lines and a due date or payment days, a recurring invoice lines or time, a time entry hours and a date or times. */
const NEEDED: Record<string, string[]> = {
  addClient: ['email'],
  updateClient: ['email'],
  createInvoice: ['amount', 'due_date'],
  updateInvoice: ['amount'],
  createTimeEntry: ['hours', 'date'],
  updateTimeEntry: ['hours', 'date'],
  createRecurringInvoice: ['line_items'],
  updateRecurringInvoice: ['line_items'],
};
const optional = (row: Row) => optionalOf(row).filter((name) => !NEEDED[row.operation]?.includes(name));

async function callerOf(row: Row) {
  const id = row.path.includes('{id}') ? await make(gateway, kindOf(row.path), gateway.account, 'own-') : '';
  const path = filledPath(row.path, id);
  return { path, call: (body: object) => gateway.call(row.method.toUpperCase(), path, { body }) };
}

/** Fields that differ between any two records. */
const isOwn = (name: string) =>
  /^(id|key|number|secret|start|.*_at|.*_number|event_id|delivery_id|message_id|resend_of|address|subject|url|at)$/.test(
    name,
  ) && name !== 'expires_at';

/** A record without those fields, also in nested objects. An id that the body named has to stay. */
function plain(value: unknown, named: string): unknown {
  if (Array.isArray(value)) return value.map((one) => plain(one, named));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      if (!isOwn(name)) return [[name, plain(inner, named)]];
      return typeof inner === 'string' && named.includes(inner) ? [[name, 'named']] : [];
    }),
  );
}

test('when the table of routes is read, then it covers every resource', () => {
  expect(posts.length).toBeGreaterThan(11);
  expect(changesOfCreated.map(({ operation }) => operation).toSorted()).toEqual(
    [
      'updateClient',
      'updateExpense',
      'updateHourPackage',
      'updateInvoice',
      'updateItem',
      'updatePayment',
      'updateProject',
      'updateQuote',
      'updateRecurringInvoice',
      'updateTask',
      'updateTimeEntry',
      'updateTimer',
      'updateWebhook',
    ].toSorted(),
  );
});

test.each(sampled(posts).map((row) => [row.operation, row] as const))(
  'when every optional field of %s is null, then the response is as if they were absent',
  async (operation, row) => {
    const names = optional(row);
    const bare = async () => {
      const body = (await bodyFor(gateway, operation, gateway.account)) ?? {};
      return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
    };
    const [body, other] = [await bare(), await bare()];
    const without = await (await callerOf(row)).call(body);
    if (operation === 'createDocuments') await gateway.delete(`${row.path}/${without.body.data.id}`);
    const nulls = Object.fromEntries(names.map((name) => [name, null]));
    const withNull = await (await callerOf(row)).call({ ...other, ...nulls });

    expect([without.status < 300, withNull.status, withNull.body.details]).toEqual([true, without.status, undefined]);
    const expected = plain(without.body.data, JSON.stringify(body));
    expect(plain(withNull.body.data, JSON.stringify(other))).toEqual(expected);
    for (const { body: made } of [without, withNull]) {
      if (/^create(Webhook|ApiKey|Documents)$/.test(operation)) await gateway.delete(`${row.path}/${made.data.id}`);
    }
  },
);

describe.each(sampled(changesOfCreated, 12).map((row) => [row.operation, row] as const))('%s', (_operation, row) => {
  test('when a field that is optional on create is null, then it is cleared', async () => {
    const created = createOf(row) as Row;
    const names = optional(created).filter((name) => name in fieldsOf(row));
    const { path, call } = await callerOf(row);
    const before = (await gateway.get(path)).body.data;
    for (const name of names) {
      const reply = await call({ [name]: null });
      expect([name, reply.status, reply.body.details]).toEqual([name, 200, undefined]);
    }

    // The record has only required fields, so null cleared nothing except the texts that mark it.
    const { description: _mark, company_name: _company, note: _note, ...after } = (await gateway.get(path)).body.data;
    const { updated_at: _then, ...unchanged } = after;
    expect(before).toEqual(expect.objectContaining(unchanged));
  });

  test('when a field that is required on create is null, then 400 names it', async () => {
    const created = createOf(row) as Row;
    const required = Object.keys(fieldsOf(created)).filter((name) => !optionalOf(created).includes(name));
    const { call } = await callerOf(row);
    for (const name of required.filter((one) => one in fieldsOf(row))) {
      const reply = await call({ [name]: null });
      expect([name, reply.status, JSON.stringify(reply.body.details)]).toEqual([
        name,
        400,
        expect.stringContaining(name),
      ]);
    }
  });

  test('when a field exists on create but cannot be changed, then 400 names it and nothing changes', async () => {
    const created = createOf(row) as Row;
    const fixed = Object.keys(fieldsOf(created)).filter((name) => !(name in fieldsOf(row)));
    const { path, call } = await callerOf(row);
    const before = (await gateway.get(path)).body;
    const [known = ''] = Object.keys(fieldsOf(row));
    for (const name of fixed) {
      const message = `${name} cannot be changed`;
      for (const body of [{ [name]: 'x' }, { [name]: null, [known]: 'x' }]) {
        const reply = await call(body);
        const own = row.details === 'list' ? reply.body.details : reply.body.details?.[name];
        expect([name, reply.status, own]).toEqual([name, 400, expect.arrayContaining([message])]);
      }
    }
    expect((await gateway.get(path)).body).toEqual(before);
  });

  test('when the body has only unknown fields, then 400', async () => {
    const reply = await (await callerOf(row)).call({ created_at: 'x', nothing: null });

    expect([reply.status, reply.body]).toEqual([400, expect.objectContaining({ error: 'No valid fields to update' })]);
  });
});

describe('defaults', () => {
  test('when the fields of a changed record are set to null, then they have the values of a new record', async () => {
    const account = await gateway.workspace.account();
    await gateway.patch('/api/v1/account', { default_tax_rate: 7 }, account);
    const project = await createProject(gateway, { status: 'Complete' }, account);
    const { id: client_id } = project.client;
    const task = await create(
      gateway,
      '/api/v1/tasks',
      { project_id: project.id, name: 'T', rate: 80, billable: false, status: 'done' },
      account,
    );
    const entry = await create(
      gateway,
      '/api/v1/time-entries',
      { project_id: project.id, task_id: task.id, hours: 1, date: '2026-01-02', hourly_rate: 5 },
      account,
    );
    const dear = { client_id, amount: 5, currency: 'EUR', tax_rate: 19 };
    const quote = await create(gateway, '/api/v1/quotes', { ...dear, expires_at: '2040-01-01' }, account);
    const invoice = await create(gateway, '/api/v1/invoices', { ...dear, due_date: '2040-01-01' }, account);
    const fresh = await create(gateway, '/api/v1/quotes', { client_id, amount: 5 }, account);

    for (const [path, nulls, expected] of [
      [`/api/v1/projects/${project.id}`, { status: null }, { status: 'In Progress' }],
      [`/api/v1/tasks/${task.id}`, { billable: null, status: null }, { billable: true, status: 'todo' }],
      [`/api/v1/time-entries/${entry.id}`, { hourly_rate: null }, { hourly_rate: 80 }],
      [
        `/api/v1/quotes/${quote.id}`,
        { currency: null, tax_rate: null, expires_at: null },
        { currency: 'USD', tax_rate: 7, expires_at: fresh.expires_at },
      ],
      [`/api/v1/invoices/${invoice.id}`, { currency: null, tax_rate: null }, { currency: 'USD', tax_rate: 7 }],
    ] as const) {
      const reply = await gateway.patch(path, nulls, account);
      expect([path, reply.status, reply.body.data]).toEqual([path, 200, expect.objectContaining(expected)]);
    }
    await gateway.patch('/api/v1/account', { time_zone: 'Europe/Berlin', locale: 'de-DE' }, account);
    const { data } = (await gateway.patch('/api/v1/account', { time_zone: null, locale: null }, account)).body;
    expect([data.time_zone, data.locale]).toEqual(['UTC', 'en-US']);
  });

  test('when the amount of an invoice is null, then it is the sum of the lines, and without lines 400 names it', async () => {
    const { id: client_id } = await createClient(gateway);
    const base = { client_id, due_date: '2040-01-01', amount: null };
    const line = { description: 'L', quantity: 2, rate: 3, discount: null, qty: null };

    const { data } = (await gateway.post('/api/v1/invoices', { ...base, line_items: [line] })).body;
    expect([data.amount, data.line_items]).toEqual([6, [{ description: 'L', qty: '2', rate: '3', discount: '0' }]]);
    expect((await gateway.post('/api/v1/invoices', base)).body.details).toEqual({ amount: ['amount is required'] });
    expect((await gateway.patch(`/api/v1/invoices/${data.id}`, { amount: null })).status).toBe(200);
    const bare = await gateway.patch(`/api/v1/invoices/${data.id}`, { amount: null, line_items: null });
    expect([bare.status, bare.body.details]).toEqual([400, { amount: ['amount is required'] }]);
  });
});
