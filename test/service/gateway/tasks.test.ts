// Tasks over HTTP, and their time entries.
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { issueApiKey } from '#libs/models/accounts/api-key.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { driverOf } from '#libs/models/records.ts';
import { REMOVED_MAX } from '#libs/models/remove-records.ts';
import { newRecord, storedId } from '#libs/models/tenant.ts';
import { TimeEntry } from '#libs/models/time/time-entry.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyFor, make as makeOne } from '../../support/operations.ts';
import { type AnyRecord, answerOf, create, createProject, lastEvent, UNKNOWN_ID } from '../../support/records.ts';

const path = '/api/v1/tasks';

let gateway: TestGateway;
let account: { id: string; key: string };
let project: AnyRecord;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  account = await gateway.workspace.account();
  project = await createProject(gateway, {}, account);
});

const make = (body: object = {}) => create(gateway, path, { project_id: project.id, name: 'Draw', ...body }, account);
const patch = (id: string, body: object) => gateway.patch(`${path}/${id}`, body, account);
const list = (query = '') => gateway.get(path + query, account);
const log = (task_id: string, hours = 1) =>
  create(gateway, '/api/v1/time-entries', { project_id: project.id, task_id, hours, date: '2026-01-02' }, account);

test('when a key has the scope for tasks and not for time entries, then it can delete a task only without time', async () => {
  const { key } = await issueApiKey({ accountId: account.id, name: 'tasks only', scopes: ['tasks:write'] });
  const remove = (id: string) => gateway.delete(`${path}/${id}`, { ...account, key });
  const [withTime, without] = [await make(), await make()];
  const entry = await log(withTime.id);

  expect(answerOf(await remove(withTime.id))).toEqual([
    403,
    expect.objectContaining({ error: 'Forbidden: API key lacks the time-entries:write scope' }),
  ]);
  expect((await remove(without.id)).status).toBe(200);
  expect((await gateway.get(`/api/v1/time-entries/${entry.id}`, account)).status).toBe(200);
});

const tooMuch = 'Cannot delete a task with more than 5000 time entries or 16 MiB of them: delete time entries first';

/** Inserts many time entries directly into the database. @returns the ids, the oldest first. */
async function logMany(task_id: string, count: number, description: string | null = null): Promise<string[]> {
  const ids = { project_id: storedId(project.id), task_id: storedId(task_id) };
  const fields = { hours: 1, seconds: 3600, hourly_rate: null, date: '2026-01-02', description };
  const entries = Array.from({ length: count }, () => ({ ...newRecord(account.id), ...ids, ...fields }));
  await driverOf(TimeEntry).insertMany(entries);
  return entries.map(({ _id }) => String(_id)).toSorted();
}

describe('POST /api/v1/tasks', () => {
  test('when project and name are given, then the other fields have their defaults', async () => {
    const reply = await gateway.post(path, { project_id: project.id, name: 'Draw' }, account);

    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      success: true,
      data: {
        id: expect.any(String),
        name: 'Draw',
        description: null,
        status: 'todo',
        estimated_hours: null,
        budget_hours: null,
        budget: null,
        billable: true,
        rate: null,
        total_seconds: 0,
        phase_id: null,
        project: { id: project.id, name: project.name },
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    });
    expect((await gateway.get(`${path}/${reply.body.data.id}`, account)).body.data).toEqual(reply.body.data);
    expect((await list()).body.data).toEqual([reply.body.data]);
    expect(await lastEvent(account.id)).toMatchObject({ type: 'task.created', data: reply.body.data });
  });

  test('when all fields are given, then they are stored', async () => {
    const fields = {
      description: 'Plans',
      status: 'in_progress',
      estimated_hours: 2.5,
      budget_hours: 3.5,
      billable: false,
      rate: 99.5,
      phase_id: UNKNOWN_ID,
    };

    expect(await make(fields)).toMatchObject(fields);
  });

  test("when fields are invalid, then 400 by field; when the project is not the account's, then 404", async () => {
    const reply = await gateway.post(
      path,
      {
        project_id: 1,
        name: '',
        status: 'doing',
        estimated_hours: -1,
        billable: 'yes',
        rate: '5',
        phase_id: 'p',
        total_seconds: 9,
      },
      account,
    );
    expect(reply.status).toBe(400);
    expect(Object.keys(reply.body.details).sort()).toEqual([
      'billable',
      'estimated_hours',
      'name',
      'phase_id',
      'project_id',
      'rate',
      'status',
    ]);
    for (const project_id of [UNKNOWN_ID, (await createProject(gateway)).id]) {
      expect(answerOf(await gateway.post(path, { project_id, name: 'x' }, account))).toEqual([
        404,
        expect.objectContaining({ error: 'Project not found or access denied' }),
      ]);
    }
  });

  test('when it is a dry run, then nothing is stored', async () => {
    expect((await gateway.post(`${path}?dry_run=true`, { project_id: project.id, name: 'x' }, account)).status).toBe(
      200,
    );
    expect((await list()).body.pagination.total).toBe(0);
  });
});

