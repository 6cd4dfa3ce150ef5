// Credit notes for named time entries and expenses: what each was charged is taken back, and the work can be billed again.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type PrintingGateway, startPrintingGateway } from '../../support/gateway.ts';
import { openOwnAccount } from '../../support/own-account.ts';
import type { AnyRecord } from '../../support/records.ts';

let gateway: PrintingGateway;
beforeAll(async () => {
  gateway = await startPrintingGateway();
});
afterAll(() => gateway.close());

/** A client with three entries of one task and an expense. */
async function world({
  hours = [2, 1, 0.5],
  ...fields
}: {
  hours?: number[];
  rounding?: object;
  hourly_rate?: number;
} = {}) {
  const own = await openOwnAccount(gateway);
  const { api, post } = own;
  const person = { name: 'Ada', email: 'ada@example.com', currency: 'EUR', hourly_rate: 100, ...fields };
  const client_id = (await post('clients', person)).id as string;
  const project_id = (await post('projects', { client_id, name: 'Mill' })).id as string;
  const log = (count: number, date: string) => post('time-entries', { project_id, date, hours: count });
  const entries: string[] = [];
  for (const [index, count] of hours.entries()) entries.push((await log(count, `2026-11-0${2 + index}`)).id);
  const spent = await post('expenses', { project_id, date: '2026-11-03', description: 'Train', amount: 30 });
  return {
    ...own,
    log,
    client_id,
    project_id,
    entries,
    expense: spent.id as string,
    bill: (more: object = {}) =>
      post('invoices/from-time', { client_id, tax_rate: 20, status: 'Sent', include_expenses: true, ...more }),
    credit: (invoice: AnyRecord, body: object) =>
      post(`invoices/${invoice.id}/credit-notes`, { reason: 'correction', ...body }),
    events: async () => (await api.get('/api/v1/events?limit=100')).body.data as AnyRecord[],
  };
}

