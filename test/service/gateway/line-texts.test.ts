// Texts of the lines of a draft that was made from work: a change of text alone leaves the sums tied to the work, and the text stays.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { callerOf, startGateway, type TestGateway, verbsOf } from '../../support/gateway.ts';
import type { AnyRecord } from '../../support/records.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** A new account with a client at 100 an hour, a project and two tasks. */
async function studio() {
  const { key } = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, key));
  const made = async (path: string, body: object): Promise<AnyRecord> => {
    const reply = await api.post(`/api/v1/${path}`, body);
    expect([reply.status, reply.body.error]).toEqual([201, undefined]);
    return reply.body.data;
  };
  const { id: client_id } = await made('clients', { name: 'Ada', email: 'ada@example.com', hourly_rate: 100 });
  const { id: project_id } = await made('projects', { name: 'Engine', client_id });
  const log = async (hours: number, more: object = {}): Promise<string> =>
    (await made('time-entries', { project_id, hours, date: '2026-11-02', ...more })).id;
  const bill = (body: object = {}) => made('invoices/from-time', { client_id, ...body });
  const read = async (id: string) => (await api.get(`/api/v1/invoices/${id}`)).body.data;
  const change = async (id: string, change: (line: AnyRecord, at: number) => object) => {
    const line_items = (await read(id)).line_items.map((line: AnyRecord, at: number) => ({
      ...line,
      ...change(line, at),
    }));
    const reply = await api.patch(`/api/v1/invoices/${id}`, { line_items });
    expect([reply.status, reply.body.error]).toEqual([200, undefined]);
    return reply.body.data;
  };
  const release = async (id: string, body: object) =>
    (await api.post(`/api/v1/invoices/${id}/time-entries/release`, body)).body.data;
  const add = async (id: string, body: object = {}) =>
    (await api.post(`/api/v1/invoices/${id}/time-entries`, body)).body.data;
  const timeOf = async (id: string) => (await api.get(`/api/v1/invoices/${id}/time`)).body.data;
  const retitle = (id: string, description: string | null) => api.patch(`/api/v1/time-entries/${id}`, { description });
  return { api, client_id, project_id, made, log, bill, read, change, release, add, timeOf, retitle };
}

const shown = ({ line_items }: AnyRecord) =>
  line_items.map(({ description, qty, unit }: AnyRecord) => [description, qty, unit]);

