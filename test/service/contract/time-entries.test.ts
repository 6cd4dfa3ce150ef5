// The specification's rules about time entries.
import { afterAll, beforeAll, expect } from '@jest/globals';
import {
  type Contract,
  expectPages,
  startContract,
  TIMESTAMP,
  UUID,
  unknownId,
} from '../../support/contract/contract.ts';
import { proves } from '../../support/contract/proves.ts';

let contract: Contract;
beforeAll(async () => {
  contract = await startContract();
});
afterAll(() => contract.close());

const path = '/api/v1/time-entries';
const idsOf = ({ data }: { data: Array<{ id: string }> }) => data.map(({ id }) => id);

proves(
  'does.time entry.fields entry.task-id entry.project create-entry.project create-entry.task create-entry.optional create-entry.answer endpoint.201 general.dates general.timestamps general.uuid',
  'when time is logged on a task, then it is answered with the fields of the table',
  async () => {
    const project = await contract.make.project();
    const task = await contract.make.task({ project_id: project.id });
    const given = { hours: 2.25, date: '2026-11-02', description: 'Drawing', hourly_rate: 90 };
    const reply = await contract.post(path, { project_id: project.id, task_id: task.id, ...given });

    expect(reply.status).toBe(201);
    expect(reply.body).toMatchObject({ success: true, data: { ...given, task_id: task.id } });
    expect(reply.body.data.project).toEqual({ id: project.id, name: project.name });
    expect(reply.body.data.id).toMatch(UUID);
    expect(reply.body.data.created_at).toMatch(TIMESTAMP);
  },
);

proves(
  'create-entry.optional create-entry.task',
  'when only what is required is given, then it is logged',
  async () => {
    const project_id = (await contract.make.project()).id;
    const reply = await contract.post(path, { project_id, hours: 1, date: '2026-11-02' });

    expect(reply.status).toBe(201);
    expect(reply.body.data.task_id ?? null).toBeNull();
  },
);

proves(
  'create-entry.error create-entry.project create-entry.hours create-entry.date error.field-details error.400 envelope.details',
  'when required fields are absent, then 400 with details from field to messages',
  async () => {
    const reply = await contract.post(path, {});

    expect(reply.status).toBe(400);
    expect(reply.body.error).toBe('Validation failed');
    expect(reply.body.details).toMatchObject({
      project_id: ['project_id is required'],
      hours: ['hours is required'],
      date: ['date is required'],
    });
  },
);

proves(
  'create-entry.hours limit.hours error.field-details general.dates',
  'when hours or date break their rule, then 400 names them',
  async () => {
    const project_id = (await contract.make.project()).id;
    for (const hours of [0, -1]) {
      const reply = await contract.post(path, { project_id, hours, date: '2026-11-02' });
      expect([reply.status, reply.body.details]).toEqual([400, { hours: ['hours must be positive'] }]);
    }
    for (const date of ['2026-02-30', '02.11.2026', '2026-11-02T00:00:00Z', 20261102]) {
      const reply = await contract.post(path, { project_id, hours: 1, date });
      expect([date, reply.status, Object.keys(reply.body.details)]).toEqual([date, 400, ['date']]);
    }
  },
);

proves(
  'create-entry.foreign create-entry.project create-entry.task error.entry-project error.404',
  "when project or task are unknown, another account's or do not belong together, then 404 and nothing is logged",
  async () => {
    const key = await contract.stranger();
    const theirs = await contract.make.project({}, { key });
    for (const project_id of [theirs.id, unknownId()]) {
      const reply = await contract.post(path, { project_id, hours: 1, date: '2026-11-02' });
      expect([reply.status, reply.body]).toEqual([
        404,
        expect.objectContaining({ error: 'Project not found or access denied' }),
      ]);
    }
    const project_id = (await contract.make.project()).id;
    const elsewhere = await contract.make.task();
    for (const task_id of [unknownId(), elsewhere.id]) {
      const reply = await contract.post(path, { project_id, task_id, hours: 1, date: '2026-11-02' });
      expect([reply.status, reply.body]).toEqual([
        404,
        expect.objectContaining({ error: 'Task not found or access denied' }),
      ]);
    }
  },
);

proves(
  'list-entries.order list-entries.answer entry.task entry.project entry.fields',
  'when entries are listed, then by date descending with project and task',
  async () => {
    const project = await contract.make.project();
    const task = await contract.make.task({ project_id: project.id });
    for (const date of ['2026-11-03', '2026-11-01', '2026-11-05']) {
      await contract.make.entry({ project_id: project.id, task_id: task.id, date });
    }
    const { data } = (await contract.get(`${path}?project_id=${project.id}`)).body;

    expect(data.map(({ date }: { date: string }) => date)).toEqual(['2026-11-05', '2026-11-03', '2026-11-01']);
    expect(data[0].task).toEqual({ id: task.id, name: task.name });
    expect(data[0].project).toEqual({ id: project.id, name: project.name });
  },
);

