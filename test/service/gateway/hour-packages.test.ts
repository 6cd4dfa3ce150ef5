// Prepaid hours: drawn to the second before anything is charged, never overdrawn, and returned when the invoice is undone.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addDays, dayIn } from '#libs/day.ts';
import { callerOf, startGateway, type TestGateway, type Verbs, verbsOf } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

interface Draft {
  id: string;
  amount: number;
  recurring: object;
  line_items: { description: string; qty: string; rate: string }[];
}

interface World {
  api: Verbs;
  client: string;
  project: string;
  log(hours: number, fields?: object): Promise<string>;
  sell(hours: number, fields?: object): Promise<string>;
  left(id: string): Promise<number>;
  bill(body?: object, query?: string): ReturnType<Verbs['post']>;
  /** A draft of a recurring invoice whose fee of 450 includes ten hours. */
  retainer(group_by: 'day' | 'project'): Promise<{ recurring: string; draft: Draft }>;
}

async function world(): Promise<World> {
  const { key } = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, key));
  const made = async (path: string, body: object) => (await api.post(`/api/v1/${path}`, body)).body.data.id as string;
  const client = await made('clients', { name: 'Ada', email: 'ada@example.com', hourly_rate: 100 });
  const project = await made('projects', { name: 'Website', client_id: client });
  return {
    api,
    client,
    project,
    log: (hours, fields = {}) => made('time-entries', { project_id: project, hours, date: '2026-11-02', ...fields }),
    sell: (hours, fields = {}) => made('hour-packages', { client_id: client, name: 'Support', hours, ...fields }),
    left: async (id) => (await api.get(`/api/v1/hour-packages/${id}`)).body.data.left_hours,
    bill: (body = {}, query = '') => api.post(`/api/v1/invoices/from-time${query}`, { client_id: client, ...body }),
    retainer: async (group_by) => {
      const recurring = await made('recurring-invoices', {
        client_id: client,
        line_items: [{ description: 'Fee', quantity: 1, rate: 450 }],
        schedule: { unit: 'month', start_on: '2031-01-31' },
        include_time: { group_by, included_hours: 10 },
      });
      return { recurring, draft: (await api.post(`/api/v1/recurring-invoices/${recurring}/run`)).body.data };
    },
  };
}

const linesOf = (data: Pick<Draft, 'line_items'>) =>
  data.line_items.map(({ description, qty, rate }) => [description, qty, rate]);

test('when time is billed, then the package is used first, the drawdown is listed, and the rest is charged', async () => {
  const w = await world();
  const id = await w.sell(2.5, { amount: 200, currency: 'EUR' });
  await w.log(1);
  await w.log(2, { date: '2026-11-03' });
  const preview = await w.bill({ group_by: 'day' }, '?dry_run=true');
  expect([preview.body.data.amount, await w.left(id)]).toEqual([50, 2.5]);
  const { data } = (await w.bill({ group_by: 'day', extra_lines: [{ description: 'Paper', quantity: 1, rate: 5 }] }))
    .body;
  expect([data.amount, linesOf(data)]).toEqual([
    55,
    [
      ['Website, Nov 2, 2026', '1', '100'],
      ['Website, Nov 3, 2026', '2', '100'],
      ['Prepaid hours: Support', '-1', '100'],
      ['Prepaid hours: Support', '-1.5', '100'],
      ['Paper', '1', '5'],
    ],
  ]);
  expect((await w.api.get(`/api/v1/hour-packages/${id}`)).body.data).toMatchObject({
    used_hours: 2.5,
    left_hours: 0,
    rate: 80,
    status: 'Used',
  });
  const { data: drawn } = (await w.api.get(`/api/v1/hour-packages/${id}/drawdowns`)).body;
  expect(drawn).toMatchObject([
    { hours: 1.5, invoice: { id: data.id, invoice_number: 'INV-0001' } },
    { hours: 1, invoice: { id: data.id } },
  ]);
  const { lines } = (await w.api.get(`/api/v1/invoices/${data.id}/time`)).body.data;
  expect(lines.map((line: { prepaid_hours: number }) => line.prepaid_hours)).toEqual([1, 1.5]);
});

