// Time entries over HTTP, and the totals of their tasks.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { TimeEntry } from '#libs/models/time/time-entry.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type AnyRecord, answerOf, create, createProject, lastEvent, UNKNOWN_ID } from '../../support/records.ts';

const path = '/api/v1/time-entries';
const date = '2026-01-02';

let gateway: TestGateway;
let account: { id: string; key: string };
let project: AnyRecord;
let task: AnyRecord;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  account = await gateway.workspace.account();
  project = await createProject(gateway, {}, account);
  task = await create(gateway, '/api/v1/tasks', { project_id: project.id, name: 'Draw', rate: 80 }, account);
});

const post = (body: object, query = '') =>
  gateway.post(path + query, { project_id: project.id, hours: 1, date, ...body }, account);
const make = async (body: object = {}) => {
  const reply = await post(body);
  expect(reply.status).toBe(201);
  return reply.body.data;
};
const list = (query = '') => gateway.get(path + query, account);
/** The account's newest events, in order. */
const newest = async (count: number): Promise<{ type: string; data: AnyRecord }[]> => {
  const events = await Event.find({ account_id: account.id }).sort({ sequence: -1 }).limit(count).lean();
  return events.reverse().map(({ body }) => JSON.parse(body));
};
const typesOf = (events: { type: string }[]) => events.map(({ type }) => type);
const total = async () => (await gateway.get(`/api/v1/tasks/${task.id}`, account)).body.data.total_seconds;

describe('POST /api/v1/time-entries', () => {
  test('when project, hours and date are given, then the response has exactly the specified fields', async () => {
    const reply = await post({ hours: 1.5 });

    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      success: true,
      data: {
        id: expect.any(String),
        hours: 1.5,
        hourly_rate: null,
        date,
        description: null,
        task_id: null,
        project: { id: project.id, name: project.name },
        created_at: expect.any(String),
      },
    });
    expect(await lastEvent(account.id)).toMatchObject({ type: 'time_entry.created', data: reply.body.data });
  });

  test.each([
    [24.01, /less than or equal to 24, the max_entry_hours of the account/],
    [10_001, /must be less than or equal to 10000/],
    [1e-9, /must be at least one second/],
    [1 / 7300, /must be at least one second/],
    [1e-13, /must be positive/],
  ])('when hours are %d, then 400', async (hours, problem) => {
    const reply = await post({ hours });

    expect([reply.status, reply.body.details]).toEqual([400, { hours: [expect.stringMatching(problem)] }]);
  });

  test('when the account allows more hours, then they are accepted at once; when it resets that, then they no longer are', async () => {
    const { id } = await make({ hours: 24 });
    await gateway.patch('/api/v1/account', { max_entry_hours: 40 }, account);
    await make({ hours: 40 });
    expect((await gateway.patch(`${path}/${id}`, { hours: 40.5 }, account)).body.details).toEqual({
      hours: ['hours must be less than or equal to 40, the max_entry_hours of the account'],
    });
    await gateway.patch(`${path}/${id}`, { hours: 40 }, account);
    await gateway.patch('/api/v1/account', { max_entry_hours: null }, account);

    expect((await gateway.patch(`${path}/${id}`, { description: 'long' }, account)).status).toBe(200);
    expect((await gateway.get('/api/v1/account', account)).body.data.max_entry_hours).toBe(24);
    await eventually(async () => (await post({ hours: 25 })).status === 400);
  });

  test('when numbers carry the noise of floating point, then they are stored without it', async () => {
    const entry = await make({ hours: 0.1 + 0.2, hourly_rate: 0.1 + 0.7 });
    const changed = await gateway.patch(`${path}/${entry.id}`, { hours: 1.1 + 2.2 }, account);

    expect([entry.hours, entry.hourly_rate, changed.body.data.hours]).toEqual([0.3, 0.8, 3.3]);
  });

  test("when it has a task, then the task's rate applies unless one is given, and its total grows", async () => {
    expect(await make({ task_id: task.id, hours: 0.5 })).toMatchObject({ task_id: task.id, hourly_rate: 80 });
    expect(await make({ task_id: task.id, hourly_rate: 0 })).toMatchObject({ hourly_rate: 0 });
    expect(await make({ task_id: task.id, hours: 1 / 3, description: 'x' })).toMatchObject({ description: 'x' });
    expect(await total()).toBe(1800 + 3600 + 1200);
  });

  test('when its rate is null, then it is treated as absent', async () => {
    expect(await make({ task_id: task.id, hourly_rate: null })).toMatchObject({ hourly_rate: 80 });
  });

  test('when fields are invalid, then 400 by field with the specified messages', async () => {
    expect((await gateway.post(path, {}, account)).body).toMatchObject({
      error: 'Validation failed',
      details: { project_id: ['project_id is required'], hours: ['hours is required'], date: ['date is required'] },
    });
    expect((await post({ hours: 0, date: '2026-02-29', hourly_rate: -1, task_id: 'x' })).body.details).toEqual({
      hours: ['hours must be positive'],
      date: ['date must be a calendar day written YYYY-MM-DD'],
      hourly_rate: ['hourly_rate must be greater than or equal to 0'],
      task_id: ['task_id must be a UUID'],
    });
  });

  test('when project or task do not exist in the account, then 404 names which', async () => {
    const other = await createProject(gateway, {}, account);
    const foreignProject = await createProject(gateway);
    const foreignTask = await create(gateway, '/api/v1/tasks', { project_id: foreignProject.id, name: 'x' });

    for (const project_id of [UNKNOWN_ID, foreignProject.id]) {
      expect(answerOf(await post({ project_id }))).toEqual([
        404,
        expect.objectContaining({ error: 'Project not found or access denied' }),
      ]);
    }
    for (const fields of [
      { task_id: UNKNOWN_ID },
      { task_id: foreignTask.id },
      { task_id: task.id, project_id: other.id },
    ]) {
      expect(answerOf(await post(fields))).toEqual([
        404,
        expect.objectContaining({ error: 'Task not found or access denied' }),
      ]);
    }
    expect((await list()).body.pagination.total).toBe(0);
  });

  test('when it is a dry run, then nothing is stored and no total grows', async () => {
    const reply = await post({ task_id: task.id }, '?dry_run=true');

    expect([reply.status, reply.body.data.hourly_rate]).toEqual([200, 80]);
    expect((await list()).body.pagination.total).toBe(0);
    expect(await total()).toBe(0);
  });
});

