// Totals of lists come from the account's counter: after any sequence of requests they equal a count of the records.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import mongoose from 'mongoose';
import { addDays, dayIn } from '#libs/day.ts';
import { Counter } from '#libs/models/counter.ts';
import { compareCounts, recount } from '#libs/models/recount.ts';
import { storedId } from '#libs/models/tenant.ts';
import { count, isFull, isSampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type AnyRecord, create, createClient, createProject } from '../../support/records.ts';
import type { TestAccount } from '../../support/workspace.ts';

const SEED = Number(process.env['TEST_SEED'] ?? 20_261_126);
const SEQUENCES = isFull ? 500 : isSampled() ? 3 : 6;
const LONGEST = 30;
const LIMIT_MS = isFull ? 10_800_000 : 300_000;
const today = dayIn('UTC');

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const which = fc.nat({ max: 9 });
/** Last month, this month before and after today, next months, and extreme days. */
const day = fc.oneof(
  fc.integer({ min: -40, max: 70 }).map((days) => addDays(today, days)),
  fc.constantFrom('1899-01-01', '2100-01-01', '9999-12-31'),
);
const invoiceStatus = fc.constantFrom('Sent', 'Paid', 'Overdue', 'Cancelled');
const quoteStatus = fc.constantFrom('Draft', 'Sent', 'Accepted', 'Declined', 'Expired');
const amount = fc.constantFrom(0, 50, 120.5);
const isDry = fc.boolean();
const step = fc.oneof(
  fc.record({ kind: fc.constant('client' as const), isDry }),
  fc.record({ kind: fc.constant('project' as const), status: fc.constantFrom('In Progress', 'Complete', 'On $hold.') }),
  fc.record({ kind: fc.constant('task' as const), status: fc.constantFrom('todo', 'done') }),
  fc.record({ kind: fc.constant('time' as const), onTask: fc.option(which) }),
  fc.record({ kind: fc.constant('invoice' as const), day, amount, isSent: fc.boolean(), isDry }),
  fc.record({ kind: fc.constant('timer' as const), which, isStopped: fc.boolean() }),
  fc.record({ kind: fc.constant('fromTime' as const), isSent: fc.boolean() }),
  fc.record({
    kind: fc.constant('invoiceChange' as const),
    which,
    status: fc.option(invoiceStatus),
    day: fc.option(day),
  }),
  fc.record({ kind: fc.constant('quote' as const), day, isSent: fc.boolean() }),
  fc.record({ kind: fc.constant('quoteChange' as const), which, status: fc.option(quoteStatus), day: fc.option(day) }),
  fc.record({ kind: fc.constant('convert' as const), which }),
  fc.record({ kind: fc.constant('pay' as const), amount: fc.constantFrom(10, 60, 500), isDry }),
  fc.record({ kind: fc.constant('void' as const), which }),
  fc.record({ kind: fc.constant('writeOff' as const), which }),
  fc.record({ kind: fc.constant('credit' as const), which, isDry }),
  fc.record({ kind: fc.constant('anonymise' as const) }),
  fc.record({ kind: fc.constant('deleteWithTime' as const) }),
  fc.record({ kind: fc.constant('deleteWithTasks' as const) }),
  fc.record({
    kind: fc.constant('delete' as const),
    which,
    of: fc.constantFrom('clients', 'projects', 'tasks', 'time-entries', 'quotes', 'invoices'),
  }),
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

interface Scene {
  account: TestAccount;
  client_id: string;
  project_id: string;
}

test(
  'when any requests are made in turn or concurrently, then every total of every list equals a count after each',
  async () => {
    const seen = new Set<string>();
    const property = fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: LONGEST }), async (sequence) => {
      const scene = await open();
      for (let at = 0; at < sequence.length; at += 2) {
        const pair = sequence.slice(at, at + 2);
        const statuses = await Promise.all(pair.map((one) => take(scene, one)));
        expect(statuses.filter((status) => ![200, 201, 400, 404, 409].includes(status))).toEqual([]);
        for (const [index, { kind }] of pair.entries()) if ((statuses[index] ?? 400) < 400) seen.add(kind);
        expect([pair, await compareCounts(scene.account.id)]).toEqual([pair, []]);
      }
      await expectTotals(scene.account);
      count('sequences of totals', 1);
    });
    await fc.assert(property, { seed: SEED, numRuns: SEQUENCES, endOnFailure: !isFull });
    expect(seen.size).toBeGreaterThan(12);
  },
  LIMIT_MS,
);

async function open(): Promise<Scene> {
  const account = await gateway.workspace.account();
  await gateway.patch('/api/v1/account', { project_statuses: ['In Progress', 'Complete', 'On $hold.'] }, account);
  const { id: client_id } = await createClient(gateway, {}, account);
  const { id: project_id } = await createProject(gateway, { client_id }, account);
  return { account, client_id, project_id };
}

