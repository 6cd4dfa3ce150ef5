// Projects with a fixed amount: billed in full or in parts, never beyond it, and covering the time of the project.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { storedId } from '#libs/models/tenant.ts';
import { Project } from '#libs/models/time/project.ts';
import { callerOf, startGateway, type TestGateway, type Verbs, verbsOf } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

interface World {
  api: Verbs;
  client: string;
  project: string;
  bill(body?: object, query?: string): ReturnType<Verbs['post']>;
  shown(): Promise<Record<string, unknown>>;
  log(project?: string): Promise<string>;
}

async function world(fields: object = {}): Promise<World> {
  const { key } = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, key));
  const made = async (path: string, body: object) => (await api.post(path, body)).body.data.id as string;
  const client = await made('/api/v1/clients', {
    name: 'Ada',
    email: 'ada@example.com',
    currency: 'EUR',
    hourly_rate: 90,
  });
  const body = { name: 'Website', client_id: client, billing: 'fixed', fixed_amount: 1000, ...fields };
  const project = await made('/api/v1/projects', body);
  return {
    api,
    client,
    project,
    bill: (wanted = {}, query = '') => api.post(`/api/v1/projects/${project}/bill${query}`, wanted),
    shown: async () => (await api.get(`/api/v1/projects/${project}`)).body.data,
    log: (project_id = project) => made('/api/v1/time-entries', { project_id, hours: 2, date: '2026-11-02' }),
  };
}

test('when a fixed amount is billed in parts and then the rest, then the parts add up to it and no more can be billed', async () => {
  const w = await world();
  expect(await w.shown()).toMatchObject({ billing: 'fixed', currency: 'EUR', fixed_amount: 1000, left_to_bill: 1000 });
  const preview = await w.bill({ percent: 30 }, '?dry_run=true');
  expect([preview.status, preview.body.data]).toMatchObject([200, { invoice_number: null, amount: 300 }]);
  const first = await w.bill({ percent: 30, extra_lines: [{ description: 'Paper', quantity: 1, rate: 5 }] });
  expect([first.status, first.body.data]).toMatchObject([
    201,
    {
      invoice_number: 'INV-0001',
      amount: 305,
      currency: 'EUR',
      project: { id: w.project },
      fixed_part: { project_id: w.project, amount: 300 },
      line_items: [
        { description: 'Progress payment 30% for Website', qty: '1', rate: '300' },
        { description: 'Paper' },
      ],
    },
  ]);
  expect(await w.shown()).toMatchObject({ fixed_billed: 300, left_to_bill: 700 });
  expect((await w.bill({ amount: 700.01 })).body).toMatchObject({
    error: 'Only 700.00 of the fixed amount is left to bill',
  });
  expect((await w.bill({ line_text: 'The rest' })).body.data).toMatchObject({
    amount: 700,
    line_items: [{ description: 'The rest', rate: '700' }],
  });
  expect([(await w.bill()).status, (await w.bill({ percent: 1 })).status]).toEqual([409, 409]);
  const events = (await w.api.get('/api/v1/events?type=project.updated')).body.data;
  expect(events.map(({ data }: { data: { left_to_bill: number } }) => data.left_to_bill)).toEqual([700, 0]);
});

test('when 8 callers bill 30 % concurrently, then three succeed and 10 % is left', async () => {
  const w = await world();
  const responses = await Promise.all(Array.from({ length: 8 }, () => w.bill({ percent: 30 })));
  expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 409, 409, 409, 409, 409]);
  expect(await w.shown()).toMatchObject({ fixed_billed: 900, left_to_bill: 100 });
});

test('when a draft is deleted and a sent invoice cancelled, then their parts can be billed again, but a written-off part cannot', async () => {
  const w = await world();
  const draft = (await w.bill({ percent: 50 })).body.data.id;
  const sent = (await w.bill({ status: 'Sent' })).body.data.id;
  expect((await w.api.patch(`/api/v1/invoices/${draft}`, { line_items: [], amount: 400 })).body).toMatchObject({
    error: 'Cannot change amount of a part of the fixed amount: delete it and bill it again',
  });
  await w.api.delete(`/api/v1/invoices/${draft}`);
  expect(await w.shown()).toMatchObject({ left_to_bill: 500 });
  const cancelled = (await w.api.patch(`/api/v1/invoices/${sent}`, { status: 'Cancelled' })).body.data;
  expect([cancelled.fixed_part, (await w.shown())['left_to_bill']]).toEqual([null, 1000]);
  const lost = (await w.bill({ status: 'Sent' })).body.data.id;
  await w.api.post(`/api/v1/invoices/${lost}/write-off`, { reason: 'Insolvent' });
  expect(await w.shown()).toMatchObject({ left_to_bill: 0 });
});