describe('GET /api/v1/time-entries', () => {
  test('when there are several, then they are listed latest date first, each with project and task', async () => {
    const early = await make({ date: '2026-01-01' });
    const late = await make({ date: '2026-03-01', task_id: task.id });
    const middle = await make({ date: '2026-02-01' });
    const reply = await list();

    expect(reply.body.data.map(({ id }: AnyRecord) => id)).toEqual([late.id, middle.id, early.id]);
    expect(reply.body.data[0]).toMatchObject({
      task: { id: task.id, name: 'Draw' },
      project: { id: project.id, name: project.name },
    });
    expect((await gateway.get(`${path}/${late.id}`, account)).body.data).toEqual(reply.body.data[0]);
    expect(reply.body.data[1].task).toBeNull();
  });

  test('when filters are given, then they apply, and date ranges include both ends', async () => {
    const other = await createProject(gateway, {}, account);
    const a = await make({ date: '2026-01-01', task_id: task.id });
    const b = await make({ date: '2026-01-02' });
    const c = await make({ date: '2026-01-03', project_id: other.id });
    const ids = async (query: string) => (await list(query)).body.data.map(({ id }: AnyRecord) => id);

    expect(await ids(`?project_id=${project.id}`)).toEqual([b.id, a.id]);
    expect(await ids(`?task_id=${task.id}`)).toEqual([a.id]);
    expect(await ids('?date_from=2026-01-02')).toEqual([c.id, b.id]);
    expect(await ids('?date_to=2026-01-02')).toEqual([b.id, a.id]);
    expect(await ids('?date_from=2026-01-02&date_to=2026-01-02')).toEqual([b.id]);
    expect(await ids('?date_from=2026-01-02&sort=created_at')).toEqual([b.id, c.id]);
    expect(await ids(`?project_id=${other.id}&date_to=2026-01-02`)).toEqual([]);
    expect(await ids('?sort=date&limit=2')).toEqual([a.id, b.id]);
    for (const query of [
      'date_from=2026-02-30',
      'date_to=yesterday',
      'task_id=1',
      'date_from=2026-01-01&date_from=2026-01-01',
    ]) {
      expect((await list(`?${query}`)).status).toBe(400);
    }
  });
});

describe('PATCH /api/v1/time-entries/{id}', () => {
  test('when fields change, then the response has only the specified fields, and the total follows', async () => {
    const { id, created_at } = await make({ task_id: task.id, hours: 2 });
    const reply = await gateway.patch(
      `${path}/${id}`,
      { hours: 0.25, hourly_rate: 10, date: '2026-05-06', description: 'x' },
      account,
    );

    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      success: true,
      data: { id, hours: 0.25, hourly_rate: 10, date: '2026-05-06', description: 'x', created_at },
    });
    expect(await total()).toBe(900);
    expect((await newest(2))[0]).toMatchObject({
      type: 'time_entry.updated',
      data: { ...reply.body.data, task_id: task.id },
    });
  });

  test('when no known field is given, a field is invalid or the id is unknown, then it is rejected', async () => {
    const { id } = await make();

    expect(answerOf(await gateway.patch(`${path}/${id}`, {}, account))).toEqual([
      400,
      expect.objectContaining({ error: 'No valid fields to update' }),
    ]);
    expect((await gateway.patch(`${path}/${id}`, { hours: -1 }, account)).body.details).toEqual({
      hours: ['hours must be positive'],
    });
    expect(answerOf(await gateway.patch(`${path}/${UNKNOWN_ID}`, { hours: 1 }, account))).toEqual([
      404,
      expect.objectContaining({ error: 'Time entry not found or access denied' }),
    ]);
  });
});

