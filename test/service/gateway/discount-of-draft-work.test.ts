// Work is taken off drafts with a discount: it is never in the way of an empty draft, and never lowered in silence.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { omit } from 'es-toolkit/object/omit';
import { callerOf, startGateway, type TestGateway, verbsOf } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** A draft of three hours at 100 with these charges. */
async function draft(charges: object) {
  const api = verbsOf(callerOf(gateway.url, (await gateway.workspace.account()).key));
  const made = async (path: string, body: object) => (await api.post(`/api/v1/${path}`, body)).body.data;
  const client = (await made('clients', { name: 'Ada', email: 'ada@example.com', hourly_rate: 100 })).id as string;
  const project = (await made('projects', { name: 'Engine', client_id: client })).id as string;
  const log = async () =>
    (await made('time-entries', { project_id: project, hours: 1, date: '2026-11-02' })).id as string;
  const entries = [await log(), await log(), await log()];
  const invoice = await made('invoices/from-time', { client_id: client, group_by: 'entry', ...charges });
  const path = `/api/v1/invoices/${invoice.id}`;
  return {
    ...{ api, path, entries },
    release: (ids?: string[]) => api.post(`${path}/time-entries/release`, ids ? { time_entry_ids: ids } : {}),
    add: () => api.post(`${path}/time-entries`, {}),
    shown: async () => (await api.get(path)).body.data,
  };
}

const NOTHING = { amount: 0, total: 0, line_items: null, discount_amount: 0, service_period: null };

test('when all time is taken off a draft with a percentage, then the draft is empty and the percentage counts for what comes next', async () => {
  const { api, path, release, add, shown } = await draft({ discount_percent: 10, shipping_amount: 20 });
  const empty = await release();
  expect([empty.status, empty.body.data]).toMatchObject([
    200,
    { ...NOTHING, discount_percent: 10, shipping_amount: 0, shipping_tax_rate: null },
  ]);
  const again = await api.patch(path, omit(await shown(), ['client', 'project']));
  expect([again.status, again.body.data]).toEqual([200, await shown()]);
  const taxed = await api.patch(path, { tax_rate: 19 });
  expect([taxed.status, taxed.body.data.total]).toEqual([200, 0]);
  const bare = await api.patch(path, { amount: 50 });
  expect([bare.status, bare.body.details]).toEqual([400, { discount_percent: ['discount_percent needs line_items'] }]);
  expect((await add()).body.data).toMatchObject({ amount: 270, discount_amount: 30, tax_amount: 51.3 });
});

test('when all time is taken off a draft with amounts, then they go with its lines', async () => {
  const { release, add } = await draft({ discount_amount: 50, shipping_amount: 20, shipping_tax_rate: 7 });
  const empty = await release();
  expect([empty.status, empty.body.data]).toMatchObject([
    200,
    { ...NOTHING, discount_percent: null, shipping_amount: 0, shipping_tax_rate: null },
  ]);
  expect((await add()).body.data).toMatchObject({ amount: 300, discount_amount: 0 });
});

test('when less would be left than the discount, then 409 names both and nothing is taken off; lowered, it is in no way', async () => {
  const { api, path, entries, release, shown } = await draft({ discount_amount: 150 });
  const before = await shown();
  const { status, body } = await release(entries.slice(0, 2));
  expect([status, body]).toEqual([
    409,
    expect.objectContaining({
      error: 'Cannot leave 100.00 on an invoice with a discount_amount of 150.00: lower it first',
    }),
  ]);
  expect(await shown()).toEqual(before);
  await api.patch(path, { discount_amount: 100 });
  expect((await release(entries.slice(0, 2))).body.data).toMatchObject({
    amount: 0,
    subtotal: 100,
    discount_amount: 100,
  });
});
