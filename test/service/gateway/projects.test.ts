// Projects over HTTP: the account's own statuses, and what may be deleted.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { driverOf } from '#libs/models/records.ts';
import { REMOVED_MAX } from '#libs/models/remove-records.ts';
import { newRecord, storedId } from '#libs/models/tenant.ts';
import { Task } from '#libs/models/time/task.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import {
  type AnyRecord,
  answerOf,
  create,
  createClient,
  createProject,
  eventsOf,
  lastEvent,
  UNKNOWN_ID,
} from '../../support/records.ts';

const path = '/api/v1/projects';

let gateway: TestGateway;
let account: { id: string; key: string };
let client: AnyRecord;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  account = await gateway.workspace.account();
  client = await createClient(gateway, {}, account);
});

const make = (body: object = {}) => createProject(gateway, { client_id: client.id, ...body }, account);
const patch = (id: string, body: object) => gateway.patch(`${path}/${id}`, body, account);
const list = (query = '') => gateway.get(path + query, account);

describe('POST /api/v1/projects', () => {
  test('when name and client are given, then the project is In Progress, stored and announced', async () => {
    const reply = await gateway.post(path, { name: 'Engine', client_id: client.id }, account);

    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      success: true,
      data: {
        id: expect.any(String),
        name: 'Engine',
        status: 'In Progress',
        client: { id: client.id, name: client.name, email: client.email },
        hourly_rate: null,
        member_rates: null,
        rounding: null,
        billing: 'hourly',
        currency: null,
        fixed_amount: null,
        fixed_billed: null,
        left_to_bill: null,
        budget_hours: null,
        budget_amount: null,
        budget: null,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    });
    expect((await gateway.get(`${path}/${reply.body.data.id}`, account)).body.data).toEqual(reply.body.data);
    expect(await lastEvent(account.id)).toMatchObject({ type: 'project.created', data: reply.body.data });
  });

  test('when fields are missing or invalid, then 400 by field', async () => {
    expect((await gateway.post(path, {}, account)).body.details).toEqual({
      name: ['name is required'],
      client_id: ['client_id is required'],
    });
    expect(
      (await gateway.post(path, { name: 'x', client_id: client.id, status: 'Odd' }, account)).body.details,
    ).toEqual({
      status: ['status must be one of In Progress, Awaiting Approval, Complete'],
    });
  });

  test("when the client is unknown or another account's, then 404", async () => {
    for (const client_id of [UNKNOWN_ID, (await createClient(gateway)).id]) {
      expect(answerOf(await gateway.post(path, { name: 'x', client_id }, account))).toEqual([
        404,
        expect.objectContaining({ error: 'Client not found or access denied' }),
      ]);
    }
  });

  test('when the account has statuses of its own, then only these are accepted', async () => {
    await gateway.patch('/api/v1/account', { project_statuses: ['Lead', 'Won'] }, account);

    expect((await make()).status).toBe('Lead');
    expect((await make({ status: 'Won' })).status).toBe('Won');
    expect((await gateway.post(path, { name: 'x', client_id: client.id, status: 'Complete' }, account)).status).toBe(
      400,
    );
    expect((await list('?status=Won')).body.pagination.total).toBe(1);
    expect((await list('?status=Complete')).status).toBe(400);
  });

  test('when it is a dry run, then nothing is stored', async () => {
    const reply = await gateway.post(`${path}?dry_run=true`, { name: 'x', client_id: client.id }, account);

    expect([reply.status, reply.body.data.id, reply.body.data.status]).toEqual([200, null, 'In Progress']);
    expect((await list()).body.pagination.total).toBe(0);
  });
});

describe('GET /api/v1/projects', () => {
  test('when there are several, then they are listed newest first, with filters and pages', async () => {
    const other = await createClient(gateway, {}, account);
    const [first, second, third] = [
      await make(),
      await make({ client_id: other.id }),
      await make({ status: 'Complete' }),
    ];
    const ids = async (query: string) => (await list(query)).body.data.map(({ id }: AnyRecord) => id);

    expect(await ids('')).toEqual([third.id, second.id, first.id]);
    expect(await ids(`?client_id=${client.id}`)).toEqual([third.id, first.id]);
    expect(await ids('?status=Complete')).toEqual([third.id]);
    expect(await ids(`?client_id=${other.id}&status=Complete`)).toEqual([]);
    expect(await ids('?status=complete')).toEqual([third.id]);
    expect(await ids('?limit=1&offset=1')).toEqual([second.id]);
    expect(await ids('?sort=updated_at')).toEqual([first.id, second.id, third.id]);
  });
});

describe('a status that the account has removed', () => {
  test('when the account changes its spelling, then a filter finds projects of both, and new projects get the new one', async () => {
    const old = await make({ status: 'Complete' });
    await gateway.patch('/api/v1/account', { project_statuses: ['Lead', 'COMPLETE'] }, account);
    const fresh = await make({ status: 'complete' });

    expect(fresh.status).toBe('COMPLETE');
    for (const status of ['Complete', 'COMPLETE', 'complete']) {
      const { data } = (await list(`?status=${status}`)).body;
      expect(data.map(({ id }: AnyRecord) => id)).toEqual([fresh.id, old.id]);
    }
  });

  test('when a project still has it, then it is accepted as a filter; when none has it, then 400', async () => {
    const { id } = await make({ status: 'Complete' });
    await gateway.patch('/api/v1/account', { project_statuses: ['Lead'] }, account);
    const other = await createClient(gateway, {}, account);

    expect((await list('?status=Complete')).body.data.map((project: AnyRecord) => project.id)).toEqual([id]);
    expect((await list(`?status=Complete&client_id=${other.id}`)).body.data).toEqual([]);
    expect((await list('?status=Awaiting%20Approval')).status).toBe(400);
    // Projects of other accounts do not count.
    await createProject(gateway, { status: 'Awaiting Approval' });
    expect((await list('?status=Awaiting%20Approval')).status).toBe(400);
  });
});

