// Budgets of projects and tasks: what is used follows the time everywhere, and each threshold is announced once.
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { auditTimeTotals, repairTimeTotals } from '#libs/billing/audits/time-totals-audit.ts';
import { driverOf } from '#libs/models/records.ts';
import { storedId } from '#libs/models/tenant.ts';
import { Project } from '#libs/models/time/project.ts';
import { Task } from '#libs/models/time/task.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type AnyRecord, create, createClient, createProject, eventsOf } from '../../support/records.ts';
import type { TestAccount } from '../../support/workspace.ts';

let gateway: TestGateway;
let account: TestAccount;
let client: AnyRecord;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  account = await gateway.workspace.account();
  client = await createClient(gateway, { hourly_rate: 100 }, account);
});

const project = (fields: object) => createProject(gateway, { client_id: client.id, ...fields }, account);
const task = (project_id: string, fields: object) =>
  create(gateway, '/api/v1/tasks', { project_id, name: 'Draw', ...fields }, account);
const entryOf = (project_id: string, hours: number, fields: object = {}) => ({
  project_id,
  hours,
  date: '2026-11-02',
  ...fields,
});
const log = (project_id: string, hours: number, fields: object = {}) =>
  create(gateway, '/api/v1/time-entries', entryOf(project_id, hours, fields), account);
const change = async (path: string, body: object) => {
  const { status, body: answer } = await gateway.patch(`/api/v1/${path}`, body, account);
  expect([status, answer.error]).toEqual([200, undefined]);
  return answer.data as AnyRecord;
};
const read = async (path: string) => (await gateway.get(`/api/v1/${path}`, account)).body.data as AnyRecord;
const usedOf = async ({ id }: AnyRecord) => {
  const { budget } = await read(`projects/${id}`);
  return [budget.hours_used, budget.amount_used];
};

/** Returns the announced budgets in order: `project hours 80`. */
async function reached(): Promise<string[]> {
  const events = await Event.find({ account_id: account.id, type: /budget_reached$/ })
    .sort({ sequence: 1 })
    .lean<{ type: string; body: string }[]>();
  return events.map(({ type, body }) => {
    const { data } = JSON.parse(body);
    return `${type.split('.')[0]} ${data.reached.budget} ${data.reached.threshold}`;
  });
}

test('when time uses a budget, then 80 and 100 % are announced once each, with the record as it is', async () => {
  const plain = await project({});
  expect([plain.budget_hours, plain.budget_amount, plain.budget]).toEqual([null, null, null]);
  const one = await project({ budget_hours: 10, budget_amount: 2000 });
  expect(one).toMatchObject({
    budget_hours: 10,
    budget_amount: 2000,
    budget: { hours_used: 0, hours_percent: 0, amount_used: 0, amount_percent: 0 },
  });

  await log(one.id, 7.999);
  expect((await read(`projects/${one.id}`)).budget.hours_percent).toBe(79.98);
  expect(await reached()).toEqual([]);
  const last = await log(one.id, 0.001);
  const shown = await read(`projects/${one.id}`);
  expect(shown.budget).toEqual({
    hours_used: 8,
    hours_percent: 80,
    amount_used: 800,
    amount_percent: 40,
    currency: 'USD',
  });
  const [event] = await Event.find({ account_id: account.id, type: 'project.budget_reached' }).lean();
  expect(JSON.parse(event?.body ?? '').data).toEqual({ ...shown, reached: { budget: 'hours', threshold: 80 } });
  expect((await eventsOf(account.id)).slice(-3)).toEqual([
    'time_entry.created',
    'project.updated',
    'project.budget_reached',
  ]);

  await gateway.delete(`/api/v1/time-entries/${last.id}`, account);
  await log(one.id, 1);
  expect(await reached()).toEqual(['project hours 80']);
  await log(one.id, 11.002);
  expect(await reached()).toEqual(['project hours 80', 'project hours 100', 'project amount 80', 'project amount 100']);
  await log(one.id, 20);
  expect(await reached()).toHaveLength(4);
});

test('when a project has no budget, then time announces nothing of it and its ETag stays', async () => {
  const one = await project({});
  const before = (await gateway.get(`/api/v1/projects/${one.id}`, account)).headers.get('etag');
  await log(one.id, 3);

  expect((await eventsOf(account.id)).at(-1)).toBe('time_entry.created');
  expect((await gateway.get(`/api/v1/projects/${one.id}`, account)).headers.get('etag')).toBe(before);
});

