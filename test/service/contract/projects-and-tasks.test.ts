// The specification's rules about projects and tasks.
import { afterAll, beforeAll, expect } from '@jest/globals';
import {
  type Contract,
  expectPages,
  startContract,
  TIMESTAMP,
  UNAUTHORIZED,
  UUID,
  unknownId,
} from '../../support/contract/contract.ts';
import { proves } from '../../support/contract/proves.ts';

let contract: Contract;
beforeAll(async () => {
  contract = await startContract();
});
afterAll(() => contract.close());

const projects = '/api/v1/projects';
const tasks = '/api/v1/tasks';
const DEFAULTS = ['In Progress', 'Awaiting Approval', 'Complete'];
const idsOf = ({ data }: { data: Array<{ id: string }> }) => data.map(({ id }) => id);

proves(
  'does.lists project.fields project.client project.default-statuses list-projects.answer',
  'when a project is listed, then with its fields, a default status and its client',
  async () => {
    const client = await contract.make.client({ company_name: 'Engines' });
    const made = await contract.make.project({ client_id: client.id });
    const [project] = (await contract.get(`${projects}?client_id=${client.id}`)).body.data;

    expect(project).toMatchObject({
      id: made.id,
      name: 'Engine',
      client: { id: client.id, name: 'Ada', email: 'ada@example.com', company_name: 'Engines' },
    });
    expect(project.id).toMatch(UUID);
    expect(project.created_at).toMatch(TIMESTAMP);
    expect(DEFAULTS).toContain(project.status);
  },
);

proves('list-projects.order', 'when projects are listed, then the newest is first', async () => {
  const client_id = (await contract.make.client()).id;
  const made = [];
  for (const name of ['first', 'second', 'third']) made.push((await contract.make.project({ name, client_id })).id);

  expect(idsOf((await contract.get(`${projects}?client_id=${client_id}`)).body)).toEqual(made.toReversed());
});

proves(
  'list-projects.status list-projects.client project.default-statuses',
  'when projects are filtered, then those that match',
  async () => {
    const client_id = (await contract.make.client()).id;
    for (const status of DEFAULTS) await contract.make.project({ client_id, status });
    for (const status of DEFAULTS) {
      const reply = await contract.get(`${projects}?client_id=${client_id}&status=${encodeURIComponent(status)}`);
      expect(reply.body.data.map((project: { status: string }) => project.status)).toEqual([status]);
      expect(reply.body.pagination.total).toBe(1);
    }
    expect((await contract.get(`${projects}?client_id=${unknownId()}`)).body.data).toEqual([]);
    expect((await contract.get(`${projects}?status=Lost`)).status).toBe(400);
  },
);

proves(
  'project.own-statuses project-state list-projects.status',
  'when the workspace has statuses of its own, then projects use those',
  async () => {
    const key = await contract.stranger();
    const own = ['Backlog', 'Doing', 'Shipped'];
    expect((await contract.patch('/api/v1/account', { project_statuses: own }, { key })).status).toBe(200);
    const client_id = (await contract.make.client({}, { key })).id;
    const project = await contract.make.project({ client_id, status: 'Shipped' }, { key });

    expect(project.status).toBe('Shipped');
    const refused = await contract.post(projects, { name: 'X', client_id, status: 'In Progress' }, { key });
    expect(refused.status).toBe(400);
    expect(idsOf((await contract.get(`${projects}?status=Shipped`, { key })).body)).toEqual([project.id]);
    expect(own).toContain((await contract.make.project({ client_id }, { key })).status);
  },
);

proves(
  'list-projects.page list-tasks.page limit.page limit.offset',
  'when projects and tasks are paged, then by the shared rules',
  async () => {
    const project_id = (await contract.make.project()).id;
    await contract.make.project();
    await contract.make.task({ project_id });
    await contract.make.task({ project_id });

    await expectPages(contract, projects);
    await expectPages(contract, tasks);
  },
);

proves('list-projects.unauthorized', 'when the key is not valid, then projects are not listed', async () => {
  const reply = await contract.get(projects, { key: 'nonsense' });

  expect([reply.status, reply.body]).toEqual([401, UNAUTHORIZED]);
});

proves(
  'task.fields task.description task.status task.hours task.rate task.seconds task.phase task.project project.embedded list-tasks.answer task-state',
  'when a task is made from the least, then nullable fields are null and its project is embedded',
  async () => {
    const project = await contract.make.project();
    const made = await contract.make.task({ project_id: project.id });
    const [task] = (await contract.get(`${tasks}?project_id=${project.id}`)).body.data;

    expect(task).toMatchObject({
      id: made.id,
      name: 'Drawing',
      description: null,
      status: 'todo',
      estimated_hours: null,
      billable: true,
      rate: null,
      total_seconds: 0,
      phase_id: null,
    });
    expect(task.project).toEqual({ id: project.id, name: project.name });
    expect(task.id).toMatch(UUID);
    expect(task.created_at).toMatch(TIMESTAMP);
  },
);

