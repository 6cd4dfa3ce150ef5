// Time of single people: it is billed, listed and taken along by a recurring invoice alone, and that of others stays unbilled.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { dayIn } from '#libs/day.ts';
import { callerOf, startGateway, type TestGateway, verbsOf } from '../../support/gateway.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** A client with time of Ada, of Grace and without a member, an expense, and a project with a fixed amount. */
async function work() {
  const api = verbsOf(callerOf(gateway.url, (await gateway.workspace.account()).key));
  const made = async (path: string, body: object) => (await api.post(`/api/v1/${path}`, body)).body.data;
  const client = (await made('clients', { name: 'Babbage', email: 'b@example.com', hourly_rate: 100 })).id as string;
  const project = (await made('projects', { name: 'Engine', client_id: client })).id as string;
  await made('projects', { name: 'Logo', client_id: client, billing: 'fixed', fixed_amount: 500 });
  const log = (member: string | null, hours: number) =>
    made('time-entries', { project_id: project, hours, date: '2026-11-02', member });
  const [ada, grace, unnamed] = [await log('Ada', 1), await log('Grace', 2), await log(null, 4)];
  const expense = { project_id: project, date: '2026-11-03', amount: 40, description: 'Train', currency: 'USD' };
  await made('expenses', expense);
  const unbilled = async () => {
    const { body } = await api.get('/api/v1/time-entries?billing=unbilled&sort=date&limit=100');
    return (body.data as { member: string | null }[]).map(({ member }) => member);
  };
  return { api, made, client, project, log, unbilled, ids: { ada: ada.id, grace: grace.id, unnamed: unnamed.id } };
}

test('when an invoice bills members, then it takes the time of them alone, and the others stay unbilled', async () => {
  const w = await work();
  const invoice = await w.made('invoices/from-time', { client_id: w.client, members: ['Ada'] });
  expect(invoice).toMatchObject({ amount: 100 });
  expect(await w.unbilled()).toEqual(['Grace', null]);

  const more = await w.log('Grace', 8);
  const path = `/api/v1/invoices/${invoice.id}/time-entries`;
  const added = await w.api.post(path, { members: ['Grace', 'Ada'], group_by: 'member' });
  expect(added.body.data).toMatchObject({ amount: 1100 });
  expect(await w.unbilled()).toEqual([null]);
  expect((await w.api.post(path, { members: ['ada'] })).body).toEqual(
    expect.objectContaining({ error: 'Nothing to bill' }),
  );
  const both = await w.api.post(path, { members: ['Ada'], time_entry_ids: [more.id] });
  expect([both.status, JSON.stringify(both.body)]).toEqual([
    400,
    expect.stringContaining('time_entry_ids must not stand beside members'),
  ]);
});

test('when members are chosen, then expenses come along as they do without, since they have no member', async () => {
  const w = await work();
  const wanted = { client_id: w.client, members: ['Ada'], include_expenses: true };
  expect(await w.made('invoices/from-time', wanted)).toMatchObject({ amount: 140 });
});

test('when a recurring invoice bills members, then each run takes their time and leaves that of others', async () => {
  const w = await work();
  const today = dayIn('UTC');
  const recurring = await w.made('recurring-invoices', {
    client_id: w.client,
    line_items: [{ description: 'Support', quantity: 1, rate: 10 }],
    schedule: { unit: 'month', start_on: today },
    include_time: { group_by: 'member', members: ['Grace'] },
  });
  expect(recurring.include_time).toMatchObject({ members: ['Grace'], project_ids: null });
  const run = await w.api.post(`/api/v1/recurring-invoices/${recurring.id}/run`, {});
  expect(run.body.data).toMatchObject({ amount: 210 });
  expect(await w.unbilled()).toEqual(['Ada', null]);

  const include_time = { group_by: 'member' };
  const changed = await w.api.patch(`/api/v1/recurring-invoices/${recurring.id}`, { include_time });
  expect(changed.body.data.include_time).toMatchObject({ members: null });
  await w.api.post(`/api/v1/recurring-invoices/${recurring.id}/run`, {});
  expect(await w.unbilled()).toEqual([]);
});

test('when the unbilled of one member is listed, then it is their time in the same rows, and equals their invoice', async () => {
  const w = await work();
  const rows = async (query = '') => (await w.api.get(`/api/v1/unbilled${query}`)).body.data;
  expect(await rows()).toMatchObject([
    { project: { id: w.project }, entries: 3, hours: 7, amount: 700, expenses: 1 },
    { billing: 'fixed', amount: 500 },
  ]);
  expect(await rows('?member=Grace')).toMatchObject([
    { project: { id: w.project }, entries: 1, hours: 2, amount: 200, expenses: 0, expense_amount: 0 },
  ]);
  expect(await rows(`?member=Grace&client_id=${w.client}`)).toHaveLength(1);
  expect(await rows('?member=grace')).toEqual([]);
  const invoice = await w.api.post('/api/v1/invoices/from-time?dry_run=true', {
    client_id: w.client,
    members: ['Grace'],
  });
  expect(invoice.body.data.amount).toBe(200);
});
