// Time before a day that the account sets is locked: every way to log, change or delete it is 409, and it can be billed.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addDays, dayIn } from '#libs/day.ts';
import { callerOf, startGateway, type TestGateway, verbsOf } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test('when time is locked before a day, then what is older can be billed and settled, and neither logged, changed nor deleted', async () => {
  const { key } = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, key));
  const made = async (name: string, body: object): Promise<string> =>
    (await api.post(`/api/v1/${name}`, body)).body.data.id;
  const today = dayIn('UTC');
  const [locked, open] = [addDays(today, -2), addDays(today, -1)];
  const client_id = await made('clients', { name: 'Ada', email: 'ada@example.com', hourly_rate: 100 });
  const project_id = await made('projects', { name: 'Engine', client_id });
  const task_id = await made('tasks', { name: 'Drawings', project_id });
  const log = (date: string) => api.post('/api/v1/time-entries', { project_id, task_id, hours: 1, date });
  const [old, fresh] = [(await log(locked)).body.data.id, (await log(open)).body.data.id];
  const begun = `${locked}T12:00:00Z`;
  const timer = await made('timers', { project_id, owner: 'early', started_at: begun });
  expect((await api.patch('/api/v1/account', { time_locked_before: open })).body.data.time_locked_before).toBe(open);

  const rejected = [
    await log(locked),
    await api.patch(`/api/v1/time-entries/${old}`, { description: 'Other' }),
    await api.patch(`/api/v1/time-entries/${old}`, { date: open }),
    await api.patch(`/api/v1/time-entries/${fresh}`, { date: locked }),
    await api.delete(`/api/v1/time-entries/${old}`),
    await api.delete(`/api/v1/tasks/${task_id}`),
    await api.post('/api/v1/timers', { project_id, owner: 'late', started_at: begun }),
    await api.post(`/api/v1/timers/${timer}/stop`, { ended_at: `${locked}T13:00:00Z` }),
  ];
  const answer = expect.objectContaining({
    error: `Time before ${open} is locked, the time_locked_before of the account`,
  });
  expect(rejected.map(({ status, body }) => [status, body])).toEqual(rejected.map(() => [409, answer]));
  expect((await api.patch(`/api/v1/time-entries/${old}`, { hours: 1 })).status).toBe(200);

  expect((await api.patch(`/api/v1/time-entries/${fresh}`, { hours: 2 })).status).toBe(200);
  expect((await api.patch(`/api/v1/timers/${timer}`, { started_at: `${open}T12:00:00Z` })).status).toBe(200);
  expect((await api.patch(`/api/v1/timers/${timer}`, { started_at: begun })).status).toBe(409);
  const settled = await api.post('/api/v1/time-entries/billing', { time_entry_ids: [old], status: 'written_off' });
  const free = await api.post('/api/v1/time-entries/billing', { time_entry_ids: [old], status: 'unbilled' });
  expect([settled.status, free.status]).toEqual([200, 200]);
  expect((await api.post('/api/v1/invoices/from-time', { client_id })).body.data.amount).toBe(300);
  expect((await api.patch('/api/v1/account', { time_locked_before: null })).body.data.time_locked_before).toBeNull();
  expect((await log(locked)).status).toBe(201);
});
