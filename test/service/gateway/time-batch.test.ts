// Many time entries in one request: all or none, under the rules of a single one, and each external id once.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TimeEntry } from '#libs/models/time/time-entry.ts';
import { callerOf, startGateway, type TestGateway, verbsOf } from '../../support/gateway.ts';
import { eventsOf, UNKNOWN_ID } from '../../support/records.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const path = '/api/v1/time-entries/batch';
const date = '2026-11-02';

async function studio() {
  const account = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, account.key));
  const made = async (name: string, body: object): Promise<string> =>
    (await api.post(`/api/v1/${name}`, body)).body.data.id;
  const client_id = await made('clients', { name: 'Ada', email: 'ada@example.com', hourly_rate: 80 });
  const project_id = await made('projects', { name: 'Mill', client_id });
  const task_id = await made('tasks', { name: 'Design', project_id, rate: 120, billable: false });
  const log = (...time_entries: object[]) =>
    api.post(path, { time_entries: time_entries.map((entry) => ({ project_id, date, hours: 1, ...entry })) });
  return { account, api, made, client_id, project_id, task_id, log };
}

test('when many are logged, then each is as a single one would be, in order, and totals are announced once', async () => {
  const { account, api, project_id, task_id, log } = await studio();
  const { status, body } = await log(
    { external_id: 'a', task_id, description: 'Sketches' },
    { external_id: 'b', hours: '1h 30m', hourly_rate: 95, member: 'Ada' },
    { hours: undefined, date: undefined, started_at: `${date}T09:00:00Z`, ended_at: `${date}T11:00:00Z` },
  );
  expect([status, body.data.created]).toEqual([201, 3]);
  expect(body.data.time_entries).toMatchObject([
    { external_id: 'a', hours: 1, rate: 120, rate_from: 'task', billable: false, task_id, description: 'Sketches' },
    { external_id: 'b', hours: 1.5, rate: 95, rate_from: 'entry', billable: true, member: 'Ada', task_id: null },
    { external_id: null, hours: 2, date, rate: 80, rate_from: 'client', project: { id: project_id } },
  ]);
  for (const entry of body.data.time_entries) {
    expect((await api.get(`/api/v1/time-entries/${entry.id}`)).body.data).toEqual(entry);
  }
  expect((await api.get(`/api/v1/tasks/${task_id}`)).body.data.total_seconds).toBe(3600);
  const types = (await eventsOf(account.id)).filter((type) => /time_entry|task/.test(type));
  expect(types).toEqual(['task.created', ...Array(3).fill('time_entry.created'), 'task.updated']);
});

test('when a batch is sent again, then the entries that are there are returned as they are now, and only new ones are logged', async () => {
  const { api, log } = await studio();
  const first = (await log({ external_id: 'a' }, { external_id: 'b' })).body.data.time_entries;
  await api.patch(`/api/v1/time-entries/${first[1].id}`, { hours: 4 });
  const again = await log({ external_id: 'b' }, { external_id: 'c' }, { external_id: 'a', hours: 9 });
  expect([again.status, again.body.data.created]).toEqual([201, 1]);
  expect(again.body.data.time_entries).toMatchObject([
    { id: first[1].id, hours: 4 },
    { external_id: 'c', hours: 1 },
    { id: first[0].id, hours: 1 },
  ]);
  const nothing = await log({ external_id: 'a' }, { external_id: 'b' });
  expect([nothing.status, nothing.headers.get('Idempotent-Replayed'), nothing.body.data.created]).toEqual([
    200,
    'true',
    0,
  ]);
  expect((await api.get('/api/v1/time-entries')).body.pagination.total).toBe(3);
});

test('when eight callers send one batch at once, then each entry is logged once, and all get the same', async () => {
  const { account, log } = await studio();
  const entries = Array.from({ length: 5 }, (_, index) => ({ external_id: `e-${index}` }));
  const replies = await Promise.all(Array.from({ length: 8 }, () => log(...entries)));
  const ids = replies.map(({ body }) => body.data.time_entries.map(({ id }: { id: string }) => id));
  expect(new Set(ids.map(String)).size).toBe(1);
  expect(replies.map(({ status }) => status).toSorted()).toEqual([...Array(7).fill(200), 201]);
  expect(await TimeEntry.countDocuments({ account_id: account.id })).toBe(5);
});

test('when entries are wrong, then every problem names the entry by its place, and nothing is logged', async () => {
  const { api, task_id, made, client_id, log } = await studio();
  const other = await made('projects', { name: 'Other', client_id });
  const invalid = await log({ hours: -1 }, {}, { date: '2026-02-30', hours: undefined }, { external_id: '' });
  expect([invalid.status, invalid.body.details]).toEqual([
    400,
    {
      'time_entries.0.hours': ['time_entries[0].hours must be positive'],
      'time_entries.2.date': [expect.stringContaining('must be a calendar day')],
      'time_entries.2.hours': ['time_entries[2].hours is required'],
      'time_entries.3.external_id': [expect.any(String)],
    },
  ]);
  const twice = await log({ external_id: 'a' }, {}, { external_id: 'a' });
  expect(twice.body.details).toEqual({ 'time_entries.2': ['time_entries[2] has the external_id of time_entries[0]'] });
  const mixed = await log({ hours: 25 }, { project_id: UNKNOWN_ID }, { project_id: other, task_id });
  expect([mixed.status, mixed.body.details]).toEqual([
    400,
    {
      'time_entries.0.hours': [expect.stringContaining('max_entry_hours')],
      'time_entries.1.project_id': ['Project not found or access denied'],
      'time_entries.2.task_id': ['Task not found or access denied'],
    },
  ]);
  const unknown = await log({}, { project_id: UNKNOWN_ID });
  expect([unknown.status, unknown.body]).toMatchObject([
    404,
    { error: 'Project not found or access denied', problems: [{ field: 'time_entries.1.project_id' }] },
  ]);
  expect((await log(...Array(201).fill({}))).status).toBe(400);
  expect((await log()).status).toBe(400);
  await api.patch('/api/v1/account', { time_locked_before: date });
  const locked = await log({}, { date: '2026-11-01' });
  expect([locked.status, locked.body]).toMatchObject([
    409,
    { code: 'time_locked', problems: [{ field: 'time_entries.1.date', code: 'too_early' }] },
  ]);
  expect((await api.get('/api/v1/time-entries')).body.pagination.total).toBe(0);
});

test('when two accounts use one external id, then each has its own entry', async () => {
  const [one, other] = [await studio(), await studio()];
  const ids = [await one.log({ external_id: 'a' }), await other.log({ external_id: 'a' })].map(
    ({ body }) => body.data.time_entries[0].id,
  );
  expect(ids[0]).not.toBe(ids[1]);
});
