// Timers: one runs per owner, and stopping it creates exactly one time entry.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { auditTimers } from '#libs/billing/audits/timer-audit.ts';
import { storedId } from '#libs/models/tenant.ts';
import { TimeEntry } from '#libs/models/time/time-entry.ts';
import { Timer } from '#libs/models/time/timer.ts';
import { callerOf, startGateway, type TestGateway, type Verbs, verbsOf } from '../../support/gateway.ts';
import { UNKNOWN_ID } from '../../support/records.ts';

const HOUR = 3_600_000;
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** A new account with a project and a task. */
async function work(timeZone = 'UTC') {
  const { id: account, key } = await gateway.workspace.account({ timeZone });
  const api = verbsOf(callerOf(gateway.url, key));
  const made = async (path: string, body: object) => (await api.post(`/api/v1/${path}`, body)).body.data.id as string;
  const client_id = await made('clients', { name: 'Ada', email: 'ada@example.com' });
  const project_id = await made('projects', { name: 'Engine', client_id });
  const task_id = await made('tasks', { name: 'Drawings', project_id, rate: 95 });
  const start = (body: object = {}) => api.post('/api/v1/timers', { project_id, ...body });
  const stop = (id: string, body: object = {}) => api.post(`/api/v1/timers/${id}/stop`, body);
  return { account, api, made, client_id, project_id, task_id, start, stop };
}

/** All times count from one moment, however long the calls between them take. */
const NOW = Date.now();
const ago = (ms: number) => new Date(NOW - ms).toISOString();
const dataOf = async (api: Verbs, path: string) => (await api.get(`/api/v1/${path}`)).body.data;
const typesOf = async (api: Verbs) =>
  (await dataOf(api, 'events?limit=100')).map(({ type }: { type: string }) => type) as string[];

