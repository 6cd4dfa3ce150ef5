// Recurring invoices over HTTP: creating, changing, pausing and running by hand. Tests of their days are in scheduler/.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addDays, dayIn } from '#libs/day.ts';
import { RecurringInvoice } from '#libs/models/billing/recurring-invoice.ts';
import { callerOf, startGateway, type TestGateway, type Verbs, verbsOf } from '../../support/gateway.ts';
import type { AnyRecord } from '../../support/records.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const path = '/api/v1/recurring-invoices';
const TODAY = dayIn('UTC');
const lines = [{ description: 'Support {n}', quantity: 1, rate: 450 }];
const weekly = { unit: 'week', start_on: TODAY };

interface Agency {
  id: string;
  api: Verbs;
  client: string;
  made(fields?: object): Promise<Record<string, unknown> & { id: string }>;
}

async function agency(account: object = {}): Promise<Agency> {
  const { id, key } = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, key));
  if (Object.keys(account).length > 0) await api.patch('/api/v1/account', account);
  const client = (await api.post('/api/v1/clients', { name: 'Ada', email: 'ada@example.com', currency: 'EUR' })).body
    .data.id;
  const made = async (fields: object = {}) => {
    const { body } = await api.post(path, { client_id: client, line_items: lines, schedule: weekly, ...fields });
    if (!body.data) throw new Error(JSON.stringify(body));
    return body.data;
  };
  return { id, api, client, made };
}

describe('a new recurring invoice', () => {
  test('when only the required fields are given, then the client sets the currency and the first twelve days are shown', async () => {
    const { made } = await agency();
    expect(await made()).toMatchObject({
      currency: 'EUR',
      tax_rate: null,
      create_as: 'Draft',
      status: 'Active',
      next_on: TODAY,
      upcoming: Array.from({ length: 12 }, (_, index) => addDays(TODAY, 7 * index)),
      schedule: { every: 1, unit: 'week', start_on: TODAY, day: null, end_on: null, count: null },
      occurrences_made: 0,
      last_invoice: null,
    });
  });

  test('when it starts in the past, then no past day is invoiced, and the interval is kept', async () => {
    const { made } = await agency();
    const start_on = addDays(TODAY, -10);
    expect(await made({ schedule: { unit: 'week', start_on } })).toMatchObject({ next_on: addDays(start_on, 14) });
  });

  test('when it is a dry run, then the preview has its days and nothing is stored', async () => {
    const { api, client, id } = await agency();
    const { status, body } = await api.post(`${path}?dry_run=true`, {
      client_id: client,
      line_items: lines,
      schedule: weekly,
    });
    expect([status, body.data]).toMatchObject([200, { id: null, next_on: TODAY }]);
    expect(await RecurringInvoice.countDocuments({ account_id: id })).toBe(0);
  });

  test.each([
    ['no lines and no time', { line_items: null }, { line_items: ['line_items are required without include_time'] }],
    ['no schedule', { schedule: undefined }, { schedule: ['schedule is required'] }],
    [
      'a rhythm that is none',
      { schedule: { every: 0, unit: 'day', start_on: '2026-02-30' } },
      {
        'schedule.every': ['schedule.every must be greater than or equal to 1'],
        'schedule.unit': ['schedule.unit must be one of week, month, year'],
        'schedule.start_on': ['schedule.start_on must be a calendar day written YYYY-MM-DD'],
      },
    ],
    [
      'a day of the month with weeks',
      { schedule: { ...weekly, day: 3 } },
      { schedule: ['schedule.day must not stand beside weeks: they are counted from start_on'] },
    ],
    [
      'a name that is not known',
      { schedule: { ...weekly, interval: 3 } },
      { 'schedule.interval': ['schedule.interval is not known'] },
    ],
    [
      'two ends',
      { schedule: { ...weekly, end_on: '2099-01-01', count: 3 } },
      { schedule: ['schedule.count must not stand beside end_on'] },
    ],
    [
      'an end before the start',
      { schedule: { ...weekly, end_on: '2020-01-01' } },
      { schedule: ['schedule.end_on must not be before start_on'] },
    ],
    [
      'an end in the past',
      { schedule: { unit: 'month', start_on: '2020-01-01', end_on: '2020-06-01' } },
      { schedule: [`schedule has no occurrence from ${TODAY} on`] },
    ],
    [
      'lines below zero',
      { line_items: [{ description: 'x', quantity: -1, rate: 1 }] },
      { line_items: ['line_items must not sum to less than 0'] },
    ],
    [
      'too many included hours',
      { include_time: { group_by: 'task', included_hours: 745 } },
      { 'include_time.included_hours': ['include_time.included_hours must be less than or equal to 744'] },
    ],
  ])('when it has %s, then 400 says so and nothing is stored', async (_what, fields, details) => {
    const { api, client, id } = await agency();
    const body = { client_id: client, line_items: lines, schedule: weekly, ...fields };
    expect((await api.post(path, body)).body).toEqual(expect.objectContaining({ error: 'Validation failed', details }));
    expect(await RecurringInvoice.countDocuments({ account_id: id })).toBe(0);
  });
});