async function take({ account, client_id, project_id }: Scene, one: Step): Promise<number> {
  const post = async (path: string, body: object, isDryRun = false) =>
    (await gateway.post(`/api/v1/${path}${isDryRun ? '?dry_run=true' : ''}`, body, account)).status;
  const patch = async (path: string, body: object) => (await gateway.patch(`/api/v1/${path}`, body, account)).status;
  const idOf = async (list: string, index: number): Promise<string | undefined> => {
    const all = (await gateway.get(`/api/v1/${list}?limit=100`, account)).body.data as AnyRecord[];
    return all[index % Math.max(1, all.length)]?.id;
  };
  const status = (isSent: boolean) => (isSent ? 'Sent' : 'Draft');
  const given = (fields: object) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  switch (one.kind) {
    case 'client':
      return post('clients', { name: 'Ada', email: 'ada@example.com' }, one.isDry);
    case 'project':
      return post('projects', { name: 'Mill', client_id, status: one.status });
    case 'task':
      return post('tasks', { name: 'Draw', project_id, status: one.status });
    case 'time': {
      const task_id = one.onTask === null ? undefined : await idOf('tasks', one.onTask);
      return post('time-entries', { project_id, task_id, hours: 1, hourly_rate: 90, date: today });
    }
    case 'invoice': {
      const body = { client_id, amount: one.amount, due_date: one.day, status: status(one.isSent) };
      return post('invoices', body, one.isDry);
    }
    case 'timer': {
      const body = { project_id, owner: `owner ${one.which}`, started_at: new Date(Date.now() - 60_000).toISOString() };
      const { status: started, body: reply } = await gateway.post('/api/v1/timers', body, account);
      return one.isStopped && started === 201 ? post(`timers/${reply.data.id}/stop`, {}) : started;
    }
    case 'fromTime':
      return post('invoices/from-time', { client_id, status: status(one.isSent) });
    case 'invoiceChange':
      return patch(`invoices/${await idOf('invoices', one.which)}`, given({ status: one.status, due_date: one.day }));
    case 'quote':
      return post('quotes', { client_id, amount: 80, expires_at: one.day, status: status(one.isSent) });
    case 'quoteChange':
      return patch(`quotes/${await idOf('quotes', one.which)}`, given({ status: one.status, expires_at: one.day }));
    case 'convert':
      return post(`quotes/${await idOf('quotes', one.which)}/convert`, { accept: true });
    case 'pay':
      return post('payments', { client_id, amount: one.amount }, one.isDry);
    case 'void':
      return post(`payments/${await idOf('payments', one.which)}/void`, { reason: 'x' });
    case 'writeOff':
      return post(`invoices/${await idOf('invoices', one.which)}/write-off`, { reason: 'x' });
    case 'credit':
      return post(`invoices/${await idOf('invoices', one.which)}/credit-notes`, { reason: 'return' }, one.isDry);
    case 'anonymise': {
      const { id } = await createClient(gateway, {}, account);
      return post(`clients/${id}/anonymise`, {});
    }
    case 'deleteWithTime': {
      const { id: task_id } = await create(gateway, '/api/v1/tasks', { name: 'Draw', project_id }, account);
      await post('time-entries', { project_id, task_id, hours: 1, date: today });
      return (await gateway.delete(`/api/v1/tasks/${task_id}`, account)).status;
    }
    case 'deleteWithTasks': {
      const project = await createProject(gateway, { client_id }, account);
      await post('tasks', { name: 'Draw', project_id: project.id });
      return (await gateway.delete(`/api/v1/projects/${project.id}`, account)).status;
    }
    case 'delete':
      return (await gateway.delete(`/api/v1/${one.of}/${await idOf(one.of, one.which)}`, account)).status;
  }
}

const STATUSES: Record<string, string[]> = {
  invoices: ['Draft', 'Sent', 'Overdue', 'Paid', 'Cancelled', 'Sent,Overdue', 'Draft,Overdue', 'Paid,Sent'],
  quotes: ['Draft', 'Sent', 'Expired', 'Accepted', 'Sent,Expired', 'Draft,Expired', 'Sent,Declined'],
  projects: ['In Progress', 'Complete', 'On $hold.'],
  tasks: ['todo', 'in_progress', 'done'],
  timers: ['running', 'stopped'],
  clients: [],
  payments: [],
  'credit-notes': [],
  'time-entries': [],
};

/** The total from the counter, as a caller gets it, and the total without it. */
async function expectTotals(account: TestAccount) {
  const kept = await totals(account);
  await Counter.collection.updateOne({ _id: storedId(account.id) as never }, { $unset: { counts: 1 } });
  expect(await totals(account)).toEqual(kept);
  expect(await compareCounts(account.id)).toEqual([{ account_id: account.id, wrong: undefined }]);
  await recount(account.id);
}

