// Time entries over HTTP, and the totals of their tasks.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
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
const total = async () => (await gateway.get(`/api/v1/tasks/${task.id}`, account)).body.data.total_seconds;

describe('POST /api/v1/time-entries', () => {
  test('when project, hours and date are given, then exactly the fields of the specification are answered', async () => {
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

  test("when it has a task, then the task's rate is taken unless one is given, and its total grows", async () => {
    expect(await make({ task_id: task.id, hours: 0.5 })).toMatchObject({ task_id: task.id, hourly_rate: 80 });
    expect(await make({ task_id: task.id, hourly_rate: 0 })).toMatchObject({ hourly_rate: 0 });
    expect(await make({ task_id: task.id, hours: 1 / 3, description: 'x' })).toMatchObject({ description: 'x' });
    expect(await total()).toBe(1800 + 3600 + 1200);
  });

  test('when its rate is given as null, then it has none, whatever its task has', async () => {
    expect(await make({ task_id: task.id, hourly_rate: null })).toMatchObject({ hourly_rate: null });
  });

  test('when fields are wrong, then 400 by field with the words of the specification', async () => {
    expect((await gateway.post(path, {}, account)).body).toEqual({
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

  test('when project or task are not there for the account, then 404 that says which', async () => {
    const other = await createProject(gateway, {}, account);
    const foreignProject = await createProject(gateway);
    const foreignTask = await create(gateway, '/api/v1/tasks', { project_id: foreignProject.id, name: 'x' });

    for (const project_id of [UNKNOWN_ID, foreignProject.id]) {
      expect(answerOf(await post({ project_id }))).toEqual([404, { error: 'Project not found or access denied' }]);
    }
    for (const fields of [
      { task_id: UNKNOWN_ID },
      { task_id: foreignTask.id },
      { task_id: task.id, project_id: other.id },
    ]) {
      expect(answerOf(await post(fields))).toEqual([404, { error: 'Task not found or access denied' }]);
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
  test('when there are several, then latest date first, each with project and task', async () => {
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

  test('when filters are given, then they find theirs, days included', async () => {
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
  test('when fields change, then only the fields of the specification are answered, and the total follows', async () => {
    const { id, created_at } = await make({ task_id: task.id, hours: 2 });
    const reply = await gateway.patch(
      `${path}/${id}`,
      { hours: 0.25, hourly_rate: 10, date: '2026-05-06', description: 'x', project_id: UNKNOWN_ID },
      account,
    );

    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      success: true,
      data: { id, hours: 0.25, hourly_rate: 10, date: '2026-05-06', description: 'x', created_at },
    });
    expect(await total()).toBe(900);
    expect(await lastEvent(account.id)).toMatchObject({
      type: 'time_entry.updated',
      data: { ...reply.body.data, task_id: task.id },
    });
  });

  test('when nothing known is given, a field is wrong or the id is unknown, then it is refused', async () => {
    const { id } = await make();

    for (const body of [{}, { task_id: task.id }]) {
      expect(answerOf(await gateway.patch(`${path}/${id}`, body, account))).toEqual([
        400,
        { error: 'No valid fields to update' },
      ]);
    }
    expect((await gateway.patch(`${path}/${id}`, { hours: -1 }, account)).body.details).toEqual({
      hours: ['hours must be positive'],
    });
    expect(answerOf(await gateway.patch(`${path}/${UNKNOWN_ID}`, { hours: 1 }, account))).toEqual([
      404,
      { error: 'Time entry not found or access denied' },
    ]);
  });
});

describe('DELETE /api/v1/time-entries/{id}', () => {
  test('when it is deleted, then it is gone for good and the total follows', async () => {
    const { id } = await make({ task_id: task.id, hours: 2 });
    await make({ task_id: task.id });

    expect(answerOf(await gateway.delete(`${path}/${id}`, account))).toEqual([
      200,
      { success: true, message: 'Time entry deleted' },
    ]);
    expect(await total()).toBe(3600);
    expect(await lastEvent(account.id)).toMatchObject({ type: 'time_entry.deleted', data: { id } });
    expect(answerOf(await gateway.delete(`${path}/${id}`, account))).toEqual([
      404,
      { error: 'Time entry not found or access denied' },
    ]);
    expect(answerOf(await gateway.get(`${path}/${id}`, account))).toEqual([404, { error: 'Time entry not found' }]);
  });

  test('when many entries change at once, then the total is still their sum', async () => {
    const entries = await Promise.all(Array.from({ length: 10 }, () => make({ task_id: task.id, hours: 1 })));
    await Promise.all(
      entries.map(({ id }, index) =>
        index % 2 ? gateway.delete(`${path}/${id}`, account) : gateway.patch(`${path}/${id}`, { hours: 0.5 }, account),
      ),
    );

    expect(await total()).toBe(5 * 1800);
  });
});