describe('a draft whose texts were changed by hand', () => {
  test('when time is taken off it and added to it, then the sums follow, and the texts stay', async () => {
    const s = await studio();
    const [one] = [await s.log(2), await s.log(3)];
    const invoice = await s.bill({ extra_lines: [{ description: 'Paper', quantity: 1, rate: 5 }] });
    expect(
      shown(await s.change(invoice.id, (_, at) => ({ description: ['Design', 'Paper, A3'][at], unit: 'piece' }))),
    ).toEqual([
      ['Design', '5', 'piece'],
      ['Paper, A3', '1', 'piece'],
    ]);
    expect(await s.timeOf(invoice.id)).toMatchObject({
      edited: false,
      lines: [{ line: 0, description: 'Design', hours: 5, amount: 500 }],
    });

    const less = await s.release(invoice.id, { time_entry_ids: [one] });
    expect([less.amount, shown(less)]).toEqual([
      305,
      [
        ['Design', '3', 'piece'],
        ['Paper, A3', '1', 'piece'],
      ],
    ]);
    const more = await s.add(invoice.id);
    expect([more.amount, shown(more)]).toEqual([505, [...shown(less), ['Engine', '2', 'hour']]]);
    const sent = (await s.api.patch(`/api/v1/invoices/${invoice.id}`, { status: 'Sent' })).body.data;
    expect(sent.amount).toBe(505);
    expect((await s.timeOf(invoice.id)).lines.map(({ description }: AnyRecord) => description)).toEqual([
      'Design',
      'Engine',
    ]);
  });

  test('when prepaid and included hours are taken off in lines with other texts, then they are counted anew under these', async () => {
    const s = await studio();
    await s.made('hour-packages', { client_id: s.client_id, name: 'Support', hours: 1 });
    const one = await s.log(4);
    const recurring = await s.made('recurring-invoices', {
      client_id: s.client_id,
      line_items: [{ description: 'Fee', quantity: 1, rate: 50 }],
      schedule: { unit: 'month', start_on: '2031-01-31' },
      include_time: { group_by: 'project', included_hours: 2 },
    });
    const invoice = await s.made(`recurring-invoices/${recurring.id}/run`, {});
    expect(shown(invoice).map(([, qty]: string[]) => qty)).toEqual(['1', '4', '-1', '-2']);
    const texts = ['Retainer', 'Work', 'Paid in March', 'Part of the retainer'];
    await s.change(invoice.id, (_, at) => ({ description: texts[at] }));

    await s.log(1.5, { date: '2026-11-03' });
    const more = await s.add(invoice.id);
    const lines = shown(more).map(([text, qty]: string[]) => `${text} ${qty}`);
    expect([more.amount, lines.toSorted()]).toEqual([
      300,
      ['Engine\nNov 3, 2026 1.5', 'Paid in March -1', 'Part of the retainer -2', 'Retainer 1', 'Work 4'].toSorted(),
    ]);
    const less = await s.release(invoice.id, { time_entry_ids: [one] });
    expect([less.amount, shown(less)[0]]).toEqual([50, ['Retainer', '1', undefined]]);
  });

  test('when an expense has another text, then it is taken off and its neighbours stay as they are', async () => {
    const s = await studio();
    const expense = (description: string) =>
      s.made('expenses', { project_id: s.project_id, description, amount: 10, date: '2026-11-02', currency: 'USD' });
    const [train] = [await expense('Train'), await expense('Hotel')];
    await s.log(1);
    const invoice = await s.bill({ include_expenses: true });
    await s.change(invoice.id, (_, at) => ({ description: `Line ${at}` }));
    const less = await s.release(invoice.id, { expense_ids: [train.id] });
    expect([less.amount, shown(less).map(([text]: string[]) => text)]).toEqual([110, ['Line 0', 'Line 2']]);
    expect(await s.timeOf(invoice.id)).toMatchObject({ edited: false });
  });

  test.each([
    ['a rate', (line: AnyRecord) => ({ ...line, rate: 90 })],
    ['a quantity', (line: AnyRecord) => ({ ...line, qty: 7 })],
    ['a discount', (line: AnyRecord) => ({ ...line, discount: 5 })],
    ['a tax rate', (line: AnyRecord) => ({ ...line, tax_rate: 7 })],
  ])('when %s is changed as well, then the lines no longer follow from the time', async (_what, changed) => {
    const s = await studio();
    await s.log(2);
    const invoice = await s.bill();
    await s.change(invoice.id, (line) => ({ ...changed(line), description: 'Design' }));
    expect(await s.timeOf(invoice.id)).toMatchObject({ edited: true });
  });
});

describe('the description of a time entry that is corrected', () => {
  test('when its line on a draft shows it, then the line has the new text, and the invoice is announced', async () => {
    const s = await studio();
    const [one, two] = [await s.log(1, { description: 'Mil' }), await s.log(2, { description: 'Store' })];
    const invoice = await s.bill({ group_by: 'entry', line_text: '{description} ({hours})' });
    expect(shown(invoice).map(([text]: string[]) => text)).toEqual(['Mil (1)', 'Store (2)']);
    expect((await s.retitle(one, 'Mill')).status).toBe(200);
    const after = await s.read(invoice.id);
    expect([after.amount, shown(after).map(([text]: string[]) => text)]).toEqual([300, ['Mill (1)', 'Store (2)']]);
    const events = (await s.api.get('/api/v1/events?limit=100')).body.data;
    expect(events.at(-1)).toMatchObject({ type: 'invoice.updated', data: after });
    expect(after.updated_at > invoice.updated_at).toBe(true);

    await s.change(invoice.id, (line, at) => (at === 1 ? { description: 'Storage' } : line));
    await s.retitle(two, 'Store, first part');
    await s.retitle(one, 'Mill, first part');
    expect(shown(await s.read(invoice.id)).map(([text]: string[]) => text)).toEqual([
      'Mill, first part (1)',
      'Storage',
    ]);
  });

  test('when its line shows no descriptions, was edited by hand or was issued, then the invoice stays as it is', async () => {
    const s = await studio();
    const one = await s.log(1, { description: 'Mil' });
    const grouped = await s.bill();
    await s.retitle(one, 'Mill');
    expect(await s.read(grouped.id)).toEqual(grouped);
    await s.release(grouped.id, {});

    const edited = await s.bill({ group_by: 'entry' });
    const fixed = await s.change(edited.id, () => ({ rate: 10 }));
    await s.retitle(one, 'Mill, first part');
    expect(await s.read(edited.id)).toEqual(fixed);
    await s.api.patch(`/api/v1/invoices/${edited.id}`, { status: 'Sent' });
    expect((await s.retitle(one, 'Other')).status).toBe(409);
  });
});