async function totals(account: TestAccount) {
  const paths = Object.entries(STATUSES).flatMap(([list, statuses]) => [
    list,
    ...statuses.map((status) => `${list}?status=${encodeURIComponent(status)}`),
  ]);
  const found: Record<string, number> = {};
  for (const path of paths) {
    const { body } = await gateway.get(`/api/v1/${path}`, account);
    found[path] = body.pagination.total;
    // A page has up to a hundred records, so these are all of them.
    expect([path, body.data.length]).toEqual([path, Math.min(50, body.pagination.total)]);
  }
  return found;
}

test('when a count is wrong, then the comparison names it, a recount repairs it, and the list is correct again', async () => {
  const { account, client_id } = await open();
  for (const status of ['Draft', 'Sent']) {
    await create(gateway, '/api/v1/invoices', { client_id, amount: 5, due_date: '2099-12-31', status }, account);
  }
  const counter = { _id: storedId(account.id) as never };
  await Counter.collection.updateOne(counter, { $set: { 'counts.invoices/Draft': 7, 'counts.invoices/Gone': 1 } });
  const wrong = ['invoices/Draft', 'invoices/Gone'];

  expect(await compareCounts(account.id)).toEqual([{ account_id: account.id, wrong }]);
  expect(await recount(account.id)).toEqual(wrong);
  expect(await compareCounts(account.id)).toEqual([]);
  expect((await gateway.get('/api/v1/invoices', account)).body.pagination.total).toBe(2);
});

test('when an account has no counter yet, then its lists count records, changes create none, and a recount does', async () => {
  const { account, client_id } = await open();
  await Counter.collection.updateOne({ _id: storedId(account.id) as never }, { $unset: { counts: 1 } });
  await create(gateway, '/api/v1/invoices', { client_id, amount: 5, due_date: '2099-12-31', status: 'Sent' }, account);

  expect(await compareCounts(account.id)).toEqual([{ account_id: account.id, wrong: undefined }]);
  expect((await gateway.get('/api/v1/invoices?status=Sent', account)).body.pagination.total).toBe(1);
  await recount(account.id);
  expect(await compareCounts(account.id)).toEqual([]);
});

test('when records are made, changed and removed, then no request updates the counter in a separate write', async () => {
  const { account, client_id, project_id } = await open();
  const { db } = mongoose.connection;
  if (!db) throw new Error('not connected');
  await db.command({ profile: 2, filter: { ns: `${db.databaseName}.${Counter.collection.name}` } });
  const make = (path: string, body: object) => create(gateway, `/api/v1/${path}`, body, account);
  const invoice = { client_id, amount: 5, due_date: '2099-12-31' };
  const quote = { client_id, amount: 80 };
  const time = { project_id, hours: 1, hourly_rate: 90, date: today };

  const { id: spare } = await make('clients', { name: 'Ada', email: 'ada@example.com' });
  const { id: project } = await make('projects', { name: 'Mill', client_id });
  const { id: task } = await make('tasks', { name: 'Draw', project_id: project });
  await make('time-entries', { ...time, project_id: project, task_id: task });
  await make('time-entries', time);
  await make('invoices/from-time', { client_id, status: 'Sent' });
  const { id: draft } = await make('invoices', invoice);
  const { id: issued } = await make('invoices', invoice);
  await gateway.patch(`/api/v1/invoices/${issued}`, { status: 'Sent' }, account);
  await gateway.patch(`/api/v1/invoices/${issued}`, { status: 'Paid' }, account);
  await make('invoices', { ...invoice, status: 'Sent' });
  const { id: paid } = await make('payments', { client_id, amount: 100 });
  await make('payments', { client_id, amount: 10, allocations: [] });
  const { id: returned } = await make('invoices', { ...invoice, status: 'Sent' });
  await make(`invoices/${returned}/credit-notes`, { reason: 'return', amount: 2 });
  await make(`invoices/${returned}/credit-notes`, { reason: 'return' });
  await make(`quotes/${(await make('quotes', quote)).id}/convert`, { accept: true });
  const { id: offered } = await make('quotes', quote);
  await gateway.post(`/api/v1/payments/${paid}/void`, { reason: 'x' }, account);
  for (const path of [`invoices/${draft}`, `quotes/${offered}`, `clients/${spare}`]) {
    expect([path, (await gateway.delete(`/api/v1/${path}`, account)).status]).toEqual([path, 200]);
  }

  await db.command({ profile: 0 });
  const updates = await db.collection('system.profile').find({ op: 'update' }).toArray();
  const alone = updates.filter(({ command }) => JSON.stringify(command).includes('$setField'));
  expect(await compareCounts(account.id)).toEqual([]);
  expect(alone.map(({ command }) => JSON.stringify(command))).toEqual([]);
});