describe('time entries', () => {
  test('when one of a line is named, then its hours are credited at the price of the line, and it alone can be billed again', async () => {
    const { bill, credit, get, entries, events, api, sound, client_id, post } = await world();
    const invoice = await bill({ extra_lines: [{ description: 'Fee', quantity: 1, rate: 10, tax_rate: 10 }] });
    const sheet = await get(`invoices/${invoice.id}/time`);
    const note = await credit(invoice, { time_entry_ids: [entries[1]] });
    expect(note).toMatchObject({
      amount: 100,
      tax_amount: 20,
      total: 120,
      applied_to_invoice: 120,
      time_entry_ids: [entries[1]],
      expense_ids: [],
      line_items: [{ description: 'Mill\nNov 3, 2026', qty: '1', rate: '100', unit: 'hour', line: 1 }],
    });
    expect(await get(`credit-notes/${note.id}`)).toEqual(note);
    const [first, second] = [await get(`time-entries/${entries[0]}`), await get(`time-entries/${entries[1]}`)];
    expect([first.billing, second.billing, second.invoice]).toEqual(['billed', 'unbilled', null]);
    const told = await events();
    expect(told.findLast(({ data }) => data.id === entries[1])?.['data']).toEqual(second);
    expect(told.findLast(({ data }) => data.id === invoice.id)?.['data']).toEqual(await get(`invoices/${invoice.id}`));
    expect(told.map(({ type }) => type)).toContain('credit_note.issued');
    expect(await get(`invoices/${invoice.id}/time`)).toEqual(sheet);
    await sound();
    expect(await post('invoices/from-time', { client_id })).toMatchObject({ amount: 100 });
    await api.get(`/api/v1/credit-notes/${note.id}/pdf`);
    expect(gateway.printed()?.lineItems).toMatchObject([{ description: 'Mill\nNov 3, 2026', qty: '-1', rate: '100' }]);
    await sound();
  });

  test('when each is credited, in any order, then the credits sum to the line, with its rounding and the discount', async () => {
    const rounding = { minutes: 15, mode: 'up', scope: 'line' };
    for (const order of [
      [0, 1, 2],
      [2, 0, 1],
    ]) {
      const { bill, credit, get, entries, expense, api, sound } = await world({ hours: [0.37, 1.11, 0.61], rounding });
      const draft = await bill({ status: 'Draft' });
      await api.patch(`/api/v1/invoices/${draft.id}`, { discount_percent: 12.5 });
      const { body } = await api.patch(`/api/v1/invoices/${draft.id}`, { status: 'Sent' });
      expect(body.data).toMatchObject({ amount: 223.12, line_items: [{ qty: '2.25' }, {}] });
      const notes: AnyRecord[] = [];
      for (const index of order) notes.push(await credit(draft, { time_entry_ids: [entries[index]] }));
      // 225.00 less 12.5 %.
      expect(notes.reduce((sum, { amount }) => sum + Math.round(amount * 100), 0)).toBe(19_687);
      await sound();
      await credit(draft, { expense_ids: [expense] });
      expect(await get(`invoices/${draft.id}`)).toMatchObject({ status: 'Cancelled', amount_due: 0 });
      expect(await get(`expenses/${expense}`)).toMatchObject({ billing: 'unbilled' });
      await sound();
    }
  });

  test('when they are given away, then they stay billed, and cannot be credited again', async () => {
    const { bill, credit, get, entries, refused, sound } = await world();
    const invoice = await bill();
    await credit(invoice, { time_entry_ids: [entries[0]], reason: 'goodwill' });
    expect(await get(`time-entries/${entries[0]}`)).toMatchObject({ billing: 'billed' });
    const other = await world();
    const at = `invoices/${invoice.id}/credit-notes`;
    expect(
      await refused(at, { reason: 'correction', time_entry_ids: entries.slice(0, 1), expense_ids: [other.expense] }),
    ).toEqual([
      409,
      `Time entries of INV-0001 were credited already: ${entries[0]}; Expenses are not on INV-0001: ${other.expense}`,
    ]);
    expect(await refused(at, { reason: 'correction', time_entry_ids: other.entries.slice(0, 2) })).toEqual([
      409,
      `Time entries are not on INV-0001: ${other.entries[0]}, ${other.entries[1]}`,
    ]);
    await sound();
  });

  test('when eight callers credit the same entry, then one does', async () => {
    const { id, api, bill, entries, get, sound } = await world();
    const invoice = await bill();
    const all = await Promise.all(
      Array.from({ length: 8 }, () =>
        api.post(`/api/v1/invoices/${invoice.id}/credit-notes`, {
          reason: 'correction',
          time_entry_ids: [entries[0]],
        }),
      ),
    );
    expect(all.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
    expect([id, (await get(`invoices/${invoice.id}`)).total_credited]).toEqual([id, 240]);
    await sound();
  });

  test('when lines, an amount or nothing are named besides, or lines were edited by hand, then nothing is stored', async () => {
    const { bill, refused, entries, expense, api, get } = await world();
    const draft = await bill({ status: 'Draft' });
    const { line_items } = await get(`invoices/${draft.id}`);
    await api.patch(`/api/v1/invoices/${draft.id}`, { line_items: [{ ...line_items[0], rate: '90' }], status: 'Sent' });
    const at = `invoices/${draft.id}/credit-notes`;
    const body = { reason: 'correction', time_entry_ids: [entries[0]], expense_ids: [expense] };
    expect(await refused(at, body)).toEqual([
      409,
      'The lines of INV-0001 were edited by hand: credit them as line_items',
    ]);
    expect(await refused(at, { ...body, amount: 1, line_items })).toEqual([
      400,
      {
        body: [
          'time_entry_ids must not stand beside amount; time_entry_ids must not stand beside line_items; ' +
            'expense_ids must not stand beside amount; expense_ids must not stand beside line_items; ' +
            'amount must not stand beside line_items',
        ],
      },
    ]);
    expect((await refused(at, { reason: 'correction', time_entry_ids: [] }))[0]).toBe(400);
    expect((await get(`invoices/${draft.id}`)).total_credited).toBe(0);
  });

  test('when the request is repeated with its external id, then the answer is the first credit note', async () => {
    const { bill, entries, api, get } = await world();
    const invoice = await bill();
    const refund = { external_id: 'refund-1' };
    const body = { reason: 'correction', settle: 'refund', refund, time_entry_ids: [entries[2], entries[1]] };
    const send = (more: object) => api.post(`/api/v1/invoices/${invoice.id}/credit-notes`, { ...body, ...more });
    const first = await send({});
    const again = await send({ time_entry_ids: [entries[1], entries[2]] });
    expect([first.status, again.status, again.body.data.id]).toEqual([201, 200, first.body.data.id]);
    expect((await send({ time_entry_ids: [entries[1]] })).status).toBe(422);
    expect((await get(`invoices/${invoice.id}`)).total_credited).toBe(180);
  });
});

describe('prepaid and included hours', () => {
  test('when a package covered an entry, then crediting it costs nothing and gives its hours back; the next one is paid', async () => {
    const { bill, credit, post, get, entries, client_id, events, refused, sound } = await world();
    const pack = await post('hour-packages', { client_id, hours: 2.5 });
    const invoice = await bill();
    expect(invoice.amount).toBe(130);
    expect(
      await refused(`invoices/${invoice.id}/credit-notes`, { reason: 'goodwill', time_entry_ids: [entries[0]] }),
    ).toEqual([409, 'What is credited is worth nothing: it can only be cancelled or corrected']);
    const covered = await credit(invoice, { time_entry_ids: [entries[0]] });
    expect(covered).toMatchObject({ amount: 0, total: 0, line_items: [{ qty: '0', line: 1 }] });
    expect(await get(`hour-packages/${pack.id}`)).toMatchObject({ left_hours: 2 });
    expect((await events()).map(({ type }) => type)).toContain('hour_package.released');
    await sound();
    const cut = await credit(invoice, { time_entry_ids: [entries[1]] });
    expect(cut).toMatchObject({ amount: 50, line_items: [{ qty: '0.5', line: 1 }] });
    expect(await get(`hour-packages/${pack.id}`)).toMatchObject({ left_hours: 2.5 });
    await credit(invoice, { time_entry_ids: [entries[2]] });
    expect(await get(`invoices/${invoice.id}`)).toMatchObject({ amount_due: 36, total_credited: 120 });
    await sound();
    expect(await post('invoices/from-time', { client_id })).toMatchObject({ amount: 100 });
    await sound();
  });

  test('when an invoice of prepaid hours alone is corrected entry by entry, then it is reversed with the last', async () => {
    const { bill, credit, post, get, entries, client_id, sound } = await world();
    await post('hour-packages', { client_id, hours: 10 });
    const invoice = await bill({ include_expenses: false });
    expect(invoice.total).toBe(0);
    await credit(invoice, { time_entry_ids: [entries[0]] });
    expect(await get(`time-entries/${entries[1]}`)).toMatchObject({ billing: 'billed' });
    expect(await get(`invoices/${invoice.id}`)).toMatchObject({ status: 'Sent' });
    await sound();
    await credit(invoice, { time_entry_ids: entries.slice(1) });
    expect(await get(`invoices/${invoice.id}`)).toMatchObject({ status: 'Cancelled' });
    expect(await get(`time-entries/${entries[1]}`)).toMatchObject({ billing: 'unbilled' });
    await sound();
  });

  test('when the fee of a recurring invoice included the first hours, then only what was charged beside it is credited', async () => {
    const { post, credit, get, entries, client_id, sound } = await world();
    const recurring = await post('recurring-invoices', {
      client_id,
      schedule: { unit: 'month', start_on: '2031-01-31' },
      create_as: 'Sent',
      line_items: [{ description: 'Support', quantity: 1, rate: 450 }],
      include_time: { group_by: 'project', included_hours: 2.5 },
    });
    const invoice = await post(`recurring-invoices/${recurring.id}/run`, {});
    expect(invoice.amount).toBe(550);
    expect(await credit(invoice, { time_entry_ids: entries.slice(0, 2) })).toMatchObject({ amount: 50 });
    expect(await credit(invoice, { time_entry_ids: entries.slice(2) })).toMatchObject({ amount: 50 });
    expect(await get(`invoices/${invoice.id}`)).toMatchObject({ amount_due: 450 });
    await sound();
  });

  test.each([
    ['less than', 33.01, '0.01'],
    ['more than', 33.03, '-0.01'],
  ])(
    'when the included hours of a recurring invoice without a fee cover lines that would sum to %s 0, then it is made of 0, and credited entry by entry',
    async (_which, hourly_rate, rounding) => {
      const { api, post, credit, get, entries, client_id, sound } = await world({
        hours: [0.25, 0.25, 0.25],
        hourly_rate,
      });
      const recurring = await post('recurring-invoices', {
        client_id,
        schedule: { unit: 'month', start_on: '2031-01-31' },
        create_as: 'Draft',
        tax_rate: 20,
        include_time: { group_by: 'day', included_hours: 10 },
      });
      const draft = await post(`recurring-invoices/${recurring.id}/run`, {});
      expect(draft).toMatchObject({ amount: 0, total: 0, line_items: { length: 5 } });
      expect(draft.line_items.slice(3)).toMatchObject([
        { description: 'Included hours', qty: '-0.75', unit: 'hour' },
        { description: 'Rounding', qty: '1', rate: rounding },
      ]);
      const path = `invoices/${draft.id}`;
      const texts = draft.line_items.map((line: AnyRecord) => ({ ...line, description: `My ${line.description}` }));
      expect((await api.patch(`/api/v1/${path}`, { line_items: texts })).status).toBe(200);
      const release = (body: object) => api.post(`/api/v1/${path}/time-entries/release`, body);
      const less = (await release({ time_entry_ids: [entries[2]] })).body.data;
      expect([less.amount, less.line_items[2].description]).toEqual([0, 'My Included hours']);
      const again = await api.post(`/api/v1/${path}/time-entries`, { time_entry_ids: [entries[2]], group_by: 'day' });
      expect(again.body.data).toMatchObject({ amount: 0, line_items: { length: 5 } });
      const sent = (await api.patch(`/api/v1/${path}`, { status: 'Sent' })).body.data;
      expect(sent).toMatchObject({ total: 0, amount_due: 0 });
      await sound();
      for (const entry of entries) expect(await credit(sent, { time_entry_ids: [entry] })).toMatchObject({ total: 0 });
      expect(await get(path)).toMatchObject({ status: 'Cancelled' });
      expect(await get(`time-entries/${entries[0]}`)).toMatchObject({ billing: 'unbilled' });
      await sound();
    },
  );

  test('when the fee and a package cover one line together, then its entries are credited with 0, and exactly the fee is left', async () => {
    const { post, credit, get, entries, client_id, sound } = await world({
      hours: [0.25, 0.25, 0.25],
      hourly_rate: 33.03,
    });
    const pack = await post('hour-packages', { client_id, hours: 0.5 });
    const recurring = await post('recurring-invoices', {
      client_id,
      schedule: { unit: 'month', start_on: '2031-01-31' },
      create_as: 'Sent',
      line_items: [{ description: 'Support', quantity: 1, rate: 450 }],
      include_time: { group_by: 'project', included_hours: 0.25 },
    });
    const invoice = await post(`recurring-invoices/${recurring.id}/run`, {});
    expect(invoice.amount).toBe(450);
    for (const entry of entries)
      expect(await credit(invoice, { time_entry_ids: [entry] })).toMatchObject({ amount: 0 });
    expect(await get(`invoices/${invoice.id}`)).toMatchObject({ amount_due: 450 });
    expect(await get(`hour-packages/${pack.id}`)).toMatchObject({ left_hours: 0.5 });
    await sound();
  });
});