describe('from start to stop', () => {
  test('when a timer is started and stopped, then it names its new time entry, which has the rate of the task and counts in its total', async () => {
    const { api, task_id, start, stop } = await work();
    const started = await start({ task_id, description: 'Mill', owner: 'ada', started_at: ago(1.5 * HOUR) });
    expect([started.status, started.body.data]).toMatchObject([
      201,
      { owner: 'ada', status: 'running', task: { name: 'Drawings' }, ended_at: null, time_entry_id: null },
    ]);
    const { id } = started.body.data;
    const { status, body } = await stop(id, { ended_at: ago(0.5 * HOUR) });
    expect([status, body.data]).toMatchObject([
      201,
      { hours: 1, hourly_rate: 95, description: 'Mill', billing: 'unbilled', project: { name: 'Engine' } },
    ]);
    expect(await dataOf(api, `timers/${id}`)).toMatchObject({
      status: 'stopped',
      ended_at: body.data.ended_at,
      time_entry_id: body.data.id,
    });
    expect(await dataOf(api, `time-entries/${body.data.id}`)).toEqual(body.data);
    expect(await dataOf(api, `tasks/${task_id}`)).toMatchObject({ total_seconds: 3600 });
    expect((await typesOf(api)).slice(-4)).toEqual([
      'timer.started',
      'time_entry.created',
      'task.updated',
      'timer.stopped',
    ]);
  });

  test('when it is stopped immediately, then the entry has one second, because hours must be positive', async () => {
    const { start, stop } = await work();
    const { id } = (await start()).body.data;
    const { status, body } = await stop(id);
    expect([status, body.data.hours]).toEqual([201, 0.0003]);
  });

  test('when it is stopped twice, then the second request is 409 and the entry stays as it is', async () => {
    const { api, start, stop } = await work();
    const { id } = (await start({ started_at: ago(HOUR) })).body.data;
    const first = await stop(id);
    const second = await stop(id, { ended_at: ago(HOUR / 2) });
    expect([second.status, second.body]).toEqual([409, expect.objectContaining({ error: 'Timer is not running' })]);
    for (const reply of [
      await api.patch(`/api/v1/timers/${id}`, { description: 'x' }),
      await api.delete(`/api/v1/timers/${id}`),
    ])
      expect([reply.status, reply.body]).toEqual([409, expect.objectContaining({ error: 'Timer is not running' })]);
    expect(await dataOf(api, 'time-entries')).toEqual([first.body.data]);
  });

  test('when eight callers stop a timer concurrently, then one gets the entry, seven get 409, and there is one entry', async () => {
    const { api, start, stop } = await work();
    const { id } = (await start({ started_at: ago(HOUR) })).body.data;
    const replies = await Promise.all(Array.from({ length: 8 }, () => stop(id)));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(409)]);
    expect(await dataOf(api, 'time-entries')).toHaveLength(1);
  });

  test('when it is discarded, then it no longer exists and no time is counted', async () => {
    const { api, start } = await work();
    const { id } = (await start({ started_at: ago(HOUR) })).body.data;
    expect((await api.delete(`/api/v1/timers/${id}`)).body).toEqual({ success: true, message: 'Timer discarded' });
    expect((await api.get(`/api/v1/timers/${id}`)).body).toEqual(expect.objectContaining({ error: 'Timer not found' }));
    expect(await dataOf(api, 'time-entries')).toEqual([]);
    expect((await typesOf(api)).at(-1)).toBe('timer.discarded');
  });

  test('when it is a dry run, then the response shows the timer or the entry, and nothing is stored', async () => {
    const { api, project_id, start } = await work();
    const preview = await api.post('/api/v1/timers?dry_run=true', { project_id });
    expect([preview.status, preview.body.data]).toMatchObject([200, { id: null, status: 'running' }]);
    expect(await dataOf(api, 'timers')).toEqual([]);
    const { id } = (await start({ started_at: ago(HOUR) })).body.data;
    const entry = await api.post(`/api/v1/timers/${id}/stop?dry_run=true`, { ended_at: ago(HOUR / 2) });
    expect([entry.status, entry.body.data]).toMatchObject([200, { id: null, hours: 0.5 }]);
    expect(await dataOf(api, `timers/${id}`)).toMatchObject({ status: 'running' });
  });

  test('when start and stop are repeated with their Idempotency-Key, then both happen once', async () => {
    const { api, project_id } = await work();
    const once = (path: string, body: object, key: string) =>
      api.post(path, body, { headers: { 'Idempotency-Key': key } });
    const [first, again] = [
      await once('/api/v1/timers', { project_id }, 'a'),
      await once('/api/v1/timers', { project_id }, 'a'),
    ];
    expect(again.body).toEqual(first.body);
    const path = `/api/v1/timers/${first.body.data.id}/stop`;
    expect((await once(path, {}, 'b')).body).toEqual((await once(path, {}, 'b')).body);
    expect(await dataOf(api, 'time-entries')).toHaveLength(1);
  });
});