describe('the total of a task', () => {
  test('when time is logged, changed or deleted, then the task is announced with its new total, as a read returns it', async () => {
    const { id } = await make({ task_id: task.id, hours: 2 });
    const created = await newest(2);
    await gateway.patch(`${path}/${id}`, { hours: 0.5 }, account);
    const updated = await newest(2);
    await make({ task_id: task.id, hours: 1 });
    await gateway.delete(`${path}/${id}`, account);
    const deleted = await newest(2);

    expect(typesOf(created)).toEqual(['time_entry.created', 'task.updated']);
    expect(typesOf(updated)).toEqual(['time_entry.updated', 'task.updated']);
    expect(typesOf(deleted)).toEqual(['time_entry.deleted', 'task.updated']);
    expect([created, updated, deleted].map(([, event]) => event?.data.total_seconds)).toEqual([7200, 1800, 3600]);
    expect(deleted[1]?.data).toEqual((await gateway.get(`/api/v1/tasks/${task.id}`, account)).body.data);
  });

  test('when the total stays the same, then there is no event of the task and its entity tag does not change', async () => {
    const { id } = await make({ task_id: task.id, hours: 2 });
    const before = await gateway.get(`/api/v1/tasks/${task.id}`, account);
    await gateway.patch(`${path}/${id}`, { description: 'other words', date: '2026-07-08' }, account);
    const loose = await make({ hours: 2 });
    await gateway.delete(`${path}/${loose.id}`, account);

    expect(typesOf(await newest(3))).toEqual(['time_entry.updated', 'time_entry.created', 'time_entry.deleted']);
    const after = await gateway.get(`/api/v1/tasks/${task.id}`, account);
    expect(after.headers.get('ETag')).toBe(before.headers.get('ETag'));
  });
});

describe('moving a time entry', () => {
  const move = (id: string, body: object) => gateway.patch(`${path}/${id}`, body, account);
  const read = async (id: string) => (await gateway.get(`${path}/${id}`, account)).body.data;
  const totalOf = async (id: string) => (await gateway.get(`/api/v1/tasks/${id}`, account)).body.data.total_seconds;
  const newTask = (project_id: string) =>
    create(gateway, '/api/v1/tasks', { project_id, name: 'Other', rate: 120 }, account);

  test('when it moves to another task, then both totals follow and both tasks are announced', async () => {
    const other = await newTask(project.id);
    const { id } = await make({ task_id: task.id, hours: 2 });
    expect((await move(id, { task_id: other.id, hours: 3 })).status).toBe(200);

    expect(await read(id)).toMatchObject({ task_id: other.id, hours: 3, hourly_rate: 120 });
    expect([await totalOf(task.id), await totalOf(other.id)]).toEqual([0, 10_800]);
    const events = await newest(3);
    expect(typesOf(events)).toEqual(['time_entry.updated', 'task.updated', 'task.updated']);
    expect(events[0]?.data).toMatchObject({ id, task: { id: other.id, name: 'Other' } });
    expect(new Map(events.slice(1).map(({ data }) => [data.id, data.total_seconds]))).toEqual(
      new Map([
        [task.id, 0],
        [other.id, 10_800],
      ]),
    );
  });

  test('when it moves to another project of the client, then it has a task of that project, or none', async () => {
    const next = await createProject(gateway, { name: 'Next', client_id: project.client.id }, account);
    const other = await newTask(next.id);
    const [one, two] = [await make({ task_id: task.id }), await make({ task_id: task.id })];

    expect((await move(one.id, { project_id: next.id, task_id: other.id })).status).toBe(200);
    expect((await move(two.id, { project_id: next.id, task_id: null })).status).toBe(200);
    expect(await read(one.id)).toMatchObject({ project: { id: next.id, name: 'Next' }, task_id: other.id });
    expect(await read(two.id)).toMatchObject({ project: { id: next.id }, task_id: null, task: null });
    expect([await totalOf(task.id), await totalOf(other.id)]).toEqual([0, 3600]);
  });

  test('when the project is of another client or account or unknown, or the task of another project, then it stays', async () => {
    const elsewhere = await createProject(gateway, {}, account);
    const sibling = await createProject(gateway, { client_id: project.client.id }, account);
    const foreign = await createProject(gateway);
    const { id } = await make({ task_id: task.id });

    expect((await move(id, { project_id: elsewhere.id, task_id: null })).body.details).toEqual({
      project_id: ['project_id must be a project of the same client'],
    });
    expect((await move(id, { project_id: sibling.id })).body.details).toEqual({
      task_id: ['task_id is required: the task is of the former project. Null is none'],
    });
    for (const project_id of [foreign.id, UNKNOWN_ID]) {
      expect(answerOf(await move(id, { project_id, task_id: null }))).toEqual([
        404,
        expect.objectContaining({ error: 'Project not found or access denied' }),
      ]);
    }
    for (const body of [{ task_id: (await newTask(sibling.id)).id }, { project_id: sibling.id, task_id: task.id }]) {
      expect(answerOf(await move(id, body))).toEqual([
        404,
        expect.objectContaining({ error: 'Task not found or access denied' }),
      ]);
    }
    expect(await read(id)).toMatchObject({ project: { id: project.id }, task_id: task.id });
    expect(await total()).toBe(3600);
  });

  test('when it is on an invoice, then 409; sending its current project and task is accepted', async () => {
    const invoice = { client_id: project.client.id, due_date: '2031-01-01', amount: 1 };
    const { id: invoiceId } = await create(gateway, '/api/v1/invoices', invoice, account);
    const { id } = await make({ task_id: task.id });
    await TimeEntry.updateOne({ _id: id, account_id: account.id }, { $set: { invoice_id: invoiceId } });

    expect(answerOf(await move(id, { task_id: null }))).toEqual([
      409,
      expect.objectContaining({
        error: expect.stringMatching(/^Cannot change time on a draft invoice: take it off INV-\d+ first$/),
      }),
    ]);
    expect((await move(id, { task_id: task.id, project_id: project.id, description: 'same' })).status).toBe(200);
  });
});