test('when 50 minutes are fully covered, then none of them is charged, whatever the rounding of the line', async () => {
  const w = await world();
  await w.sell(5);
  await w.log(50 / 60, { hourly_rate: 99.99 });
  const { data } = (await w.bill({ status: 'Sent' })).body;
  expect([data.amount, linesOf(data)]).toEqual([
    0,
    [
      ['Website', '0.8333', '99.99'],
      ['Prepaid hours: Support', '-0.8333', '99.99'],
    ],
  ]);
});

test('when 8 callers bill an hour each concurrently, then the package covers the hours it has and is never overdrawn', async () => {
  const w = await world();
  const id = await w.sell(3.5);
  const entries: string[] = [];
  for (let count = 0; count < 8; count += 1) entries.push(await w.log(1));
  const responses = await Promise.all(entries.map((entry) => w.bill({ time_entry_ids: [entry] })));
  expect(responses.map(({ status }) => status)).toEqual(entries.map(() => 201));
  expect(responses.reduce((sum, { body }) => sum + body.data.amount, 0)).toBe(450);
  expect(await w.left(id)).toBe(0);
});

test('when the draft is deleted, the invoice cancelled or time removed, then the hours are returned once', async () => {
  const w = await world();
  const id = await w.sell(2);
  const [long] = [await w.log(3), await w.log(1, { date: '2026-11-03' })];
  const draft = (await w.bill({ group_by: 'entry' })).body.data.id;
  expect(await w.left(id)).toBe(0);
  const { data } = (await w.api.post(`/api/v1/invoices/${draft}/time-entries/release`, { time_entry_ids: [long] }))
    .body;
  // The longer entry comes first: while it is unbilled, it keeps the hours for itself.
  expect([data.amount, data.line_items.length, await w.left(id)]).toEqual([100, 1, 2]);
  const again = (await w.api.post(`/api/v1/invoices/${draft}/time-entries`, { time_entry_ids: [long] })).body.data;
  expect([again.amount, await w.left(id)]).toEqual([200, 0]);
  // Hours that are taken off are hours, too.
  expect(again.line_items.map(({ unit }: { unit?: string }) => unit)).toEqual(again.line_items.map(() => 'hour'));
  await w.api.delete(`/api/v1/invoices/${draft}`);
  expect(await w.left(id)).toBe(2);
  const sent = (await w.bill({ status: 'Sent', time_entry_ids: [long] })).body.data.id;
  expect(await w.left(id)).toBe(0);
  await w.api.patch(`/api/v1/invoices/${sent}`, { status: 'Cancelled' });
  expect([await w.left(id), (await w.api.get(`/api/v1/hour-packages/${id}/drawdowns`)).body.data]).toEqual([2, []]);
  const types = (await w.api.get('/api/v1/events?limit=100')).body.data.map(({ type }: { type: string }) => type);
  expect(types.filter((type: string) => type.startsWith('hour_package.'))).toEqual([
    ...['created', 'drawn', 'released', 'drawn', 'released', 'drawn', 'released'].map((name) => `hour_package.${name}`),
  ]);
});

test('when lines were edited by hand, then they and their drawdown stay until no time is left on the draft', async () => {
  const w = await world();
  const id = await w.sell(2);
  const [first, second] = [await w.log(1), await w.log(2)];
  const draft = (await w.bill()).body.data.id;
  await w.api.patch(`/api/v1/invoices/${draft}`, { line_items: [], amount: 70 });
  const release = (body: object) => w.api.post(`/api/v1/invoices/${draft}/time-entries/release`, body);
  expect([(await release({ time_entry_ids: [first] })).body.data.amount, await w.left(id)]).toEqual([70, 0]);
  expect([(await release({ time_entry_ids: [second] })).body.data.amount, await w.left(id)]).toEqual([70, 2]);
});

