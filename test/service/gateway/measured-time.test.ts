// Time with a start and an end: hours and date follow from them on every way to set them, and none of the four contradicts another.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { dayIn } from '#libs/day.ts';
import { runs } from '../../support/form.ts';
import { callerOf, startGateway, type TestGateway, type Verbs, verbsOf } from '../../support/gateway.ts';
import { type AnyRecord, create, createProject } from '../../support/records.ts';
import { fieldsOf, routeTable } from '../../support/route-table.ts';

const path = '/api/v1/time-entries';
const ZONE = 'America/New_York';
/** From nine to half past ten in the morning, there. */
const started_at = '2026-11-02T09:00:00-05:00';
const ended_at = '2026-11-02T10:30:00-05:00';
const stored = { started_at: '2026-11-02T14:00:00.000Z', ended_at: '2026-11-02T15:30:00.000Z' };
const morning = { ...stored, hours: 1.5, date: '2026-11-02' };

let gateway: TestGateway;
let account: { id: string; key: string };
let api: Verbs;
let project_id: string;
beforeAll(async () => {
  gateway = await startGateway();
  account = await gateway.workspace.account({ timeZone: ZONE });
  api = verbsOf(callerOf(gateway.url, account.key));
  project_id = (await createProject(gateway, {}, account)).id;
});
afterAll(() => gateway.close());

const post = (body: object) => api.post(path, { project_id, ...body });
const read = async (id: string) => (await api.get(`${path}/${id}`)).body.data;
const make = async (body: object): Promise<string> => {
  const reply = await post(body);
  expect([reply.status, reply.body.details]).toEqual([201, undefined]);
  return reply.body.data.id;
};
const change = async (id: string, body: object) => {
  const { status, body: answer } = await api.patch(`${path}/${id}`, body);
  return [status, answer.details];
};
const alone = (name: string) => [
  `${name} of measured time follows from its times: send started_at and ended_at, or null for both: then the entry has hours alone`,
];

const fields = routeTable
  .filter(({ body }) => body)
  .flatMap((row) => Object.entries(fieldsOf(row)).map(([name, { type }]) => ({ operation: row.operation, name, type })))
  .filter(({ name }) => name === 'started_at' || name === 'ended_at');

test('when a body says when work began or ended, then the field needs time and zone', async () => {
  expect(fields.map(({ operation, name }) => `${operation}.${name}`)).toEqual(
    expect.arrayContaining(['createTimeEntry.started_at', 'updateTimeEntry.ended_at', 'startTimer.started_at']),
  );
  expect(fields.filter(({ type }) => type !== 'moment')).toEqual([]);
  const day = ['must be an ISO 8601 timestamp with time and zone, such as 2026-11-02T09:00:00Z'];
  const details = { started_at: [`started_at ${day}`], ended_at: [`ended_at ${day}`] };
  const id = await make({ hours: 1, date: '2026-11-02' });
  for (const bare of ['2026-11-02', '2026-11-02T09:00', '2026-11-02T09:00:00']) {
    const body = { started_at: bare, ended_at: bare };
    expect((await post({ hours: 1, date: '2026-11-02', ...body })).body.details).toEqual(details);
    expect(await change(id, body)).toEqual([400, details]);
    expect((await api.post('/api/v1/timers', { project_id, started_at: bare })).body.details).toEqual({
      started_at: details.started_at,
    });
  }
});

test('when times are given, then hours and date follow from them in the time zone of the account, or are the same', async () => {
  const late = { started_at: '2026-11-03T04:30:00Z', ended_at: '2026-11-03T05:30:30Z' };
  expect(await read(await make({ started_at, ended_at }))).toMatchObject(morning);
  expect(await read(await make({ started_at, ended_at, hours: '1:30', date: '2026-11-02' }))).toMatchObject(morning);
  expect(await read(await make(late))).toMatchObject({ date: '2026-11-02', hours: 1.0083 });
  expect((await post({ started_at, ended_at, hours: 2, date: '2026-11-03' })).body.details).toEqual({
    hours: ['hours must be 1.5, the time from started_at to ended_at, or left out'],
    date: ['date must be 2026-11-02, the day of started_at in the time zone of the account, or left out'],
  });
});

test.each([
  [{ started_at }, { ended_at: ['ended_at is required with started_at'] }],
  [{ ended_at, hours: 1, date: '2026-11-02' }, { started_at: ['started_at is required with ended_at'] }],
  [{ started_at, ended_at: started_at }, { ended_at: ['ended_at must be after started_at'] }],
  [
    { started_at, ended_at: '2026-11-03T09:00:01-05:00' },
    { ended_at: ['ended_at must be at most 24 hours after started_at, the max_entry_hours'] },
  ],
  [
    { started_at: '1969-12-31T23:00:00Z', ended_at: '1970-01-01T01:00:00Z' },
    { started_at: ['started_at must not be before 1970'] },
  ],
  [
    { started_at: '9999-12-31T23:00:00-08:00', ended_at: '9999-12-31T23:30:00-08:00' },
    { started_at: ['started_at must not be after 9999-12-31'] },
  ],
])('when new times are %j, then 400', async (body, details) => {
  const reply = await post(body);
  expect([reply.status, reply.body.details]).toEqual([400, details]);
});

