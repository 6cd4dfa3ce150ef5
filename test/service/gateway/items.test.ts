// The item catalogue: a line copies the fields of an item in every body with lines, and keeps no reference to it.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runUnitOfWork } from '#libs/billing/unit-of-work.ts';
import { Item } from '#libs/models/billing/item.ts';
import { storedId } from '#libs/models/tenant.ts';
import { withItems } from '../../../services/gateway/fields/item-lines.ts';
import type { Commit, Work } from '../../../services/gateway/http/commit.ts';
import type { Context } from '../../../services/gateway/http/route.ts';
import { invoiceRoutes } from '../../../services/gateway/invoices/routes.ts';
import { callerOf, startGateway, type TestGateway, type Verbs, verbsOf } from '../../support/gateway.ts';

let gateway: TestGateway;
let api: Verbs;
let client: string;
let project: string;
let item: string;
beforeAll(async () => {
  gateway = await startGateway();
  const { key } = await gateway.workspace.account();
  api = verbsOf(callerOf(gateway.url, key));
  client = (await api.post('/api/v1/clients', { name: 'Ada', email: 'ada@example.com', hourly_rate: 1 })).body.data.id;
  const fixed = { name: 'Website', client_id: client, billing: 'fixed', fixed_amount: 100 };
  project = (await api.post('/api/v1/projects', fixed)).body.data.id;
  const workshop = { name: 'Workshop', description: 'Half a day', rate: 850, unit: 'piece', tax_rate: 19 };
  item = (await api.post('/api/v1/items', workshop)).body.data.id;
});
afterAll(() => gateway.close());

const COPIED = {
  description: 'Workshop\nHalf a day',
  qty: '2',
  rate: '850',
  discount: '0',
  unit: 'piece',
  tax_rate: 19,
};
const line = () => ({ item_id: item, quantity: 2 });

test('when a line names an item in any body with lines, then it copies its fields, and changing the item changes no document', async () => {
  const due = { client_id: client, due_date: '2099-01-01' };
  const logged = (await api.post('/api/v1/projects', { name: 'Care', client_id: client })).body.data.id;
  await api.post('/api/v1/time-entries', { project_id: logged, hours: 1, date: '2026-11-02' });
  const schedule = { unit: 'month', start_on: '2031-01-31' };
  const made = [
    await api.post('/api/v1/invoices', { ...due, line_items: [line()] }),
    await api.post('/api/v1/quotes', { client_id: client, amount: 1700, line_items: [line()] }),
    await api.post('/api/v1/recurring-invoices', { client_id: client, schedule, line_items: [line()] }),
    await api.post('/api/v1/invoices/from-time', { client_id: client, extra_lines: [line()] }),
    await api.post(`/api/v1/projects/${project}/bill`, { extra_lines: [line()] }),
  ];
  const sent = { ...due, status: 'Sent', line_items: [line(), line()] };
  const { id } = (await api.post('/api/v1/invoices', sent)).body.data;
  made.push(await api.post(`/api/v1/invoices/${id}/credit-notes`, { reason: 'return', line_items: [line()] }));
  expect(made.map(({ status, body }) => [status, body.data.line_items.at(-1)])).toEqual(made.map(() => [201, COPIED]));
  const invoice = `/api/v1/invoices/${made[0]?.body.data.id}`;
  const own = { item_id: item, quantity: 1, rate: '900.50', description: 'Own text', unit: 'hour', tax_rate: 7 };
  for (const [path, lines] of [
    [invoice, [line(), own]],
    [`/api/v1/quotes/${made[1]?.body.data.id}`, [own]],
    [`/api/v1/recurring-invoices/${made[2]?.body.data.id}`, [own]],
  ] as const) {
    const { status, body } = await api.patch(path, { line_items: lines });
    expect([path, status, body.data.line_items.at(-1)]).toEqual([
      path,
      200,
      { description: 'Own text', qty: '1', rate: '900.5', discount: '0', unit: 'hour', tax_rate: 7 },
    ]);
  }
  await api.patch(`/api/v1/items/${item}`, { rate: 1, name: 'Other' });
  expect((await api.get(invoice)).body.data).toMatchObject({ amount: 2600.5, line_items: [COPIED, { rate: '900.5' }] });
});

test('when a transaction begins again after the item has lost fields, then its lines have none of the first attempt', async () => {
  const { id: accountId, key } = await gateway.workspace.account();
  const caller = verbsOf(callerOf(gateway.url, key));
  const { id } = (await caller.post('/api/v1/items', { name: 'Trip', rate: 5, unit: 'km', tax_rate: 19 })).body.data;
  const seen: object[] = [];
  const create = invoiceRoutes.find(({ operation }) => operation === 'createInvoice');
  const [row] = withItems([
    {
      ...(create as NonNullable<typeof create>),
      handler: ({ body, commit }: Context) =>
        commit(async () => {
          seen.push({ ...(body as { line_items: object[] }).line_items[0] });
          return { status: 201, body: {} };
        }),
    },
  ]);
  const commit = async (work: Work) => {
    const { result } = await runUnitOfWork({ accountId, by: { type: 'operator' } }, async (unit) => {
      await work(unit, undefined);
      await Item.collection.updateOne({ _id: storedId(id) as never }, lost, { session: unit.session });
      return work(unit, undefined);
    });
    return result;
  };
  const lost = { $set: { unit: null, tax_rate: null } };
  const body = { line_items: [{ item_id: id, quantity: 1, discount: 0 }] };
  await row?.handler({ body, commit: commit as Commit, requireScope: () => undefined } as unknown as Context);
  expect(seen).toMatchObject([
    { unit: 'km', tax_rate: 19 },
    { unit: undefined, tax_rate: undefined },
  ]);
});

test('when an item is unknown, or a line without one is incomplete, then it is rejected and no number is drawn', async () => {
  const create = async (lines: object[]) =>
    (await api.post('/api/v1/invoices', { client_id: client, due_date: '2099-01-01', line_items: lines })).body;
  const before = (await api.get('/api/v1/invoices')).body.pagination.total;
  expect((await create([{ item_id: client, quantity: 1 }])).error).toBe('Item not found or access denied');
  expect((await create([{ item_id: item }, { quantity: 1 }])).details).toEqual({
    'line_items.0.quantity': ['line_items[0].quantity is required'],
    'line_items.1.description': ['line_items[1].description is required'],
    'line_items.1.rate': ['line_items[1].rate is required'],
  });
  expect((await api.get('/api/v1/invoices')).body.pagination.total).toBe(before);
});

test('when a create is repeated after its item was deleted, then it is replayed', async () => {
  const gone = (await api.post('/api/v1/items', { name: 'Short-lived', rate: 5 })).body.data.id;
  const body = { client_id: client, due_date: '2099-01-01', line_items: [{ item_id: gone, quantity: 1 }] };
  const options = { headers: { 'Idempotency-Key': 'item-17' } };
  const first = await api.post('/api/v1/invoices', body, options);
  expect((await api.delete(`/api/v1/items/${gone}`)).status).toBe(200);
  const again = await api.post('/api/v1/invoices', body, options);
  expect([again.status, again.body]).toEqual([201, first.body]);
});

test('when items are searched, then case and accents are ignored', async () => {
  await api.post('/api/v1/items', { name: 'Café visit', rate: 10 });
  const found = async (q: string) => (await api.get(`/api/v1/items?q=${q}`)).body.data.length;
  expect([await found('CAFE'), await found('half'), await found('nothing')]).toEqual([1, 1, 0]);
});