describe('PATCH /api/v1/projects/{id}', () => {
  test('when fields change, then they are returned and announced', async () => {
    const { id } = await make();
    const other = await createClient(gateway, { name: 'Grace' }, account);
    const reply = await patch(id, { name: 'New', status: 'Complete', client_id: other.id });

    expect(reply.body.data).toMatchObject({ id, name: 'New', status: 'Complete', client: { name: 'Grace' } });
    expect(await lastEvent(account.id)).toMatchObject({ type: 'project.updated', data: reply.body.data });
  });

  test('when the account has removed its status, then the project may keep it', async () => {
    const { id } = await make({ status: 'Complete' });
    await gateway.patch('/api/v1/account', { project_statuses: ['Lead'] }, account);

    expect((await patch(id, { status: 'Complete', name: 'x' })).status).toBe(200);
    expect((await patch(id, { status: 'In Progress' })).status).toBe(400);
  });

  test('when no known field is given, the id is unknown or the client is of another account, then it is rejected', async () => {
    const { id } = await make();

    expect(answerOf(await patch(id, { color: 'red' }))).toEqual([
      400,
      expect.objectContaining({ error: 'No valid fields to update' }),
    ]);
    expect(answerOf(await patch(UNKNOWN_ID, { name: 'x' }))).toEqual([
      404,
      expect.objectContaining({ error: 'Project not found or access denied' }),
    ]);
    expect((await patch(id, { client_id: (await createClient(gateway)).id })).status).toBe(404);
    expect((await patch(id, { name: null })).status).toBe(400);
  });
});

describe('DELETE /api/v1/projects/{id}', () => {
  test('when it has tasks without time, then it is deleted together with them', async () => {
    const { id } = await make();
    const task = await create(gateway, '/api/v1/tasks', { project_id: id, name: 'Plan' }, account);

    expect(answerOf(await gateway.delete(`${path}/${id}`, account))).toEqual([
      200,
      { success: true, message: 'Project deleted' },
    ]);
    expect((await gateway.get(`/api/v1/tasks/${task.id}`, account)).status).toBe(404);
    expect((await eventsOf(account.id)).slice(-2)).toEqual(['task.deleted', 'project.deleted']);
    expect((await gateway.delete(`${path}/${id}`, account)).status).toBe(404);
  });

  test('when it has more tasks than one transaction removes, then 409 and nothing is removed', async () => {
    const { id } = await make();
    const fields = {
      name: 'Plan',
      description: null,
      status: 'todo',
      estimated_hours: null,
      billable: true,
      rate: null,
    };
    await driverOf(Task).insertMany(
      Array.from({ length: REMOVED_MAX + 1 }, () => ({
        ...newRecord(account.id),
        ...fields,
        project_id: storedId(id),
        total_seconds: 0,
        phase_id: null,
      })),
    );

    expect(answerOf(await gateway.delete(`${path}/${id}`, account))).toEqual([
      409,
      expect.objectContaining({
        error: 'Cannot delete a project with more than 5000 tasks or 16 MiB of them: delete tasks first',
      }),
    ]);
    expect(await Task.countDocuments({ account_id: account.id })).toBe(REMOVED_MAX + 1);
  });

  test.each([
    ['time entries', '/api/v1/time-entries', { hours: 1, date: '2026-01-02' }],
    ['invoices', '/api/v1/invoices', { amount: 1, due_date: '2031-01-01' }],
    ['quotes', '/api/v1/quotes', { amount: 1 }],
  ])('when it has %s, then 409 names them and it stays', async (what, other, body) => {
    const { id } = await make();
    await create(gateway, other, { ...body, project_id: id, client_id: client.id }, account);

    expect(answerOf(await gateway.delete(`${path}/${id}`, account))).toEqual([
      409,
      expect.objectContaining({ error: `Cannot delete a project with ${what}` }),
    ]);
    expect((await gateway.get(`${path}/${id}`, account)).status).toBe(200);
  });
});

describe('DELETE /api/v1/clients/{id}', () => {
  test.each([
    ['projects', path, { name: 'x' }],
    ['invoices', '/api/v1/invoices', { amount: 1, due_date: '2031-01-01' }],
    ['quotes', '/api/v1/quotes', { amount: 1 }],
  ])('when the client has %s, then 409 names them and it stays', async (what, other, body) => {
    await create(gateway, other, { ...body, client_id: client.id }, account);

    expect(answerOf(await gateway.delete(`/api/v1/clients/${client.id}`, account))).toEqual([
      409,
      expect.objectContaining({ error: `Cannot delete a client with ${what}` }),
    ]);
  });

  test('when it is deleted while a project is added to it, then one of the two is rejected and nothing is orphaned', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await createClient(gateway, {}, account);
      const [made, removed] = await Promise.all([
        gateway.post(path, { name: 'x', client_id: id }, account),
        gateway.delete(`/api/v1/clients/${id}`, account),
      ]);

      expect([
        [201, 409],
        [404, 200],
      ]).toContainEqual([made.status, removed.status]);
    }
  });
});
