// Hours in every body are read in the forms that time trackers write, and rounding allows for the decimals that were given.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { callerOf, startGateway, type TestGateway, verbsOf } from '../../support/gateway.ts';
import { bodyFor } from '../../support/operations.ts';
import { fieldsOf, routeTable, type Shape } from '../../support/route-table.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** The fields of hours in a shape, also in the shapes inside it. */
function hoursIn(shapes: Record<string, Shape>, before: readonly string[] = []): { at: string[]; type: string }[] {
  return Object.entries(shapes).flatMap(([name, shape]) => [
    ...(/(^|_)hours$/.test(name) ? [{ at: [...before, name], type: shape.type }] : []),
    ...hoursIn((shape.keys ?? {}) as Record<string, Shape>, [...before, name]),
  ]);
}
const fields = routeTable
  .filter(({ body }) => body)
  .flatMap((row) => hoursIn(fieldsOf(row)).map((field) => ({ row, ...field })));

test('when a body has hours, then they are of this kind, also in the operations to come', () => {
  expect(fields.map(({ row, at }) => `${row.operation}.${at.join('.')}`)).toEqual(
    expect.arrayContaining([
      'createTimeEntry.hours',
      'updateTimeEntry.hours',
      'createTask.estimated_hours',
      'createTask.budget_hours',
      'updateProject.budget_hours',
      'createHourPackage.hours',
      'updateHourPackage.low_hours',
      'createRecurringInvoice.include_time.included_hours',
      'updateAccount.max_entry_hours',
    ]),
  );
  expect(
    fields.filter(({ type }) => type !== 'hours').map(({ row, at }) => `${row.operation}.${at.join('.')}`),
  ).toEqual([]);
});

const creates = fields.filter(({ row, at }) => row.method === 'post' && at.length === 1);

describe.each(creates.map(({ row, at: [name = ''] }) => [row.operation, name, row] as const))(
  '%s.%s',
  (_, name, row) => {
    const item = `${row.path}/{id}`;
    const canChange = routeTable.some(({ method, path, body }) => method === 'patch' && path === item && body);
    const readOf = async (id: string) => (await gateway.get(`${row.path}/${id}`)).body.data[name];

    test('when it is a text, then it is read as a number, on a change, too; a text of another form is 400', async () => {
      const body = (await bodyFor(gateway, row.operation, gateway.account)) ?? {};
      const reply = await gateway.post(row.path, { ...body, [name]: '1:30' });
      expect([reply.status, reply.body.details]).toEqual([201, undefined]);
      const { id } = reply.body.data;
      expect([canChange, await readOf(id)]).toEqual([true, 1.5]);
      for (const [given, hours] of [
        ['105m', 1.75],
        ['2h 30m', 2.5],
        [3.5, 3.5],
      ] as const) {
        const changed = await gateway.patch(`${row.path}/${id}`, { [name]: given });
        expect([changed.status, await readOf(id)]).toEqual([200, hours]);
      }
      const details = { [name]: [`${name} must be a number, or a text such as "1:30", "90m" or "1h 30m"`] };
      for (const given of ['1,5', '1:60', 'soon', '']) {
        expect((await gateway.post(row.path, { ...body, [name]: given })).body.details).toEqual(details);
        expect((await gateway.patch(`${row.path}/${id}`, { [name]: given })).body.details).toEqual(details);
      }
    });
  },
);

test('when hours are included in a fee, or allowed for an entry, then a text is read as well', async () => {
  const { key } = await gateway.workspace.account();
  const own = { key };
  const body = await bodyFor(gateway, 'createRecurringInvoice', gateway.account);
  const include_time = { group_by: 'task', included_hours: '7:30' };
  const made = await gateway.post('/api/v1/recurring-invoices', { ...body, include_time });
  expect([made.status, made.body.data.include_time.included_hours]).toEqual([201, 7.5]);
  const changed = await gateway.patch('/api/v1/account', { max_entry_hours: '30h' }, own);
  expect(changed.body.data.max_entry_hours).toBe(30);
});

/** Each of 40 minutes: two decimals are 12 seconds more. */
const EACH = ['0.67', 0.67, '0:40', '40m', 0.6667];

test.each([
  ['entry', 5 * (2 / 3)],
  ['day', 5 * (2 / 3)],
  ['line', 5 * (2 / 3)],
] as const)(
  'when hours with decimals are rounded up by %s, then no step is added, in the overview, on the invoice and behind it',
  async (scope, hours) => {
    const { key } = await gateway.workspace.account();
    const api = verbsOf(callerOf(gateway.url, key));
    const made = async (path: string, body: object) => (await api.post(`/api/v1/${path}`, body)).body.data;
    const rounding = { minutes: 20, mode: 'up', scope };
    const { id: client_id } = await made('clients', { name: 'Ada', email: 'a@example.com', hourly_rate: 90, rounding });
    const { id: project_id } = await made('projects', { name: 'Engine', client_id });
    for (const one of EACH) await made('time-entries', { project_id, hours: one, date: '2026-11-02' });

    const [row] = (await api.get('/api/v1/unbilled')).body.data;
    const billed = Number(hours.toFixed(4));
    expect([row.billed_hours, row.amount]).toEqual([billed, 300]);
    const invoice = await made('invoices/from-time', { client_id, status: 'Sent' });
    expect(invoice).toMatchObject({ amount: 300, line_items: [{ qty: String(billed), rate: '90' }] });
    const { lines } = (await api.get(`/api/v1/invoices/${invoice.id}/time`)).body.data;
    expect(lines).toMatchObject([{ billed_hours: billed, amount: 300 }]);
  },
);

test('when time is measured, or its exact hours are sent back as they were read, then every second more begins a step', async () => {
  const { key } = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, key));
  const made = async (path: string, body: object) => (await api.post(`/api/v1/${path}`, body)).body.data;
  const rounding = { minutes: 20, mode: 'up' };
  const { id: client_id } = await made('clients', { name: 'Ada', email: 'a@example.com', hourly_rate: 90, rounding });
  const { id: project_id } = await made('projects', { name: 'Engine', client_id });
  const times = { started_at: '2026-11-02T09:00:00Z', ended_at: '2026-11-02T09:40:12Z' };
  const measured = await made('time-entries', { project_id, ...times });
  const written = await made('time-entries', { project_id, hours: '0:40:12', date: '2026-11-02' });
  expect([measured.hours, written.hours]).toEqual([0.67, 0.67]);
  for (const { id } of [measured, written]) {
    await api.patch(`/api/v1/time-entries/${id}`, { hours: 0.67, description: 'Sheet' });
  }
  await api.patch(`/api/v1/time-entries/${measured.id}`, { started_at: null, ended_at: null });
  expect((await api.get('/api/v1/unbilled')).body.data).toMatchObject([{ hours: 1.34, billed_hours: 2 }]);
});