describe('GET /api/v1/tasks', () => {
  test('when there are several projects, then the tasks of all are listed, and filters apply', async () => {
    const other = await createProject(gateway, {}, account);
    const [first, second] = [await make(), await make({ project_id: other.id, status: 'done' })];
    const ids = async (query: string) => (await list(query)).body.data.map(({ id }: AnyRecord) => id);

    expect(await ids('')).toEqual([second.id, first.id]);
    expect(await ids(`?project_id=${project.id}`)).toEqual([first.id]);
    expect(await ids('?status=done')).toEqual([second.id]);
    expect(await ids(`?status=done&project_id=${project.id}`)).toEqual([]);
    expect((await list('?status=doing')).status).toBe(400);
  });
});

describe('PATCH /api/v1/tasks/{id}', () => {
  test('when fields change or are cleared, then they are returned and announced', async () => {
    const { id } = await make({ rate: 5, phase_id: UNKNOWN_ID });
    const reply = await patch(id, {
      name: 'New',
      status: 'done',
      rate: null,
      phase_id: null,
      description: 'x',
      billable: false,
    });

    expect(reply.body.data).toMatchObject({
      name: 'New',
      status: 'done',
      rate: null,
      phase_id: null,
      description: 'x',
      billable: false,
    });
    expect((await gateway.get(`${path}/${id}`, account)).body.data).toEqual(reply.body.data);
    expect(await lastEvent(account.id)).toMatchObject({ type: 'task.updated', data: reply.body.data });
  });

  test('when it is moved to another project, then that is accepted only without time entries', async () => {
    const { id } = await make();
    const other = await createProject(gateway, { name: 'Other' }, account);

    expect((await patch(id, { project_id: other.id })).body.data.project).toEqual({ id: other.id, name: 'Other' });
    await patch(id, { project_id: project.id });
    await log(id);
    expect(answerOf(await patch(id, { project_id: other.id }))).toEqual([
      409,
      expect.objectContaining({ error: 'Cannot move a task with time entries to another project' }),
    ]);
    expect((await patch(id, { project_id: project.id, name: 'same' })).status).toBe(200);
    expect((await patch(id, { project_id: (await createProject(gateway)).id })).status).toBe(404);
  });

  test('when no known field is given or the id is unknown, then it is rejected', async () => {
    const { id } = await make();

    expect(answerOf(await patch(id, { total_seconds: 5 }))).toEqual([
      400,
      expect.objectContaining({ error: 'No valid fields to update' }),
    ]);
    expect(answerOf(await patch(UNKNOWN_ID, { name: 'x' }))).toEqual([
      404,
      expect.objectContaining({ error: 'Task not found or access denied' }),
    ]);
  });
});