describe('one per owner', () => {
  test('when an owner starts another timer, then the old one becomes an entry, and timers of other owners keep running', async () => {
    const { api, start } = await work();
    const other = (await start({ owner: 'grace' })).body.data;
    const old = (await start({ owner: 'ada', started_at: ago(2 * HOUR) })).body.data;
    const next = await start({ owner: 'ada', description: 'Wheels' });
    expect(next.status).toBe(201);
    const running = await dataOf(api, 'timers?status=running');
    expect(running.map(({ id }: { id: string }) => id)).toEqual([next.body.data.id, other.id]);
    const { time_entry_id } = await dataOf(api, `timers/${old.id}`);
    expect((await dataOf(api, `time-entries/${time_entry_id}`)).hours).toBeCloseTo(2, 2);
    expect(await dataOf(api, 'timers?status=running&owner=ada')).toEqual([next.body.data]);
    expect(await dataOf(api, 'timers?status=stopped&owner=grace')).toEqual([]);
  });

  test('when the new timer started a while ago, then the old one ended then; before the old one is 400, and nothing happens', async () => {
    const { api, start } = await work();
    const [began, moved] = [ago(2 * HOUR), ago(HOUR / 2)];
    const { id } = (await start({ owner: 'ada', started_at: began })).body.data;
    const early = await start({ owner: 'ada', started_at: ago(3 * HOUR) });
    expect([early.status, early.body.details]).toEqual([
      400,
      { started_at: ['started_at must be after that of the running timer: stop it first'] },
    ]);
    expect(await dataOf(api, `timers/${id}`)).toMatchObject({ status: 'running' });
    expect((await start({ owner: 'ada', started_at: moved })).status).toBe(201);
    expect(await dataOf(api, 'time-entries')).toMatchObject([{ hours: 1.5, started_at: began, ended_at: moved }]);
  });

  test('when a start must not stop the running timer, then 409, and that keeps running', async () => {
    const { api, start } = await work();
    const { id } = (await start()).body.data;
    const rejected = await start({ on_running: 'refuse', description: 'Wheels' });
    expect([rejected.status, rejected.body]).toEqual([
      409,
      expect.objectContaining({ error: 'A timer is already running' }),
    ]);
    expect(await dataOf(api, `timers/${id}`)).toMatchObject({ status: 'running' });
  });

  test('when a start is repeated, then the timer goes on, whatever the spelling of the owner, until something of it differs', async () => {
    const { api, start, task_id } = await work();
    const first = await start({ owner: 'Ada Lovelace', description: 'Mill' });
    for (const owner of ['ada lovelace', ' ADA LOVELACE', 'Ａda Lovelace', 'Ada\u200d Love\ufe0flace']) {
      const again = await start({ owner, description: 'Mill', on_running: 'refuse' });
      expect([again.status, again.body]).toEqual([200, first.body]);
      expect(await dataOf(api, `timers?owner=${encodeURIComponent(owner)}`)).toEqual([first.body.data]);
    }
    const many = await Promise.all(
      Array.from({ length: 8 }, () => start({ owner: 'ADA LOVELACE', description: 'Mill' })),
    );
    expect([many.map(({ status }) => status), await dataOf(api, 'time-entries')]).toEqual([Array(8).fill(200), []]);
    expect((await start({ owner: 'ada lovelace', description: 'Mill', task_id })).status).toBe(201);
    expect([await dataOf(api, 'timers?status=running'), await dataOf(api, 'time-entries')]).toMatchObject([
      [{ task_id }],
      [{ description: 'Mill' }],
    ]);
  });

  test('when a key is rotated, then the new one is the same owner', async () => {
    const { api, start, project_id } = await work();
    const [{ id }] = await dataOf(api, 'keys');
    const running = (await start()).body.data;
    let key: string | undefined;
    let last = id;
    for (let round = 0; round < 2; round += 1) {
      const { data } = (await api.post(`/api/v1/keys/${last}/rotate`, { overlap_seconds: 60 }, key ? { key } : {}))
        .body;
      [key, last] = [data.key, data.id];
    }
    const again = await api.post('/api/v1/timers', { project_id }, { key });
    expect([again.status, again.body.data]).toEqual([200, running]);
  });

  test('when no owner is named, then the key is the owner', async () => {
    const { api, start } = await work();
    const [{ id }] = await dataOf(api, 'keys');
    expect((await start()).body.data.owner).toBe(id);
  });

  test('when eight timers start concurrently, then one runs, and each of the others becomes one entry', async () => {
    const { account, api, start } = await work();
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_none, index) => start({ owner: 'ada', description: `part ${index}` })),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(201));
    expect(await dataOf(api, 'timers?status=running')).toHaveLength(1);
    const entries = await dataOf(api, 'time-entries');
    const stopped = await dataOf(api, 'timers?status=stopped');
    expect([
      entries.length,
      new Set(stopped.map((timer: { time_entry_id: string }) => timer.time_entry_id)).size,
    ]).toEqual([7, 7]);
    // The unique index rejects a second running timer even for a direct write.
    const [timer] = await Timer.find({ account_id: account, status: 'running' }).lean();
    const twin = { ...timer, _id: storedId(UNKNOWN_ID) };
    await expect(Timer.collection.insertOne(twin as never)).rejects.toThrow(/duplicate key/);
  });

  test('when eight timers start concurrently and must not stop another, then one is 201 and seven are 409', async () => {
    const { start } = await work();
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_none, index) => start({ on_running: 'refuse', description: `part ${index}` })),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(409)]);
  });
});