test('when time of another project is added to a part and taken off, then the amount follows and the part stays what it is', async () => {
  const w = await world();
  const { id: hourly } = (await w.api.post('/api/v1/projects', { name: 'Care', client_id: w.client })).body.data;
  const draft = (await w.bill({ percent: 30 })).body.data.id;
  const part = { corrected: 0, project_id: w.project, amount: 300 };
  const change = async (path: string, body: object) => {
    const { data } = (await w.api.post(`/api/v1/invoices/${draft}/${path}`, body)).body;
    const { left_to_bill } = await w.shown();
    return { amount: data.amount, fixed_part: data.fixed_part, lines: data.line_items.length, left_to_bill };
  };
  const added = await change('time-entries', { time_entry_ids: [await w.log(hourly)] });
  expect(added).toEqual({ amount: 480, fixed_part: part, lines: 2, left_to_bill: 700 });
  const released = await change('time-entries/release', {});
  expect(released).toEqual({ amount: 300, fixed_part: part, lines: 1, left_to_bill: 700 });
  await change('time-entries', {});
  expect((await w.bill()).body.data).toMatchObject({ fixed_part: { amount: 700 } });
  await w.api.delete(`/api/v1/invoices/${draft}`);
  expect(await w.shown()).toMatchObject({ left_to_bill: 300 });
  expect((await w.api.get('/api/v1/time-entries?billing=unbilled')).body.pagination.total).toBe(1);
});

test('when the time of the project is listed and billed, then the fixed amount covers it', async () => {
  const w = await world();
  const internal = (await w.api.post('/api/v1/projects', { name: 'Internal', client_id: w.client, billing: 'none' }))
    .body.data.id;
  const hourly = (await w.api.post('/api/v1/projects', { name: 'Care', client_id: w.client })).body.data.id;
  const [covered, unpaid, open] = [await w.log(), await w.log(internal), await w.log(hourly)];
  const listed = async (billing: string) =>
    (await w.api.get(`/api/v1/time-entries?billing=${billing}`)).body.data.map(
      (entry: { id: string; billing: string }) => [entry.id, entry.billing],
    );
  expect(await listed('covered')).toEqual([[covered, 'covered']]);
  expect(await listed('not_billable')).toEqual([[unpaid, 'not_billable']]);
  expect(await listed('unbilled')).toEqual([[open, 'unbilled']]);
  const from = (body: object) => w.api.post('/api/v1/invoices/from-time', { client_id: w.client, ...body });
  expect((await from({ time_entry_ids: [covered] })).body.error).toBe(
    'Time entry is covered by the fixed amount of its project',
  );
  expect((await from({ time_entry_ids: [unpaid] })).body.error).toBe('Time entry is not billable');
  expect((await from({ project_ids: [w.project, internal] })).body.error).toBe('Nothing to bill');
  expect((await w.api.get('/api/v1/unbilled')).body.data).toMatchObject([
    { project: { name: 'Care' }, billing: 'hourly', entries: 1, amount: 180, oldest_date: '2026-11-02' },
    { project: { name: 'Website' }, billing: 'fixed', entries: 0, amount: 1000, oldest_date: null },
  ]);
  expect((await from({})).body.data).toMatchObject({ amount: 180 });
  await w.bill();
  expect((await w.api.get('/api/v1/unbilled')).body.data).toEqual([]);
});

test('when the amount is missing, inexact or below what was billed, then it is rejected; parts already billed keep their terms', async () => {
  const w = await world();
  const create = (body: object) => w.api.post('/api/v1/projects', { name: 'x', client_id: w.client, ...body });
  expect((await create({ billing: 'fixed' })).body.details).toEqual({ fixed_amount: ['fixed_amount is required'] });
  expect((await create({ fixed_amount: 1.5, currency: 'JPY' })).body.details).toEqual({
    fixed_amount: ['fixed_amount must be a whole number in JPY'],
  });
  expect((await w.bill({ percent: 10, amount: 10 })).status).toBe(400);
  expect((await w.bill({ amount: 0 })).body.details).toEqual({
    amount: ['amount must be at least the smallest unit of EUR'],
  });
  await w.bill({ amount: 600 });
  const change = (body: object) => w.api.patch(`/api/v1/projects/${w.project}`, body);
  expect((await change({ fixed_amount: 599 })).body.error).toBe(
    'Cannot set a fixed amount below 600.00: so much was billed',
  );
  expect((await change({ billing: 'hourly', currency: 'USD' })).body.error).toBe(
    'Cannot change billing, currency of a project whose fixed amount was billed',
  );
  expect((await change({ fixed_amount: 800 })).body.data).toMatchObject({ left_to_bill: 200 });
  expect((await w.api.delete(`/api/v1/projects/${w.project}`)).status).toBe(409);
  const other = (await create({})).body.data.id;
  const inYen = { name: 'Bo', email: 'bo@example.com', currency: 'JPY' };
  const { id: client_id } = (await w.api.post('/api/v1/clients', inYen)).body.data;
  const moved = await w.api.patch(`/api/v1/projects/${other}`, { client_id, fixed_amount: 7 });
  expect(moved.body.data).toMatchObject({ client: { id: client_id }, currency: 'JPY', fixed_amount: 7 });
  expect((await w.api.post(`/api/v1/projects/${other}/bill`, {})).body.error).toBe('Project has no fixed amount');
});

test('when a project without a fixed amount is renamed, then nothing about amounts is stored', async () => {
  const w = await world({ billing: 'hourly', fixed_amount: null });
  const names = async () =>
    Object.keys((await Project.collection.findOne({ _id: storedId(w.project) as never })) ?? {}).toSorted();
  await Project.collection.updateOne(
    { _id: storedId(w.project) as never },
    { $unset: { fixed_amount: 1, currency: 1 } },
  );
  const before = await names();

  expect((await w.api.patch(`/api/v1/projects/${w.project}`, { name: 'Relaunch' })).status).toBe(200);

  expect(await names()).toEqual(before);
});