describe('a change', () => {
  test('when lines change, then past invoices stay and later ones have the new lines', async () => {
    const { api, made } = await agency();
    const { id } = await made();
    await api.post(`${path}/${id}/run`, {});
    const change = { line_items: [{ description: 'Support {n}', quantity: 1, rate: 480 }] };
    expect((await api.patch(`${path}/${id}`, change)).status).toBe(200);
    await api.post(`${path}/${id}/run`, {});
    const { data } = (await api.get('/api/v1/invoices?sort=created_at')).body;
    expect(data).toMatchObject([
      { amount: 450, line_items: [{ description: 'Support 1' }] },
      { amount: 480, line_items: [{ description: 'Support 2' }] },
    ]);
  });

  test('when the schedule changes after a run, then no billed period is billed again and the count of occurrences continues', async () => {
    const { api, made } = await agency();
    const { id } = await made();
    await api.post(`${path}/${id}/run`, {});
    const { body } = await api.patch(`${path}/${id}`, { schedule: { unit: 'week', start_on: addDays(TODAY, 1) } });
    expect(body.data).toMatchObject({ next_on: addDays(TODAY, 8), status: 'Active' });
    await api.post(`${path}/${id}/run`, {});
    const { data } = (await api.get(`${path}/${id}/occurrences`)).body;
    expect(data).toMatchObject([
      { occurrence: 2, due_on: addDays(TODAY, 8) },
      { occurrence: 1, due_on: TODAY },
    ]);
  });

  test('when the client has a tax treatment that its tax numbers do not allow, then changes of other fields are accepted', async () => {
    const { api, client, made } = await agency();
    const { id } = await made();
    await api.patch(`/api/v1/clients/${client}`, { tax_treatment: 'reverse_charge' });

    expect((await api.patch(`${path}/${id}`, { due_days: 5 })).status).toBe(200);
    expect((await api.patch(`${path}/${id}`, { description: 'Retainer' })).body).toMatchObject({
      details: { client_id: expect.anything() },
    });
  });

  test('when its currency is taken back, then it is that of the client again', async () => {
    const { api, made } = await agency();
    const { id } = await made({ currency: 'CHF' });
    expect((await api.patch(`${path}/${id}`, { currency: null })).body.data).toMatchObject({ currency: 'EUR' });
  });

  test('when a change has no effect, then it is not announced', async () => {
    const { api, made } = await agency();
    const one = await made({ tax_rate: 19 });
    const given = { tax_rate: 19, line_items: lines, schedule: { every: 1, ...weekly } };
    expect((await api.patch(`${path}/${one.id}`, given)).body.data).toEqual(one);
    const events = (await api.get('/api/v1/events?limit=100')).body.data as { type: string }[];
    expect(events.map(({ type }) => type)).toEqual(['client.created', 'recurring_invoice.created']);
  });

  test('when it has ended and gets a longer schedule, then it continues', async () => {
    const { api, made } = await agency();
    const { id } = await made({ schedule: { ...weekly, count: 1 } });
    await api.post(`${path}/${id}/run`, {});
    expect((await api.get(`${path}/${id}`)).body.data).toMatchObject({ status: 'Ended', next_on: null });
    const { body } = await api.patch(`${path}/${id}`, { schedule: { ...weekly, count: 3 } });
    expect(body.data).toMatchObject({ status: 'Active', next_on: addDays(TODAY, 7) });
  });
});

/** Moves its start to ten days ago, as if no scheduler had run since: two weekly occurrences are due. */
const missedTwo = (id: string, account_id: string) =>
  RecurringInvoice.updateOne(
    { _id: id, account_id },
    { $set: { 'schedule.start_on': addDays(TODAY, -10), next_on: addDays(TODAY, -10) } },
  );