describe('a long-running timer', () => {
  test('when it runs over midnight and a clock change, then it is listed, and its entry has the right seconds and the start day', async () => {
    const { api, start, stop } = await work('Europe/Berlin');
    // The night in which 3:00 became 2:00: from 23:30 to 4:00 is five and a half hours.
    const { id } = (await start({ started_at: '2026-10-24T21:30:00Z' })).body.data;
    expect(await dataOf(api, 'timers')).toMatchObject([{ id, status: 'running' }]);
    const { status, body } = await stop(id, { ended_at: '2026-10-25T03:00:00Z' });
    expect([status, body.data]).toMatchObject([
      201,
      {
        hours: 5.5,
        date: '2026-10-24',
        started_at: '2026-10-24T21:30:00.000Z',
        ended_at: '2026-10-25T03:00:00.000Z',
      },
    ]);
    // The night in which 2:00 became 3:00: from 23:30 to 4:00 is three and a half hours.
    const spring = (await start({ started_at: '2026-03-28T22:30:00Z' })).body.data;
    const short = await stop(spring.id, { ended_at: '2026-03-29T02:00:00Z' });
    expect(short.body.data).toMatchObject({ hours: 3.5, date: '2026-03-28' });
  });

  test('when it has run for 63 hours, then stop requires ended_at, another start is 409, and with ended_at the entry is right', async () => {
    const { api, start, stop } = await work();
    const started_at = ago(63 * HOUR + 60_000);
    const { id } = (await start({ started_at })).body.data;
    expect(await stop(id)).toMatchObject({
      status: 409,
      body: { error: 'Timer has run for 63 hours: send ended_at' },
    });
    expect(await start()).toMatchObject({
      status: 409,
      body: { error: 'The running timer has run for 63 hours: stop it with ended_at first' },
    });
    const late = await stop(id, { ended_at: ago(0) });
    expect(late).toMatchObject({ status: 400, body: { error: 'Validation failed' } });
    expect(late.body.details.ended_at).toEqual([
      'ended_at must be at most 24 hours after started_at, the max_entry_hours',
    ]);
    const ended_at = new Date(Date.parse(started_at) + 7.25 * HOUR).toISOString();
    expect((await stop(id, { ended_at })).body.data).toMatchObject({ hours: 7.25, date: started_at.slice(0, 10) });
    expect(await dataOf(api, 'timers?status=running')).toEqual([]);
  });

  test('when an account allows longer entries, then a timer may run that long', async () => {
    const { api, start, stop } = await work();
    await api.patch('/api/v1/account', { max_entry_hours: 48 });
    const { id } = (await start({ started_at: ago(30 * HOUR) })).body.data;
    const { status, body } = await stop(id);
    expect([status, Math.round(body.data.hours)]).toEqual([201, 30]);
  });

  test.each([
    ['started_at', '2999-01-01T00:00:00Z', 'started_at must not be in the future'],
    ['started_at', '1969-12-31T23:59:59Z', 'started_at must not be before 1970'],
    ['started_at', '2026-02-30T00:00:00Z', 'started_at must be'],
  ])('when %s is %s, then 400 and no timer is created', async (name, value, message) => {
    const { api, start } = await work();
    const { status, body } = await start({ [name]: value });
    expect([status, body.details[name][0]]).toEqual([400, expect.stringContaining(message)]);
    expect(await dataOf(api, 'timers')).toEqual([]);
  });

  test('when ended_at is not after the start, or in the future, then 400 and it keeps running', async () => {
    const { api, start, stop } = await work();
    const started_at = ago(HOUR);
    const { id } = (await start({ started_at })).body.data;
    expect((await stop(id, { ended_at: started_at })).body.details).toEqual({
      ended_at: ['ended_at must be after started_at of the timer'],
    });
    expect((await stop(id, { ended_at: ago(-HOUR) })).body.details).toEqual({
      ended_at: ['ended_at must not be in the future'],
    });
    expect(await dataOf(api, `timers/${id}`)).toMatchObject({ status: 'running' });
  });
});