test('when a retainer includes hours, then these are used before the package', async () => {
  const w = await world();
  const id = await w.sell(5);
  await w.log(12);
  const { draft } = await w.retainer('project');
  expect([draft.amount, await w.left(id)]).toEqual([450, 3]);
  expect(linesOf(draft).slice(1)).toEqual([
    ['Website\nNov 2, 2026', '12', '100'],
    ['Prepaid hours: Support', '-2', '100'],
    ['Included hours', '-10', '100'],
  ]);
});

test('when time of a retainer is taken off its draft, then the included hours cover what stays, and the fee stays whole', async () => {
  const w = await world();
  const id = await w.sell(1);
  const [first] = [await w.log(9), await w.log(6, { date: '2026-11-03' })];
  const { draft } = await w.retainer('day');
  expect([draft.amount, await w.left(id)]).toEqual([450 + 400, 0]);
  const release = async (body: object) =>
    (await w.api.post(`/api/v1/invoices/${draft.id}/time-entries/release`, body)).body.data;
  const less = await release({ time_entry_ids: [first] });
  expect([less.amount, await w.left(id), linesOf(less)]).toEqual([
    450,
    1,
    [
      ['Fee\nJan 31, 2031 – Feb 27, 2031', '1', '450'],
      ['Website, Nov 3, 2026', '6', '100'],
      ['Included hours', '-6', '100'],
    ],
  ]);
  const none = await release({});
  expect([none.amount, linesOf(none)]).toEqual([450, [['Fee\nJan 31, 2031 – Feb 27, 2031', '1', '450']]]);
});

test('when time is added to the draft of a retainer, then it uses the included hours that are left, until lines were edited by hand', async () => {
  const w = await world();
  const { recurring, draft } = await w.retainer('day');
  const period = { period_from: '2031-01-31', period_to: '2031-02-27' };
  expect(draft.recurring).toEqual({ id: recurring, occurrence: 1, ...period });
  const path = `/api/v1/invoices/${draft.id}`;
  const add = async (hours: number, day: number) => {
    const time_entry_ids = [await w.log(hours, { date: `2026-11-0${day}` })];
    const { data } = (await w.api.post(`${path}/time-entries`, { time_entry_ids, group_by: 'day' })).body;
    return [data.amount, linesOf(data).slice(1)];
  };
  const time = (qty: string, day: number) => [`Website, Nov ${day}, 2026`, qty, '100'];
  const included = (qty: string) => ['Included hours', qty, '100'];
  const first = [time('6', 3), included('-6')];
  expect(await add(6, 3)).toEqual([450, first]);
  expect(await add(9, 4)).toEqual([950, [time('6', 3), time('9', 4), included('-10')]]);
  expect(await add(1, 5)).toEqual([1050, [time('6', 3), time('9', 4), time('1', 5), included('-10')]]);
  expect((await w.api.post(`${path}/time-entries/release`)).body.data.amount).toBe(450);
  expect(await add(8, 6)).toEqual([450, [time('8', 6), included('-8')]]);
  await w.api.patch(path, { line_items: [{ description: 'Fee', quantity: 1, rate: 400 }] });
  expect(await add(3, 7)).toEqual([700, [time('3', 7)]]);
});