describe('a change while occurrences are due', () => {
  const start_on = addDays(TODAY, -10);

  test('when only the end changes, then what is due stays due, with its error', async () => {
    const { api, made, id: account } = await agency();
    const { id } = await made();
    await missedTwo(id, account);
    const last_error = { message: '1 time entry has no rate', at: new Date('2026-01-01') };
    await RecurringInvoice.updateOne(
      { _id: id, account_id: account },
      { $set: { last_error, retry_on: '2099-01-01' } },
    );
    const { body } = await api.patch(`${path}/${id}`, { schedule: { unit: 'week', start_on, end_on: '2099-01-01' } });
    // A failure that an earlier release stored has no code.
    const shown = { message: last_error.message, code: null, params: null, problems: [] };
    expect(body.data).toMatchObject({ next_on: start_on, last_error: shown });
    const runs = [await api.post(`${path}/${id}/run`, {}), await api.post(`${path}/${id}/run`, {})];
    expect(runs.map(({ body: { data } }) => data.recurring.period_from)).toEqual([start_on, addDays(TODAY, -3)]);
  });

  test.each([
    ['a rhythm that has other days', { unit: 'week', start_on: addDays(TODAY, 1) }],
    ['an end before them', { unit: 'week', start_on, count: 1 }],
    ['longer steps', { unit: 'week', every: 2, start_on }],
  ])('when the new schedule has %s, then 409 names the days, and nothing changes', async (_what, schedule) => {
    const { api, made, id: account } = await agency();
    const { id } = await made();
    await missedTwo(id, account);
    const before = (await api.get(`${path}/${id}`)).body;
    const { status, body } = await api.patch(`${path}/${id}`, { schedule });
    const days = `${start_on}, ${addDays(TODAY, -3)}`;
    expect([status, body.error]).toEqual([
      409,
      `Occurrences are due that the new schedule does not have: ${days}. Run or skip them first`,
    ]);
    expect((await api.get(`${path}/${id}`)).body).toEqual(before);
  });

  test('when the new rhythm has the same days, then it is accepted, and the next periods follow it', async () => {
    const { api, made } = await agency();
    const { id } = await made();
    const { body } = await api.patch(`${path}/${id}`, { schedule: { unit: 'week', every: 2, start_on: TODAY } });
    expect(body.data.upcoming.slice(0, 2)).toEqual([TODAY, addDays(TODAY, 14)]);
  });

  test('when it is paused, then the new schedule begins with what was missed, and resuming decides about it', async () => {
    const { api, made, id: account } = await agency();
    const { id } = await made();
    await missedTwo(id, account);
    await api.post(`${path}/${id}/pause`, {});
    const schedule = { unit: 'week', start_on: addDays(TODAY, -9) };
    expect((await api.patch(`${path}/${id}`, { schedule })).body.data).toMatchObject({ next_on: addDays(TODAY, -9) });
    expect((await api.post(`${path}/${id}/resume`, {})).body.data).toMatchObject({ next_on: addDays(TODAY, 5) });
  });
});

describe('a pause', () => {
  test('when it lasts beyond the end, then resuming ends it: no day is to come, and no run makes an invoice', async () => {
    const { api, made, id: account } = await agency();
    const { id } = await made({ schedule: { ...weekly, count: 1 } });
    await api.post(`${path}/${id}/pause`, {});
    await missedTwo(id, account);
    const { body } = await api.post(`${path}/${id}/resume`, {});
    expect(body.data).toMatchObject({ status: 'Ended', next_on: null, upcoming: [] });
    expect((await api.post(`${path}/${id}/run`, {})).body).toEqual(
      expect.objectContaining({ error: 'Recurring invoice has ended' }),
    );
    expect((await api.get('/api/v1/invoices')).body.pagination.total).toBe(0);
  });

  test.each([
    ['without the missed days', {}, addDays(TODAY, 4)],
    ['with the missed days', { catch_up: true }, addDays(TODAY, -10)],
  ])('when it is resumed %s, then the next day is the right one', async (_how, body, next_on) => {
    const { api, made, id: account } = await agency();
    const { id } = await made();
    expect((await api.post(`${path}/${id}/pause`, {})).body.data).toMatchObject({ status: 'Paused' });
    expect((await api.post(`${path}/${id}/pause`, {})).status).toBe(200);
    await missedTwo(id, account);
    expect((await api.post(`${path}/${id}/resume`, body)).body.data).toMatchObject({ status: 'Active', next_on });
    const again = await api.post(`${path}/${id}/resume`, body);
    expect([again.status, again.body]).toEqual([
      409,
      expect.objectContaining({ error: 'Recurring invoice is not paused' }),
    ]);
  });
});