test('when a budget is set, raised or lowered, then it counts time from before, and what is no longer reached is armed again', async () => {
  const one = await project({});
  await log(one.id, 9);
  expect((await change(`projects/${one.id}`, { budget_hours: 10 })).budget).toMatchObject({ hours_percent: 90 });
  expect(await reached()).toEqual(['project hours 80']);
  await change(`projects/${one.id}`, { budget_hours: 11 });
  expect(await reached()).toHaveLength(1);
  await change(`projects/${one.id}`, { budget_hours: 20 });
  await log(one.id, 7);
  expect(await reached()).toEqual(['project hours 80', 'project hours 80']);
  await change(`projects/${one.id}`, { name: 'Other', budget_hours: 20 });
  expect(await reached()).toHaveLength(2);
  await change(`projects/${one.id}`, { budget_hours: 15 });
  expect((await reached()).slice(2)).toEqual(['project hours 100']);
  expect((await change(`projects/${one.id}`, { budget_hours: null })).budget).toBeNull();
});

test('when time is changed, moved, settled anew, measured or deleted, then what is used follows', async () => {
  const [one, two] = [
    await project({ budget_hours: 1000, budget_amount: 0.3 }),
    await project({ budget_amount: 1_000_000 }),
  ];
  const work = await task(one.id, { rate: 80 });
  const entry = await log(one.id, 2);
  expect(await usedOf(one)).toEqual([2, 200]);
  await change(`time-entries/${entry.id}`, { hours: 3 });
  expect(await usedOf(one)).toEqual([3, 300]);
  await change(`time-entries/${entry.id}`, { task_id: work.id });
  expect(await usedOf(one)).toEqual([3, 240]);
  await change(`time-entries/${entry.id}`, { hourly_rate: 90.1 });
  expect(await usedOf(one)).toEqual([3, 270.3]);
  await change(`time-entries/${entry.id}`, { billable: false });
  expect(await usedOf(one)).toEqual([3, 0]);
  await change(`time-entries/${entry.id}`, { billable: true, project_id: two.id, task_id: null });
  expect([await usedOf(one), await usedOf(two)]).toEqual([
    [0, 0],
    [3, 270.3],
  ]);
  await log(two.id, 1);
  expect((await change(`projects/${two.id}`, { hourly_rate: 50, apply_to: 'unbilled' })).budget.amount_used).toBe(
    320.3,
  );
  expect(await usedOf(two)).toEqual([4, 320.3]);
  await change(`clients/${client.id}`, { hourly_rate: 10, apply_to: 'unbilled' });
  expect(await usedOf(two)).toEqual([4, 320.3]);
  await change(`projects/${two.id}`, { hourly_rate: null, apply_to: 'unbilled' });
  expect(await usedOf(two)).toEqual([4, 280.3]);
  await gateway.delete(`/api/v1/time-entries/${entry.id}`, account);
  expect(await usedOf(two)).toEqual([1, 10]);

  const started_at = new Date(Date.now() - 3_600_000).toISOString();
  const timer = await create(gateway, '/api/v1/timers', { project_id: one.id, started_at }, account);
  await gateway.post(
    `/api/v1/timers/${timer.id}/stop`,
    { ended_at: new Date(Date.parse(started_at) + 1_800_000) },
    account,
  );
  expect(await usedOf(one)).toEqual([0.5, 5]);
  await log(one.id, 7, { task_id: work.id });
  await log(one.id, 8, { task_id: work.id });
  expect(await usedOf(one)).toEqual([15.5, 1205]);
  expect((await gateway.delete(`/api/v1/tasks/${work.id}`, account)).status).toBe(200);
  expect(await usedOf(one)).toEqual([0.5, 5]);
  expect(await auditTimeTotals(account.id)).toEqual([]);
});

test('when time is billed and settled, then what is used stays, exact also for sums of odd rates', async () => {
  const one = await project({ budget_amount: 0.3, hourly_rate: 0.1 });
  await log(one.id, 1);
  await log(one.id, 1);
  expect((await read(`projects/${one.id}`)).budget.amount_percent).toBe(66.66);
  const { id } = await log(one.id, 1);
  expect((await read(`projects/${one.id}`)).budget).toMatchObject({ amount_used: 0.3, amount_percent: 100 });
  expect(await reached()).toEqual(['project amount 80', 'project amount 100']);
  const invoice = await create(
    gateway,
    '/api/v1/invoices/from-time',
    { client_id: client.id, time_entry_ids: [id] },
    account,
  );
  await gateway.delete(`/api/v1/invoices/${invoice.id}`, account);
  await gateway.post('/api/v1/time-entries/billing', { time_entry_ids: [id], status: 'written_off' }, account);
  expect(await usedOf(one)).toEqual([3, 0.3]);
  expect(await auditTimeTotals(account.id)).toEqual([]);
});

