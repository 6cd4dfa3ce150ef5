// The service period of an invoice of work: from the first to the last day of its entries, unless a caller sets it.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { callerOf, startGateway, type TestGateway, type Verbs, verbsOf } from '../../support/gateway.ts';

let gateway: TestGateway;
let api: Verbs;

beforeAll(async () => {
  gateway = await startGateway();
  api = verbsOf(callerOf(gateway.url, (await gateway.workspace.account()).key));
});
afterAll(() => gateway.close());

const made = async (path: string, body: object) => (await api.post(`/api/v1/${path}`, body)).body.data;

/** A client with time on two days and an expense on a third. */
async function work() {
  const client = (await made('clients', { name: 'Ada', email: 'ada@example.com', hourly_rate: 100 })).id;
  const project = (await made('projects', { name: 'Engine', client_id: client })).id;
  const entry = async (date: string) => (await made('time-entries', { project_id: project, hours: 1, date })).id;
  const entries = [await entry('2026-10-05'), await entry('2026-10-20')];
  const spent = { project_id: project, date: '2026-10-28', amount: 40, description: 'Train', currency: 'USD' };
  return { client, entries, entry, expense: (await made('expenses', spent)).id };
}

const period = (from: string, to: string) => ({ service_date: null, service_period: { from, to } });

test('when time and expenses are billed, added and removed, then the period follows them', async () => {
  const { client, entries, entry, expense } = await work();
  const first = await made('invoices/from-time', { client_id: client, time_entry_ids: entries });
  expect(first).toMatchObject(period('2026-10-05', '2026-10-20'));
  const path = `invoices/${first.id}/time-entries`;

  expect(await made(path, { include_time: false, expense_ids: [expense] })).toMatchObject(
    period('2026-10-05', '2026-10-28'),
  );
  expect(await made(path, { time_entry_ids: [await entry('2026-09-30')] })).toMatchObject(
    period('2026-09-30', '2026-10-28'),
  );
  expect(await made(`${path}/release`, { expense_ids: [expense] })).toMatchObject(period('2026-09-30', '2026-10-20'));
  expect(await made(`${path}/release`, {})).toMatchObject({ service_period: null });
});

test('when a day or a period is given, or the period is cleared, then it stays whatever is added', async () => {
  for (const [given, kept] of [
    [{ service_date: '2026-11-01' }, { service_date: '2026-11-01', service_period: null }],
    [{ service_period: { from: '2026-10-01', to: '2026-10-31' } }, period('2026-10-01', '2026-10-31')],
    [{}, { service_date: null, service_period: null }],
  ] as const) {
    const { client, entries, entry } = await work();
    const invoice = await made('invoices/from-time', { client_id: client, time_entry_ids: entries, ...given });
    if (kept.service_period === null)
      await api.patch(`/api/v1/invoices/${invoice.id}`, { ...given, service_period: null });
    const added = { time_entry_ids: [await entry('2026-09-30')] };
    expect(await made(`invoices/${invoice.id}/time-entries`, added)).toMatchObject(kept);
  }
});

test('when a part of a fixed amount includes its tax, then the total is the part, with the given service day', async () => {
  const client = (await made('clients', { name: 'Ada', email: 'ada@example.com' })).id;
  const fixed = { name: 'Logo', client_id: client, billing: 'fixed', fixed_amount: 1190 };
  const project = (await made('projects', fixed)).id;
  const wanted = { percent: 50, prices_include_tax: true, tax_rate: 19, service_date: '2026-11-01' };
  expect(await made(`projects/${project}/bill`, wanted)).toMatchObject({
    amount: 500,
    tax_amount: 95,
    total: 595,
    service_date: '2026-11-01',
  });
  expect((await api.get(`/api/v1/projects/${project}`)).body.data).toMatchObject({ left_to_bill: 595 });
});

test('when the client is under reverse charge, then a part of a fixed amount has no tax', async () => {
  await api.patch('/api/v1/account', { tax_id: 'DE136695976' });
  const german = { name: 'Ada', email: 'ada@example.com', tax_id: 'ATU13585627', tax_treatment: 'reverse_charge' };
  const client = (await made('clients', german)).id;
  const project = (await made('projects', { name: 'Logo', client_id: client, billing: 'fixed', fixed_amount: 800 })).id;
  expect(await made(`projects/${project}/bill`, {})).toMatchObject({ total: 800, taxes: [{ category: 'AE' }] });
});