describe('a change', () => {
  test('when it has hours or date of measured time alone, then 400 says what to send, and the same ones are accepted', async () => {
    const id = await make({ started_at, ended_at });
    expect(await change(id, { hours: 2, date: '2026-11-04' })).toEqual([
      400,
      { hours: alone('hours'), date: alone('date') },
    ]);
    expect(await change(id, { hours: 1.5, date: '2026-11-02', description: 'Sheet' })).toEqual([200, undefined]);
    expect(await read(id)).toMatchObject({ ...morning, description: 'Sheet' });
    expect(await change(id, await read(id))).toEqual([200, undefined]);
  });

  test('when it has one of the times, or both, then hours and date follow, and the total of the task', async () => {
    const { id: task_id } = await create(gateway, '/api/v1/tasks', { project_id, name: 'Draw' }, account);
    const id = await make({ started_at, ended_at, task_id });
    expect(await change(id, { ended_at: '2026-11-02T11:00:00-05:00' })).toEqual([200, undefined]);
    expect(await read(id)).toMatchObject({ hours: 2, date: '2026-11-02' });
    const next = { started_at: '2026-11-05T09:00:00-05:00', ended_at: '2026-11-05T09:15:00-05:00' };
    expect(await change(id, { ...next, hours: '15m' })).toEqual([200, undefined]);
    expect(await read(id)).toMatchObject({ hours: 0.25, date: '2026-11-05' });
    expect((await api.get(`/api/v1/tasks/${task_id}`)).body.data.total_seconds).toBe(900);
  });

  test('when it takes the times back, then hours and date can be changed with them, and afterwards alone', async () => {
    const id = await make({ started_at, ended_at });
    expect(await change(id, { started_at: null })).toEqual([
      400,
      { started_at: ['started_at is required with ended_at, or null for both: then the entry has hours alone'] },
    ]);
    expect(await change(id, { started_at: null, ended_at: null, hours: 1.25 })).toEqual([200, undefined]);
    expect(await read(id)).toMatchObject({ hours: 1.25, date: '2026-11-02', started_at: null, ended_at: null });
    expect(await change(id, { hours: '2h', date: '2026-11-04' })).toEqual([200, undefined]);
    expect(await read(id)).toMatchObject({ hours: 2, date: '2026-11-04' });
  });

  test('when time logged by hand gets times, then it is measured', async () => {
    const id = await make({ hours: 3, date: '2026-01-02' });
    expect(await change(id, { started_at, ended_at })).toEqual([200, undefined]);
    expect(await read(id)).toMatchObject(morning);
  });

  test('when times go to a locked day, or from one, then 409', async () => {
    const own = await gateway.workspace.account();
    const { id: project } = await createProject(gateway, {}, own);
    const body = { project_id: project, started_at: '2026-11-02T09:00:00Z', ended_at: '2026-11-02T10:00:00Z' };
    const { id } = await create(gateway, path, body, own);
    await gateway.patch('/api/v1/account', { time_locked_before: '2026-11-02' }, own);
    const earlier = { started_at: '2026-11-01T23:00:00Z' };
    expect((await gateway.patch(`${path}/${id}`, earlier, own)).status).toBe(409);
    await gateway.patch('/api/v1/account', { time_locked_before: '2026-11-03' }, own);
    expect((await gateway.patch(`${path}/${id}`, { ended_at: '2026-11-02T10:30:00Z' }, own)).status).toBe(409);
  });
});

test('when the entry of a timer loses its times, then the timer keeps its own and still goes with the entry', async () => {
  const times = { started_at: stored.started_at, owner: 'ada' };
  const { id: timer } = await create(gateway, '/api/v1/timers', { project_id, ...times }, account);
  const { id } = (await api.post(`/api/v1/timers/${timer}/stop`, { ended_at: stored.ended_at })).body.data;
  expect(await read(id)).toMatchObject(morning);
  expect(await change(id, { hours: 1 })).toEqual([400, { hours: alone('hours') }]);
  expect(await change(id, { started_at: null, ended_at: null, hours: 1 })).toEqual([200, undefined]);
  expect((await api.get(`/api/v1/timers/${timer}`)).body.data).toMatchObject({ ...stored, time_entry_id: id });
  expect((await api.delete(`${path}/${id}`)).status).toBe(200);
  expect((await api.get(`/api/v1/timers/${timer}`)).status).toBe(404);
});

test('when any changes follow one another, then date, hours and times of the entry never contradict', async () => {
  const minute = 60_000;
  const from = Date.parse('2026-03-07T00:00:00Z');
  const anyMoment = fc.integer({ min: 0, max: 4_000 }).map((count) => new Date(from + count * minute).toISOString());
  const anyTime = fc.record(
    {
      hours: fc.constantFrom<unknown>(1, 0.33, '1:30', '20m', null),
      date: fc.constantFrom<unknown>('2026-03-07', '2026-03-08', null),
      started_at: fc.option(anyMoment),
      ended_at: fc.option(anyMoment),
    },
    { requiredKeys: [] },
  );
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(anyTime, fc.array(anyTime, { maxLength: 6 }), async (first, changes) => {
      const reply = await post(first);
      expect([201, 400]).toContain(reply.status);
      const id = reply.status === 201 ? reply.body.data.id : await make({ hours: 1, date: '2026-03-07' });
      for (const one of [{ description: 'x' }, ...changes]) {
        const before = await read(id);
        const [status] = await change(id, one);
        const after = await read(id);
        if (status === 400) expect(after).toEqual(before);
        else expect(status).toBe(200);
        accepted += status === 200 ? 1 : 0;
        agree(after);
      }
    }),
    runs(12),
  );
  expect(accepted).toBeGreaterThan(12);
});

function agree({ hours, date, started_at, ended_at }: AnyRecord): void {
  expect([started_at === null, hours > 0]).toEqual([ended_at === null, true]);
  if (started_at === null) return;
  const seconds = (Date.parse(ended_at) - Date.parse(started_at)) / 1000;
  expect([Math.round(hours * 3600), date]).toEqual([seconds, dayIn(ZONE, new Date(started_at))]);
}