test('when a task has a budget of hours, then its thresholds are announced once each and follow its limit', async () => {
  const { id } = await project({});
  const one = await task(id, { budget_hours: 4, estimated_hours: 2 });
  expect(one).toMatchObject({ estimated_hours: 2, budget_hours: 4, budget: { hours_used: 0, hours_percent: 0 } });
  const entry = await log(id, 4, { task_id: one.id });
  expect((await eventsOf(account.id)).slice(-4)).toEqual([
    'time_entry.created',
    'task.updated',
    'task.budget_reached',
    'task.budget_reached',
  ]);
  expect(await reached()).toEqual(['task hours 80', 'task hours 100']);
  await change(`time-entries/${entry.id}`, { hours: 1 });
  await change(`time-entries/${entry.id}`, { hours: 5 });
  expect(await reached()).toHaveLength(2);
  expect((await change(`tasks/${one.id}`, { budget_hours: 6 })).budget).toEqual({
    hours_used: 5,
    hours_percent: 83.33,
  });
  expect(await reached()).toHaveLength(2);
  await log(id, 1, { task_id: one.id });
  expect((await reached()).slice(2)).toEqual(['task hours 100']);
});

test('when limits are wrong, then 400 names each', async () => {
  const wrong = { budget_hours: 0, budget_amount: -1 };
  const reply = await gateway.post('/api/v1/projects', { name: 'x', client_id: client.id, ...wrong }, account);
  expect([reply.status, Object.keys(reply.body.details)]).toEqual([400, ['budget_hours', 'budget_amount']]);
});

test('when it is a dry run, then nothing is used and nothing announced', async () => {
  const one = await project({ budget_hours: 1 });
  const reply = await gateway.post('/api/v1/time-entries?dry_run=true', entryOf(one.id, 2), account);
  expect(reply.status).toBe(200);
  expect([await usedOf(one), await reached()]).toEqual([[0, 0], []]);
});

test('when time is logged twelve times at once, then no hour is lost and each threshold is announced once', async () => {
  const one = await project({ budget_hours: 10 });
  const work = await task(one.id, { budget_hours: 10 });
  const body = entryOf(one.id, 1, { task_id: work.id });
  const post = () => gateway.post('/api/v1/time-entries', body, account);
  const replies = await Promise.all(Array.from({ length: 12 }, post));

  expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 201));
  expect((await usedOf(one))[0]).toBe(12);
  expect((await reached()).toSorted()).toEqual([
    'project hours 100',
    'project hours 80',
    'task hours 100',
    'task hours 80',
  ]);
  expect(await auditTimeTotals(account.id)).toEqual([]);
});

test('when totals are wrong or missing, then the audit names them, and a repair adds the time up and announces what it reaches', async () => {
  const one = await project({ budget_hours: 10 });
  const bare = await project({});
  const work = await task(one.id, {});
  await log(one.id, 9, { task_id: work.id, hourly_rate: 33.333333333333 });
  await log(bare.id, 1);
  await driverOf(Project).updateMany({ account_id: storedId(account.id) }, {
    $unset: { total_seconds: 1, total_worth: 1, hours_reached: 1 },
  } as never);
  await driverOf(Task).updateOne({ _id: storedId(work.id) }, { $set: { total_seconds: 5 } as never });

  const named = (await auditTimeTotals(account.id)).map(({ problem, id }) => [problem, id]);
  expect(named).toHaveLength(3);
  expect(named).toEqual(
    expect.arrayContaining([
      ['task: its time adds up to another total', work.id],
      ['project: its time adds up to other totals', one.id],
      ['project: its time adds up to other totals', bare.id],
    ]),
  );
  expect(await repairTimeTotals(account.id)).toEqual([`task/${work.id}`, `project/${one.id}`, `project/${bare.id}`]);
  expect(await auditTimeTotals(account.id)).toEqual([]);
  expect(await usedOf(one)).toEqual([9, 300]);
  expect((await read(`tasks/${work.id}`)).total_seconds).toBe(9 * 3600);
  expect(await reached()).toEqual(['project hours 80', 'project hours 80']);
  expect(await repairTimeTotals(account.id)).toEqual([]);
});

test('when rates are in a currency of other decimals, then what is used has as many, from the moment that the budget is set', async () => {
  const { id } = await createClient(gateway, { currency: 'JPY' }, account);
  const yen = await project({ client_id: id, budget_amount: 1000, hourly_rate: 333.4 });
  await log(yen.id, 1.5);
  expect((await read(`projects/${yen.id}`)).budget).toMatchObject({ amount_used: 500, currency: 'JPY' });
  const dinar = await project({ hourly_rate: 0.5555 });
  await log(dinar.id, 1.5);
  await change(`projects/${dinar.id}`, { currency: 'KWD', budget_hours: 10 });
  expect((await read(`projects/${dinar.id}`)).budget).toMatchObject({ amount_used: 0.833, currency: 'KWD' });
  await change(`projects/${dinar.id}`, { currency: null, budget_amount: 5 });
  expect((await read(`projects/${dinar.id}`)).budget).toMatchObject({ amount_used: 0.83, currency: 'USD' });
});