describe('a run by hand', () => {
  test('when it is a dry run, then the invoice is shown, and neither a number nor a day is used', async () => {
    const { api, made } = await agency();
    const { id } = await made();
    const { status, body } = await api.post(`${path}/${id}/run?dry_run=true`, {});
    expect([status, body.data]).toMatchObject([200, { id: null, invoice_number: null, amount: 450 }]);
    expect((await api.get(`${path}/${id}`)).body.data).toMatchObject({ next_on: TODAY, occurrences_made: 0 });
  });

  test('when one Idempotency-Key is sent twice, then one invoice is created', async () => {
    const { api, made } = await agency();
    const { id } = await made();
    const headers = { 'Idempotency-Key': 'once' };
    const [one, other] = [
      await api.post(`${path}/${id}/run`, {}, { headers }),
      await api.post(`${path}/${id}/run`, {}, { headers }),
    ];
    expect(other.body).toEqual(one.body);
    expect((await api.get('/api/v1/invoices')).body.pagination.total).toBe(1);
  });

  test('when eight callers run it concurrently, then there are eight consecutive occurrences', async () => {
    const { api, made } = await agency();
    const { id } = await made();
    const replies = await Promise.all(Array.from({ length: 8 }, () => api.post(`${path}/${id}/run`, {})));
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201));
    const { data } = (await api.get(`${path}/${id}/occurrences`)).body;
    expect(data.map(({ occurrence }: { occurrence: number }) => occurrence)).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
  });

  test('when it bills only time and there is none, then 409', async () => {
    const { api, made } = await agency();
    const { id } = await made({ line_items: null, include_time: { group_by: 'task' } });
    const { status, body } = await api.post(`${path}/${id}/run`, {});
    expect([status, body]).toEqual([409, expect.objectContaining({ error: 'Nothing to bill' })]);
  });
});

describe('the day that is meant', () => {
  const dayAfter = addDays(TODAY, 7);

  test('when a run names another day than the next one, then 409 and nothing is made; with the day it is made once', async () => {
    const { api, made } = await agency();
    const { id } = await made();
    const run = (on: string) => api.post(`${path}/${id}/run`, { on });
    const wrong = await run(dayAfter);
    expect([wrong.status, wrong.body.error]).toEqual([
      409,
      `${dayAfter} is not the day of the next occurrence, nor of one without an invoice`,
    ]);
    const first = await run(TODAY);
    expect([first.status, (await run(TODAY)).body]).toEqual([
      201,
      expect.objectContaining({
        error: `The occurrence of ${TODAY} has an invoice: ${first.body.data.invoice_number}`,
      }),
    ]);
    expect((await api.get('/api/v1/invoices')).body.pagination.total).toBe(1);
  });

  test('when the draft of an occurrence is deleted, then a run with its day makes it again, eight callers once, and the schedule stays', async () => {
    const { api, made } = await agency();
    const { id } = await made();
    const run = (on: string) => api.post(`${path}/${id}/run`, { on });
    const deleted = (await run(TODAY)).body.data;
    const latest = (await run(dayAfter)).body.data;
    await api.delete(`/api/v1/invoices/${deleted.id}`);
    const replies = await Promise.all(Array.from({ length: 8 }, () => run(TODAY)));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
    const again = replies.find(({ status }) => status === 201)?.body.data;
    const { recurring, service_period, line_items } = deleted;
    expect(again).toMatchObject({ recurring, service_period, line_items });
    const { data } = (await api.get(`${path}/${id}/occurrences`)).body;
    expect(data.map(({ invoice }: { invoice: AnyRecord }) => invoice.id)).toEqual([latest.id, again.id]);
    expect((await api.get(`${path}/${id}`)).body.data).toMatchObject({
      next_on: addDays(TODAY, 14),
      last_invoice: { id: latest.id },
    });
  });

  test('when one is skipped, then it has no invoice and the next one comes; skipping its day again skips no other', async () => {
    const { api, made } = await agency();
    const { id } = await made();
    const skip = (on: string) => api.post(`${path}/${id}/skip`, { on });
    expect((await skip(dayAfter)).status).toBe(409);
    expect((await skip(TODAY)).body.data).toMatchObject({ next_on: dayAfter, occurrences_made: 0 });
    expect((await skip(TODAY)).body).toEqual(
      expect.objectContaining({ error: `The occurrence of ${TODAY} was left out already` }),
    );
    expect((await api.get(`${path}/${id}/occurrences`)).body.data).toMatchObject([{ due_on: TODAY, invoice: null }]);
    const events = (await api.get('/api/v1/events?limit=100')).body.data as { type: string }[];
    expect(events.at(-1)).toMatchObject({ type: 'recurring_invoice.updated' });
  });
});