proves(
  'list-entries.project list-entries.task list-entries.from list-entries.to',
  'when entries are filtered, then those that match, both days included',
  async () => {
    const project_id = (await contract.make.project()).id;
    const task_id = (await contract.make.task({ project_id })).id;
    const days = ['2026-11-01', '2026-11-02', '2026-11-03'];
    const made = [];
    for (const date of days) made.push((await contract.make.entry({ project_id, date })).id);
    const onTask = await contract.make.entry({ project_id, task_id, date: '2026-10-01' });
    const ids = async (query: string) => idsOf((await contract.get(`${path}?project_id=${project_id}&${query}`)).body);

    expect(await ids('date_from=2026-11-02')).toEqual([made[2], made[1]]);
    expect(await ids('date_to=2026-11-02&date_from=2026-11-01')).toEqual([made[1], made[0]]);
    expect(await ids('date_to=2026-10-31')).toEqual([onTask.id]);
    expect(await ids(`task_id=${task_id}`)).toEqual([onTask.id]);
    expect(await ids(`task_id=${unknownId()}`)).toEqual([]);
    expect((await contract.get(`${path}?project_id=${unknownId()}`)).body.data).toEqual([]);
    expect((await contract.get(`${path}?date_from=yesterday`)).status).toBe(400);
  },
);

proves('list-entries.page limit.page limit.offset', 'when entries are paged, then by the shared rules', async () => {
  await contract.make.entry();
  await contract.make.entry();

  await expectPages(contract, path);
});

proves(
  'update-entry.one update-entry.fields update-entry.answer entry.update envelope.update',
  'when fields are sent, then these change, and the answer carries only the six',
  async () => {
    const { id } = await contract.make.entry({ description: 'Before' });
    const changes = { hours: 3, hourly_rate: 55.5, date: '2026-11-09' };
    const reply = await contract.patch(`${path}/${id}`, changes);

    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ success: true, data: { id, ...changes, description: 'Before' } });
    expect(Object.keys(reply.body.data).toSorted()).toEqual(
      ['id', 'hours', 'hourly_rate', 'date', 'description', 'created_at'].toSorted(),
    );
    await contract.patch(`${path}/${id}`, { description: 'After' });
    expect((await contract.get(`${path}/${id}`)).body.data).toMatchObject({ ...changes, description: 'After' });
    expect((await contract.patch(`${path}/${id}`, { hours: 0 })).status).toBe(400);
    expect((await contract.patch(`${path}/${id}`, { date: '2026-13-01' })).status).toBe(400);
  },
);

proves(
  'update-entry.none update-entry.one error.no-fields',
  'when no known field is sent, then the stated text',
  async () => {
    const { id } = await contract.make.entry();
    for (const body of [{}, { created_at: '2026-01-01' }]) {
      const reply = await contract.patch(`${path}/${id}`, body);
      expect([reply.status, reply.body]).toEqual([
        400,
        expect.objectContaining({ error: 'No valid fields to update' }),
      ]);
    }
  },
);

proves('delete-entry.answer envelope.delete does.time', 'when an entry is deleted, then it is gone', async () => {
  const { id } = await contract.make.entry();
  const reply = await contract.delete(`${path}/${id}`);

  expect([reply.status, reply.body]).toEqual([200, { success: true, message: 'Time entry deleted' }]);
  expect((await contract.get(`${path}/${id}`)).status).toBe(404);
});

proves(
  'update-entry.missing delete-entry.missing error.entry-denied general.foreign',
  'when the entry is unknown or foreign, then the stated text',
  async () => {
    const { id } = await contract.make.entry();
    const key = await contract.stranger();
    const replies = [
      await contract.patch(`${path}/${unknownId()}`, { hours: 1 }),
      await contract.patch(`${path}/${id}`, { hours: 1 }, { key }),
      await contract.delete(`${path}/${unknownId()}`),
      await contract.delete(`${path}/${id}`, { key }),
    ];
    for (const { status, body } of replies) {
      expect([status, body]).toEqual([
        404,
        expect.objectContaining({ error: 'Time entry not found or access denied' }),
      ]);
    }
  },
);

proves('other.exist', 'when one entry is read, then it is answered', async () => {
  const entry = await contract.make.entry();

  expect((await contract.get(`${path}/${entry.id}`)).body.data).toMatchObject({ id: entry.id, hours: 1.5 });
});