describe('references of a timer', () => {
  test('when a running timer is changed, then it has the sent values; another project needs a task of that project', async () => {
    const { api, made, client_id, task_id, start } = await work();
    const other = await made('projects', { name: 'Other', client_id });
    const { id } = (await start({ task_id })).body.data;
    const change = (body: object, headers = {}) => api.patch(`/api/v1/timers/${id}`, body, { headers });
    const started_at = ago(HOUR);
    expect((await change({ started_at, description: 'Correct' })).body.data).toMatchObject({
      started_at,
      description: 'Correct',
    });
    expect((await change({ project_id: other })).body.details.task_id[0]).toContain('task_id is required');
    expect((await change({ project_id: other, task_id })).body).toEqual(
      expect.objectContaining({ error: 'Task not found or access denied' }),
    );
    expect((await change({ project_id: other, task_id: null })).body.data).toMatchObject({
      project: { id: other },
      task: null,
    });
    const before = (await typesOf(api)).length;
    expect((await change({ description: 'Correct' })).status).toBe(200);
    expect(await typesOf(api)).toHaveLength(before);
    expect((await change({ description: 'x' }, { 'If-Match': '"old"' })).status).toBe(412);
  });

  test('when task or project are deleted or the task is moved while it runs, then 409; after it has stopped, they can be', async () => {
    const { api, made, client_id, project_id, task_id, start } = await work();
    const { id } = (await start({ task_id })).body.data;
    const error = async (reply: Promise<{ body: unknown }>) => (await reply).body;
    expect(await error(api.delete(`/api/v1/tasks/${task_id}`))).toMatchObject({
      error: 'Cannot delete a task with a running timer',
    });
    const other = await made('projects', { name: 'Other', client_id });
    expect(await error(api.patch(`/api/v1/tasks/${task_id}`, { project_id: other }))).toMatchObject({
      error: 'Cannot move a task with a running timer',
    });
    expect(await error(api.delete(`/api/v1/projects/${project_id}`))).toMatchObject({
      error: 'Cannot delete a project with a running timer',
    });
    await api.delete(`/api/v1/timers/${id}`);
    expect((await api.delete(`/api/v1/projects/${project_id}`)).status).toBe(200);
  });

  test('when the entry of a stopped timer is deleted, by itself or with its task, then the timer is deleted with it', async () => {
    const { account, api, task_id, start, stop } = await work();
    const first = (await start({ task_id })).body.data;
    const entry = (await stop(first.id)).body.data;
    const second = (await start({ task_id })).body.data;
    await stop(second.id);
    await api.delete(`/api/v1/time-entries/${entry.id}`);
    expect(await dataOf(api, 'timers')).toMatchObject([{ id: second.id }]);
    await api.delete(`/api/v1/tasks/${task_id}`);
    expect(await dataOf(api, 'timers')).toEqual([]);
    expect((await typesOf(api)).filter((type) => type === 'timer.discarded')).toHaveLength(2);
    expect(await auditTimers()).toEqual(expect.not.arrayContaining([expect.objectContaining({ account_id: account })]));
  });

  test('when the entry of a stopped timer is missing, or two run for one owner, then the audit names the timer', async () => {
    const { account, start, stop } = await work();
    const { id } = (await start()).body.data;
    const entry = (await stop(id)).body.data;
    await TimeEntry.collection.deleteOne({ _id: storedId(entry.id) as never });
    const running = (await start()).body.data;
    // Two running timers are only possible without the index.
    await Timer.collection.dropIndex('account_id_1_owner_key_1');
    const [timer] = await Timer.find({ account_id: account, status: 'running' }).lean();
    const twin = { ...timer, _id: storedId(UNKNOWN_ID) };
    await Timer.collection.insertOne(twin as never);
    const own = (await auditTimers()).filter(({ account_id }) => account_id === account);
    expect(own).toEqual([
      { account_id: account, id: running.id, problem: 'timer: runs beside another one of its owner' },
      { account_id: account, id, problem: 'timer: its time entry is missing' },
    ]);
  });
});