test('when little is left of a package, then one event says so, until more is added and drawn again', async () => {
  const w = await world();
  const id = await w.sell(4, { low_hours: 2 });
  const low = async () =>
    (await w.api.get('/api/v1/events?limit=100')).body.data.filter(
      ({ type }: { type: string }) => type === 'hour_package.low',
    );
  const [one, other] = [await w.log(1), await w.log(1)];
  await w.bill({ time_entry_ids: [one] });
  expect(await low()).toEqual([]);
  const draft = (await w.bill({ time_entry_ids: [other] })).body.data.id;
  const record = (await w.api.get(`/api/v1/hour-packages/${id}`)).body.data;
  expect([record.left_hours, (await low()).map(({ data }: { data: object }) => data)]).toEqual([2, [record]]);
  await w.api.delete(`/api/v1/invoices/${draft}`);
  await w.bill({ time_entry_ids: [other] });
  expect(await low()).toHaveLength(1);
  await w.api.patch(`/api/v1/hour-packages/${id}`, { hours: 6 });
  await w.log(3);
  await w.bill();
  expect(await low()).toHaveLength(2);
  await w.api.patch(`/api/v1/hour-packages/${id}`, { low_hours: 0 });
  await w.api.patch(`/api/v1/hour-packages/${id}`, { low_hours: 1 });
  expect(await low()).toHaveLength(3);
});

test('when a package is changed or deleted, then past drawdowns stay, and invalid days and amounts are 400', async () => {
  const w = await world();
  const id = await w.sell(2, { valid_until: '2026-10-31' });
  const change = (body: object) => w.api.patch(`/api/v1/hour-packages/${id}`, body);
  await w.log(1.5);
  expect((await w.bill({}, '?dry_run=true')).body.data.amount).toBe(150);
  expect((await change({ valid_from: '2026-11-01' })).body.details).toEqual({
    valid_until: ['valid_until must not be before valid_from'],
  });
  expect((await change({ amount: 0.005 })).status).toBe(400);
  expect((await change({ valid_until: null })).body.data).toMatchObject({ valid_until: null, status: 'Active' });
  const draft = (await w.bill()).body.data;
  expect(draft.amount).toBe(0);
  expect((await change({ hours: 1 })).body.error).toBe('Cannot set hours below 1.5: so many were drawn');
  expect((await w.api.delete(`/api/v1/hour-packages/${id}`)).body.error).toBe(
    'Cannot delete an hour package that invoices draw from',
  );
  await w.api.delete(`/api/v1/invoices/${draft.id}`);
  expect((await w.api.delete(`/api/v1/hour-packages/${id}`)).status).toBe(200);
});

test('when a client has several packages, then one figure says what is left in all and by project, and the order says what expires first', async () => {
  const w = await world();
  const today = dayIn('UTC');
  const hoursOf = async () => (await w.api.get(`/api/v1/clients/${w.client}/hours`)).body.data;
  expect(await hoursOf()).toMatchObject({ as_of: today, left_hours: 0, by_project: [], hour_packages: [] });
  const endless = await w.sell(10);
  const bound = await w.sell(2.5, { project_id: w.project, valid_until: addDays(today, 30) });
  const soon = await w.sell(1, { valid_until: today });
  await w.sell(8, { valid_until: addDays(today, -1) });
  await w.sell(8, { valid_from: addDays(today, 1) });
  await w.log(1.5, { date: today });
  await w.bill();
  expect(await hoursOf()).toEqual({
    client: expect.objectContaining({ id: w.client }),
    as_of: today,
    left_hours: 12,
    by_project: [
      { project: { id: w.project, name: 'Website' }, left_hours: 2 },
      { project: null, left_hours: 10 },
    ],
    hour_packages: [
      expect.objectContaining({ id: bound, left_hours: 2, valid_until: addDays(today, 30), rollover: false }),
      expect.objectContaining({ id: endless, name: 'Support', project: null, left_hours: 10, valid_until: null }),
    ],
  });
  expect(await w.left(soon)).toBe(0);
  // Hours of an earlier package count while a later one is valid.
  await w.sell(4, { valid_until: addDays(today, -1), rollover: true });
  expect(await hoursOf()).toMatchObject({ left_hours: 16 });
  expect((await w.api.get(`/api/v1/clients/${w.project}/hours`)).status).toBe(404);
});