test('when it is ended, then no day is to come, and its invoices and occurrences stay; a new schedule lets it go on', async () => {
  const { api, made } = await agency();
  const { id } = await made();
  await api.post(`${path}/${id}/run`, {});
  const end = () => api.post(`${path}/${id}/end`, {});
  expect((await end()).body.data).toMatchObject({ status: 'Ended', next_on: null, upcoming: [] });
  expect((await end()).status).toBe(200);
  expect((await api.post(`${path}/${id}/run`, {})).body).toEqual(
    expect.objectContaining({ error: 'Recurring invoice has ended' }),
  );
  expect((await api.get(`${path}/${id}/occurrences`)).body.pagination.total).toBe(1);
  const events = (await api.get('/api/v1/events?limit=100')).body.data as { type: string }[];
  expect(events.filter(({ type }) => type === 'recurring_invoice.ended')).toHaveLength(1);
  const { body } = await api.patch(`${path}/${id}`, { schedule: { ...weekly, count: 9 } });
  expect(body.data).toMatchObject({ status: 'Active', next_on: addDays(TODAY, 7) });
});

test('when a project has a recurring invoice, then it cannot become one that is not billed', async () => {
  const { api, client, made } = await agency();
  const project = (await api.post('/api/v1/projects', { name: 'Engine', client_id: client })).body.data.id;
  await made({ include_time: { group_by: 'task', project_ids: [project] } });
  const { status, body } = await api.patch(`/api/v1/projects/${project}`, { billing: 'none' });
  expect([status, body]).toEqual([
    409,
    expect.objectContaining({ error: 'Cannot stop billing a project with recurring invoices' }),
  ]);
});

describe('the projects and tasks whose time it bills', () => {
  async function work() {
    const me = await agency();
    const add = async (at: string, body: object) => (await me.api.post(`/api/v1/${at}`, body)).body.data.id as string;
    const other = await add('clients', { name: 'Grace', email: 'grace@example.com' });
    const project = await add('projects', { name: 'Engine', client_id: me.client });
    const foreign = await add('projects', { name: 'Compiler', client_id: other });
    const [task, foreignTask] = [
      await add('tasks', { name: 'Mill', project_id: project }),
      await add('tasks', { name: 'Parser', project_id: foreign }),
    ];
    return { ...me, add, other, project, foreign, task, foreignTask };
  }

  test('when they are unknown or of another client, then it is neither made nor changed', async () => {
    const { api, client, project, foreign, foreignTask, made } = await work();
    const { id } = await made({ include_time: { group_by: 'task', project_ids: [project] } });
    const outcome = async (names: object) => {
      const include_time = { group_by: 'task', ...names };
      const one = await api.post(path, { client_id: client, line_items: lines, schedule: weekly, include_time });
      const changed = await api.patch(`${path}/${id}`, { include_time });
      expect([changed.status, changed.body]).toEqual([one.status, one.body]);
      return [one.status, one.body.details ?? one.body.error];
    };
    expect(await outcome({ project_ids: [project, client] })).toEqual([404, 'Project not found or access denied']);
    expect(await outcome({ task_ids: [client] })).toEqual([404, 'Task not found or access denied']);
    const projectIds = 'include_time.project_ids';
    const sameClient = { [projectIds]: [`${projectIds} must be projects of the same client`] };
    expect(await outcome({ project_ids: [foreign] })).toEqual([400, sameClient]);
    const billed = { 'include_time.task_ids': ['include_time.task_ids must be tasks of the projects that are billed'] };
    expect(await outcome({ project_ids: [project], task_ids: [foreignTask] })).toEqual([400, billed]);
    expect((await api.get(path)).body.pagination.total).toBe(1);
  });

  test('when it names them, then they are neither deleted nor moved away; without the names they are', async () => {
    const { api, add, client, other, project, task, made } = await work();
    const second = await add('projects', { name: 'Press', client_id: client });
    const { id } = await made({ include_time: { group_by: 'task', task_ids: [task] } });
    const attempts = async () => [
      (await api.patch(`/api/v1/projects/${project}`, { client_id: other })).body.error,
      (await api.delete(`/api/v1/projects/${project}`)).body.error,
      (await api.patch(`/api/v1/tasks/${task}`, { project_id: second })).body.error,
      (await api.delete(`/api/v1/tasks/${task}`)).body.error,
    ];
    const ofProject = [
      'Cannot move a project with recurring invoices to another client',
      'Cannot delete a project with recurring invoices',
    ];
    expect(await attempts()).toEqual([
      ...ofProject,
      'Cannot move a task with recurring invoices to another project',
      'Cannot delete a task with recurring invoices',
    ]);
    await api.patch(`${path}/${id}`, { include_time: { group_by: 'task', project_ids: [project] } });
    expect((await attempts()).slice(0, 2)).toEqual(ofProject);
    await api.patch(`${path}/${id}`, { include_time: { group_by: 'task' } });
    expect((await api.patch(`/api/v1/projects/${project}`, { client_id: other })).status).toBe(200);
  });
});

