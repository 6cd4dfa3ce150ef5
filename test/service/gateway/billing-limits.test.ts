// Fields that must not change once time was billed, and limits of those that may.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addDays, dayIn } from '#libs/day.ts';
import { callerOf, startGateway, type TestGateway, verbsOf } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const today = dayIn('UTC');

async function world() {
  const { key } = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, key));
  const made = async (name: string, body: object): Promise<string> =>
    (await api.post(`/api/v1/${name}`, body)).body.data.id;
  const client_id = await made('clients', { name: 'Ada', email: 'ada@example.com', hourly_rate: 100, currency: 'EUR' });
  const project_id = await made('projects', { name: 'Engine', client_id });
  const log = (fields: object = {}) => made('time-entries', { project_id, hours: 10, date: '2026-11-02', ...fields });
  return { api, made, client_id, project_id, log };
}

test('when a project has time on an invoice, then it cannot get a fixed amount until that is free again', async () => {
  const { api, made, client_id, project_id, log } = await world();
  await log();
  const draft = await made('invoices/from-time', { client_id });
  const fix = () => api.patch(`/api/v1/projects/${project_id}`, { billing: 'fixed', fixed_amount: 500 });
  const rejected = await fix();
  expect([rejected.status, rejected.body.error]).toEqual([
    409,
    'Cannot set billing to fixed for a project with billed time',
  ]);
  await api.delete(`/api/v1/invoices/${draft}`);
  expect((await fix()).status).toBe(200);
});

test('when a draft has time, then its currency cannot change: the rates are those of another one', async () => {
  const { api, made, client_id, log } = await world();
  await log();
  const draft = await made('invoices/from-time', { client_id });
  const change = () => api.patch(`/api/v1/invoices/${draft}`, { currency: 'JPY' });
  expect((await change()).body.error).toBe('Cannot change currency of an invoice with time: take it off first');
  await api.post(`/api/v1/invoices/${draft}/time-entries/release`);
  expect((await change()).status).toBe(200);
});

test('when work is dated tomorrow, then neither the list of unbilled work nor an invoice has it', async () => {
  const { api, made, client_id, project_id, log } = await world();
  const expense = (date: string) => made('expenses', { project_id, date, amount: 7, description: 'Train' });
  await log({ date: today });
  await expense(today);
  await log({ date: addDays(today, 1) });
  await expense(addDays(today, 1));
  const [row] = (await api.get('/api/v1/unbilled')).body.data;
  expect(row).toMatchObject({ entries: 1, hours: 10, amount: 1000, expenses: 1, expense_amount: 7 });
  const preview = await api.post('/api/v1/invoices/from-time?dry_run=true', { client_id, include_expenses: true });
  expect(preview.body.data.amount).toBe(row.amount + row.expense_amount);
});

test('when the limit of hours fell below those of an entry, then everything else of it can change', async () => {
  const { api, log } = await world();
  const id = await log();
  await api.patch('/api/v1/account', { max_entry_hours: 8 });
  const change = async (body: object) => (await api.patch(`/api/v1/time-entries/${id}`, body)).status;
  expect([await change({ hours: 10, description: 'Mill' }), await change({ hours: 9 })]).toEqual([200, 400]);
});

test('when a package with rollover is over, then it is Active as long as a later one for the same work is valid', async () => {
  const { api, made, client_id, project_id } = await world();
  const over = { client_id, hours: 5, valid_until: addDays(today, -1) };
  const [rolls, ends] = [await made('hour-packages', { ...over, rollover: true }), await made('hour-packages', over)];
  const statusOf = async (id: string) => (await api.get(`/api/v1/hour-packages/${id}`)).body.data.status;
  expect([await statusOf(rolls), await statusOf(ends)]).toEqual(['Expired', 'Expired']);
  await made('hour-packages', { client_id, project_id, hours: 1 });
  expect(await statusOf(rolls)).toBe('Expired');
  const next = await made('hour-packages', { client_id, hours: 1, valid_until: today });
  expect([await statusOf(rolls), await statusOf(ends)]).toEqual(['Active', 'Expired']);
  expect((await api.post('/api/v1/time-entries', { project_id, hours: 2, date: today })).status).toBe(201);
  await made('invoices/from-time', { client_id });
  expect((await api.get(`/api/v1/hour-packages/${rolls}`)).body.data.left_hours).toBe(3);
  await api.patch(`/api/v1/hour-packages/${next}`, { valid_until: addDays(today, -1) });
  expect(await statusOf(rolls)).toBe('Expired');
});