describe('DELETE /api/v1/time-entries/{id}', () => {
  test('when it is deleted, then it no longer exists and the total follows', async () => {
    const { id } = await make({ task_id: task.id, hours: 2 });
    await make({ task_id: task.id });

    expect(answerOf(await gateway.delete(`${path}/${id}`, account))).toEqual([
      200,
      { success: true, message: 'Time entry deleted' },
    ]);
    expect(await total()).toBe(3600);
    expect((await newest(2))[0]).toMatchObject({ type: 'time_entry.deleted', data: { id } });
    expect(answerOf(await gateway.delete(`${path}/${id}`, account))).toEqual([
      404,
      expect.objectContaining({ error: 'Time entry not found or access denied' }),
    ]);
    expect(answerOf(await gateway.get(`${path}/${id}`, account))).toEqual([
      404,
      expect.objectContaining({ error: 'Time entry not found' }),
    ]);
  });

  test('when many entries change concurrently, then the total is still their sum', async () => {
    const entries = await Promise.all(Array.from({ length: 10 }, () => make({ task_id: task.id, hours: 1 })));
    await Promise.all(
      entries.map(({ id }, index) =>
        index % 2 ? gateway.delete(`${path}/${id}`, account) : gateway.patch(`${path}/${id}`, { hours: 0.5 }, account),
      ),
    );

    expect(await total()).toBe(5 * 1800);
  });
});

test('when time has a member, then it is found by it, shown behind the line and on the timer it comes from', async () => {
  const project_id = (await createProject(gateway)).id;
  const { id } = await create(gateway, '/api/v1/timers', { project_id, member: 'Grace', owner: 'grace' });
  await gateway.patch(`/api/v1/timers/${id}`, { member: 'Ada' });
  const timer = (await gateway.get(`/api/v1/timers?member=Ada&project_id=${project_id}`)).body.data;
  const stopped = (await gateway.post(`/api/v1/timers/${id}/stop`, {})).body.data;
  await create(gateway, '/api/v1/time-entries', { project_id, hours: 1, date: '2026-11-02', member: 'Grace' });
  const found = (await gateway.get(`/api/v1/time-entries?member=Ada&project_id=${project_id}`)).body;

  expect(timer).toMatchObject([{ id, member: 'Ada' }]);
  expect(found).toMatchObject({ data: [{ id: stopped.id, member: 'Ada' }], pagination: { total: 1 } });
  await gateway.patch(`/api/v1/time-entries/${stopped.id}`, { member: null });
  expect((await gateway.get(`/api/v1/time-entries/${stopped.id}`)).body.data.member).toBeNull();
});