describe('related records', () => {
  test('when a draft that it made is deleted, then neither it nor its occurrence names the draft, and it is not made again', async () => {
    const { api, made } = await agency();
    const { id } = await made();
    const run = async () => (await api.post(`${path}/${id}/run`, {})).body.data.id as string;
    const [first, second] = [await run(), await run()];
    const names = async () => [
      (await api.get(`${path}/${id}`)).body.data.last_invoice?.id ?? null,
      (await api.get(`${path}/${id}/occurrences`)).body.data.map(({ invoice }: { invoice: AnyRecord }) => invoice?.id),
    ];
    await api.delete(`/api/v1/invoices/${first}`);
    expect(await names()).toEqual([second, [second, undefined]]);
    await api.delete(`/api/v1/invoices/${second}`);
    expect(await names()).toEqual([null, [undefined, undefined]]);
    expect((await api.get(`${path}/${id}`)).body.data).toMatchObject({
      occurrences_made: 2,
      next_on: addDays(TODAY, 14),
    });
    const events = (await api.get('/api/v1/events?limit=100')).body.data as { type: string }[];
    expect(events.map(({ type }) => type).slice(-3)).toEqual([
      ...['invoice.deleted', 'invoice.deleted', 'recurring_invoice.updated'],
    ]);
  });

  test('when a client or a project has a recurring invoice, then it cannot be deleted until that is; its invoices stay', async () => {
    const { api, client, made } = await agency();
    const project = (await api.post('/api/v1/projects', { name: 'Engine', client_id: client })).body.data.id;
    const { id } = await made({ project_id: project });
    expect((await api.delete(`/api/v1/clients/${client}`)).body).toMatchObject({
      error: 'Cannot delete a client with recurring invoices',
    });
    expect((await api.delete(`/api/v1/projects/${project}`)).body).toMatchObject({
      error: 'Cannot delete a project with recurring invoices',
    });
    const run = await api.post(`${path}/${id}/run`, {});
    expect((await api.delete(`${path}/${id}`)).body).toEqual({ success: true, message: 'Recurring invoice deleted' });
    expect((await api.get(`${path}/${id}/occurrences`)).status).toBe(404);
    expect((await api.get(`/api/v1/invoices/${run.body.data.id}`)).body.data).toMatchObject({ recurring: { id } });
  });

  test('when the list is filtered, then client and several statuses are supported', async () => {
    const { api, client, made } = await agency();
    const paused = await made();
    await made({ schedule: { unit: 'month', start_on: '2031-01-01' } });
    await api.post(`${path}/${paused.id}/pause`, {});
    const total = async (query: string) => (await api.get(`${path}?${query}`)).body.pagination.total;
    expect(await total('status=Paused')).toBe(1);
    expect(await total(`status=Paused,Active&client_id=${client}&sort=next_on`)).toBe(2);
    expect(await total('status=Ended')).toBe(0);
  });
});