describe('DELETE /api/v1/tasks/{id}', () => {
  test('when it has time, then its entries are deleted with it and others stay', async () => {
    const [task, other] = [await make(), await make()];
    const gone = [await log(task.id), await log(task.id)];
    const kept = await log(other.id);

    expect(answerOf(await gateway.delete(`${path}/${task.id}`, account))).toEqual([
      200,
      { success: true, message: 'Task deleted' },
    ]);
    const left = (await gateway.get('/api/v1/time-entries', account)).body.data;
    expect(left.map(({ id }: AnyRecord) => id)).toEqual([kept.id]);
    expect(await lastEvent(account.id)).toMatchObject({
      type: 'task.deleted',
      data: { id: task.id, total_seconds: 7200 },
    });
    // A receiver that keeps a copy of the time needs an event for each entry.
    const feed = (await gateway.get('/api/v1/events?type=time_entry.deleted', account)).body.data;
    expect(feed.map(({ data }: AnyRecord) => [data.id, data.task.id, data.project.id])).toEqual(
      gone.map(({ id }) => [id, task.id, project.id]),
    );
    const sequences = (await gateway.get('/api/v1/events?limit=500', account)).body.data.map(
      ({ sequence }: AnyRecord) => sequence,
    );
    expect(sequences).toEqual(sequences.map((_: number, index: number) => index + 1));
    expect(answerOf(await gateway.delete(`${path}/${task.id}`, account))).toEqual([
      404,
      expect.objectContaining({ error: 'Task not found or access denied' }),
    ]);
  });

  test('when it has many time entries, then at most a batch of them is in memory, and each is announced in order', async () => {
    const task = await make();
    const ids = await logMany(task.id, 450);
    const insertMany = jest.spyOn(Event.collection, 'insertMany');

    expect((await gateway.delete(`${path}/${task.id}`, account)).status).toBe(200);
    const portions = insertMany.mock.calls.map(([events]) => events.length);
    insertMany.mockRestore();
    // The last one is the event of the task.
    expect(portions).toEqual([200, 200, 51]);
    expect(await TimeEntry.countDocuments({ account_id: account.id })).toBe(0);
    const events = await Event.find({ account_id: account.id }).sort({ sequence: 1 }).lean();
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    expect(events.slice(-451).map(({ type, body }) => [type, JSON.parse(body).data.id])).toEqual([
      ...ids.map((id) => ['time_entry.deleted', id]),
      ['task.deleted', task.id],
    ]);
  });

  test('when it has more time than one transaction removes, then 409 and nothing is removed', async () => {
    const task = await make();
    const [first] = await logMany(task.id, REMOVED_MAX + 1);

    expect(answerOf(await gateway.delete(`${path}/${task.id}`, account))).toEqual([
      409,
      expect.objectContaining({ error: tooMuch }),
    ]);
    expect(await TimeEntry.countDocuments({ account_id: account.id })).toBe(REMOVED_MAX + 1);
    expect((await gateway.delete(`/api/v1/time-entries/${first}`, account)).status).toBe(200);
    expect((await gateway.delete(`${path}/${task.id}`, account)).status).toBe(200);
  });

  test('when its time entries are larger than one transaction can remove, then 409', async () => {
    const task = await make();
    await logMany(task.id, 850, 'x'.repeat(20_000));

    expect(answerOf(await gateway.delete(`${path}/${task.id}`, account))).toEqual([
      409,
      expect.objectContaining({ error: tooMuch }),
    ]);
    expect(await TimeEntry.countDocuments({ account_id: account.id })).toBe(850);
  });

  test('when its time is on an invoice or settled, then 409; once the time is unbilled, the task can be deleted', async () => {
    const task = await make();
    const entry = await log(task.id);
    const invoice = await create(
      gateway,
      '/api/v1/invoices',
      { client_id: project.client.id, amount: 1, due_date: '2031-01-01', status: 'Sent' },
      account,
    );
    const filter = { account_id: account.id, _id: entry.id };
    await TimeEntry.updateOne(filter, { $set: { invoice_id: invoice.id } });

    expect(answerOf(await gateway.delete(`${path}/${task.id}`, account))).toEqual([
      409,
      expect.objectContaining({ error: 'Cannot delete a task with time on an issued invoice' }),
    ]);
    for (const reply of [
      await gateway.delete(`/api/v1/time-entries/${entry.id}`, account),
      await gateway.patch(`/api/v1/time-entries/${entry.id}`, { hours: 2 }, account),
    ]) {
      expect(answerOf(reply)).toEqual([
        409,
        expect.objectContaining({ error: 'Cannot change time on an issued invoice' }),
      ]);
    }
    await Invoice.updateOne({ account_id: account.id, _id: invoice.id }, { $set: { status: 'Draft' } });
    expect(answerOf(await gateway.delete(`${path}/${task.id}`, account))).toEqual([
      409,
      expect.objectContaining({
        error: `Cannot delete a task with time on a draft invoice: take it off ${invoice.invoice_number} first`,
      }),
    ]);
    await TimeEntry.updateOne(filter, { $set: { invoice_id: null, settled: 'written_off' } });
    expect((await gateway.delete(`${path}/${task.id}`, account)).status).toBe(409);
    await TimeEntry.updateOne(filter, { $set: { settled: null } });
    expect((await gateway.delete(`${path}/${task.id}`, account)).status).toBe(200);
  });
});

describe('a rate with the field name of another resource', () => {
  test.each([
    ['tasks', 'hourly_rate', 'rate'],
    ['projects', 'rate', 'hourly_rate'],
    ['clients', 'rate', 'hourly_rate'],
    ['time-entries', 'rate', 'hourly_rate'],
  ] as const)('when %s are sent %s, then 400 says that it is %s, and nothing is stored', async (kind, wrong, right) => {
    const id = await makeOne(gateway, kind, gateway.account, 'own-');
    const path = `/api/v1/${kind}`;
    const before = (await gateway.get(`${path}/${id}`)).body.data;
    const message = { [wrong]: [`${wrong} is called ${right} here`] };
    const operation = {
      tasks: 'createTask',
      projects: 'createProject',
      clients: 'addClient',
      'time-entries': 'createTimeEntry',
    };
    const body = await bodyFor(gateway, operation[kind], gateway.account);
    expect(await gateway.post(path, { ...body, [wrong]: 90 })).toMatchObject({
      status: 400,
      body: { details: message },
    });
    expect(await gateway.patch(`${path}/${id}`, { [wrong]: 90 })).toMatchObject({
      status: 400,
      body: { details: message },
    });
    expect((await gateway.get(`${path}/${id}`)).body.data).toEqual(before);
    // A body with both names is accepted, as when a whole record is sent back.
    const whole = await gateway.patch(`${path}/${id}`, { [wrong]: 90, [right]: 80 });
    expect([whole.status, (await gateway.get(`${path}/${id}`)).body.data[right]]).toEqual([200, 80]);
  });
});