proves(
  'task.description task.hours task.rate task.phase task.status task-state task.fields',
  'when every field of a task is given, then every field is kept',
  async () => {
    const given = {
      description: 'Fine lines',
      estimated_hours: 12.5,
      rate: 90,
      phase_id: unknownId(),
      billable: false,
    };
    for (const status of ['todo', 'in_progress', 'done']) {
      expect(await contract.make.task({ ...given, status })).toMatchObject({ ...given, status });
    }
    const project_id = (await contract.make.project()).id;
    expect((await contract.post(tasks, { project_id, name: 'X', status: 'finished' })).status).toBe(400);
  },
);

proves('task.seconds', 'when time is logged on a task, then total_seconds is its sum', async () => {
  const project_id = (await contract.make.project()).id;
  const task = await contract.make.task({ project_id });
  await contract.make.entry({ project_id, task_id: task.id, hours: 1.5 });
  await contract.make.entry({ project_id, task_id: task.id, hours: 0.25 });

  expect((await contract.get(`${tasks}/${task.id}`)).body.data.total_seconds).toBe(6300);
  expect((await contract.get(`${tasks}?project_id=${project_id}`)).body.data[0].total_seconds).toBe(6300);
});

proves('list-tasks.all', 'when tasks are listed without a filter, then those of all projects', async () => {
  const [first, second] = [await contract.make.task(), await contract.make.task()];
  const ids = idsOf((await contract.get(`${tasks}?limit=100`)).body);

  expect(ids).toEqual(expect.arrayContaining([first.id, second.id]));
});

proves('list-tasks.project list-tasks.status', 'when tasks are filtered, then those that match', async () => {
  const project_id = (await contract.make.project()).id;
  for (const status of ['todo', 'in_progress', 'done']) {
    const task = await contract.make.task({ project_id, status });
    expect(idsOf((await contract.get(`${tasks}?project_id=${project_id}&status=${status}`)).body)).toEqual([task.id]);
  }
  expect((await contract.get(`${tasks}?project_id=${project_id}`)).body.pagination.total).toBe(3);
  expect((await contract.get(`${tasks}?project_id=${unknownId()}`)).body.data).toEqual([]);
  expect((await contract.get(`${tasks}?status=finished`)).status).toBe(400);
});

proves('delete-task.entries delete-task.answer', 'when a task is deleted, then so is all its time', async () => {
  const project_id = (await contract.make.project()).id;
  const task = await contract.make.task({ project_id });
  await contract.make.entry({ project_id, task_id: task.id });
  const other = await contract.make.entry({ project_id });
  const reply = await contract.delete(`${tasks}/${task.id}`);

  expect([reply.status, reply.body]).toEqual([200, { success: true, message: 'Task deleted' }]);
  expect((await contract.get(`${tasks}/${task.id}`)).status).toBe(404);
  expect(idsOf((await contract.get(`/api/v1/time-entries?project_id=${project_id}`)).body)).toEqual([other.id]);
});

proves(
  'delete-task.missing error.task-denied general.foreign',
  'when the task to delete is unknown or foreign, then the stated text',
  async () => {
    const { id } = await contract.make.task();
    const key = await contract.stranger();
    for (const reply of [
      await contract.delete(`${tasks}/${unknownId()}`),
      await contract.delete(`${tasks}/${id}`, { key }),
    ]) {
      expect([reply.status, reply.body]).toEqual([
        404,
        expect.objectContaining({ error: 'Task not found or access denied' }),
      ]);
    }
  },
);

proves('other.exist', 'when projects and tasks are read, changed and deleted, then it works', async () => {
  const project = await contract.make.project();
  const task = await contract.make.task({ project_id: project.id });

  expect((await contract.get(`${projects}/${project.id}`)).body.data).toMatchObject({ id: project.id, name: 'Engine' });
  expect((await contract.get(`${tasks}/${task.id}`)).body.data).toMatchObject({ id: task.id, name: 'Drawing' });
  expect((await contract.patch(`${projects}/${project.id}`, { name: 'Loom' })).body.data.name).toBe('Loom');
  expect((await contract.patch(`${tasks}/${task.id}`, { status: 'done' })).body.data.status).toBe('done');
  expect((await contract.delete(`${tasks}/${task.id}`)).status).toBe(200);
  expect((await contract.delete(`${projects}/${project.id}`)).body).toMatchObject({ success: true });
  expect((await contract.get(`${projects}/${project.id}`)).status).toBe(404);
});
