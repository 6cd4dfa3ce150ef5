// Credit notes that correct an invoice: by line, of what a quote or a fixed amount bills, and of an invoice of nothing.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type PrintingGateway, startPrintingGateway } from '../../support/gateway.ts';
import { openOwnAccount } from '../../support/own-account.ts';
import { type AnyRecord, eventsOf } from '../../support/records.ts';

let gateway: PrintingGateway;
beforeAll(async () => {
  gateway = await startPrintingGateway();
});
afterAll(() => gateway.close());

async function world() {
  const own = await openOwnAccount(gateway);
  const { post } = own;
  const client_id = (await post('clients', { name: 'Ada', email: 'ada@example.com', currency: 'EUR', hourly_rate: 90 }))
    .id as string;
  return {
    ...own,
    client_id,
    issue: (fields: object) =>
      post('invoices', { client_id, currency: 'EUR', due_date: '2099-01-31', status: 'Sent', ...fields }),
    credit: (invoice: AnyRecord, body: object = {}) =>
      post(`invoices/${invoice.id}/credit-notes`, { reason: 'correction', ...body }),
    pay: (invoice: AnyRecord, amount: number) => post(`invoices/${invoice.id}/payments`, { amount }),
  };
}

const line = (description: string, rate: number, fields: object = {}) => ({
  description,
  quantity: 1,
  rate,
  ...fields,
});

describe('by line', () => {
  test('when prices include the tax and two lines are credited one by one, then nothing is due and all is reversed', async () => {
    const { issue, credit, get, sound } = await world();
    const lines = [line('A', 10.05), line('B', 10.05)];
    const invoice = await issue({ prices_include_tax: true, tax_rate: 19, line_items: lines });
    for (const one of lines) expect(await credit(invoice, { line_items: [one] })).toMatchObject({ total: 10.05 });
    expect(await get(`invoices/${invoice.id}`)).toMatchObject({ status: 'Cancelled', total_credited: 20.1 });
    await sound();
  });

  test('when a line of the invoice is named, then its tax counts; without a name or a rate it is the only one, or 400', async () => {
    const { issue, credit, refused } = await world();
    const one = await issue({ line_items: [line('A', 10, { tax_rate: 7 }), line('B', 5, { tax_rate: 7 })] });
    expect(await credit(one, { line_items: [line('A', 4)] })).toMatchObject({
      line_items: [{ description: 'A', qty: '1', rate: '4', discount: '0', tax_rate: 7 }],
      taxes: [{ rate: 7, taxable: 4, tax: 0.28 }],
    });
    const two = await issue({ tax_rate: 19, line_items: [line('A', 10), line('B', 5, { tax_rate: 7 })] });
    const at = `invoices/${two.id}/credit-notes`;
    expect(await refused(at, { reason: 'correction', line_items: [line('B', 4)] })).toEqual([
      400,
      { line_items: ['line_items[0] needs a tax_rate, or the line that it credits: INV-0002 has several rates'] },
    ]);
    expect(await refused(at, { reason: 'correction', line_items: [line('B', 4, { line: 3 })] })).toEqual([
      400,
      { line_items: ['line_items[0].line must be at most 2, as many lines the invoice has'] },
    ]);
    const note = await credit(two, { line_items: [line('B', 4, { line: 2 }), line('A', 1, { line: 1 })] });
    expect(note.taxes).toMatchObject([
      { rate: 19, taxable: 1 },
      { rate: 7, taxable: 4 },
    ]);
    expect(note.line_items).toMatchObject([{ line: 2, tax_rate: 7 }, { line: 1 }]);
  });

  test('when a line is credited piece by piece, then the pieces sum to it, and no more than its quantity is credited', async () => {
    const { issue, credit, refused, get, sound } = await world();
    const invoice = await issue({ tax_rate: 19, line_items: [line('A', 0.335, { quantity: 3 })] });
    const piece = { line_items: [line('A', 0.335, { line: 1 })] };
    expect([await credit(invoice, piece), await credit(invoice, piece)]).toMatchObject([
      { amount: 0.34 },
      { amount: 0.33, line_items: [{ line: 1 }, { description: 'Rounding', qty: '1', rate: '-0.01' }] },
    ]);
    expect(
      await refused(`invoices/${invoice.id}/credit-notes`, {
        reason: 'correction',
        line_items: [line('A', 0.335, { line: 1, quantity: 1.5 })],
      }),
    ).toEqual([409, 'Cannot credit more of line 1 of INV-0001 than is left: 1']);
    await credit(invoice, piece);
    expect(await get(`invoices/${invoice.id}`)).toMatchObject({ status: 'Cancelled', total_credited: 1.2 });
    await sound();
  });
});

describe('an invoice of nothing', () => {
  const nothing = { line_items: [line('Gift', 100, { discount: 100 })], tax_rate: 19 };

  test('when its work was prepaid and it is Paid, then a credit note frees the time and the hours, once', async () => {
    const { client_id, post, api, credit, refused, get, sound, id } = await world();
    const project_id = (await post('projects', { client_id, name: 'Mill' })).id;
    await post('hour-packages', { client_id, hours: 10 });
    const entry = await post('time-entries', { project_id, date: '2026-11-02', hours: 2 });
    const invoice = await post('invoices/from-time', { client_id, status: 'Sent' });
    expect(invoice.total).toBe(0);
    const paid = await api.patch(`/api/v1/invoices/${invoice.id}`, { status: 'Paid' });
    expect(paid.status).toBe(200);
    const at = `invoices/${invoice.id}/credit-notes`;
    expect(await refused(at, { reason: 'goodwill' })).toEqual([
      409,
      'INV-0001 is worth nothing: it can only be cancelled or corrected',
    ]);
    expect(await credit(invoice)).toMatchObject({ total: 0, applied_to_invoice: 0, unallocated: 0 });
    expect(await get(`invoices/${invoice.id}`)).toMatchObject({ status: 'Cancelled', paid_on: null });
    expect((await get(`invoices/${invoice.id}/payments`)).movements).toMatchObject([
      { kind: 'credit_note', amount: 0 },
    ]);
    expect(await refused(at, { reason: 'correction' })).toEqual([409, 'Cannot credit a cancelled invoice']);
    expect((await eventsOf(id)).slice(-5)).toContain('invoice.cancelled');
    const entryNow = await get(`time-entries/${entry.id}`);
    expect(entryNow).toMatchObject({ billing: 'unbilled' });
    const again = await post('invoices/from-time', { client_id });
    expect(again).toMatchObject({ total: 0 });
    await sound();
  });

  test('when it is Paid, then it can be cancelled', async () => {
    const { issue, api, sound } = await world();
    const { id } = await issue(nothing);
    for (const status of ['Paid', 'Cancelled'])
      expect((await api.patch(`/api/v1/invoices/${id}`, { status })).body.data).toMatchObject({ status });
    expect((await api.get(`/api/v1/invoices/${id}`)).body.data.paid_on).toBeNull();
    await sound();
  });
});

describe('a part of a quote', () => {
  async function offer(fields: object = {}) {
    const w = await world();
    const { client_id, post, api } = w;
    const quote = await post('quotes', { client_id, currency: 'EUR', tax_rate: 20, amount: 5000, ...fields });
    const convert = (body: object) => post(`quotes/${quote.id}/convert`, { accept: true, status: 'Sent', ...body });
    const shown = async () => (await api.get(`/api/v1/quotes/${quote.id}`)).body.data as AnyRecord;
    return { ...w, convert, shown };
  }

  test('when 500 of a paid deposit of 1,500 are corrected, then the final takes off 1,000 with its tax', async () => {
    const { convert, credit, pay, shown, sound } = await offer();
    const deposit = await convert({ part: 'deposit', percent: 30 });
    await pay(deposit, 1800);
    await credit(deposit, { amount: 500 });
    expect(await shown()).toMatchObject({ left_to_bill: 4000, invoices: [{ amount: 1500, corrected: 500 }] });
    const final = await convert({ part: 'final' });
    expect(final).toMatchObject({
      total: 4800,
      line_items: [
        {},
        {
          rate: '-1000',
          description: expect.stringMatching(/^Less INV-0001 of .* \(tax contained in it: €200\.00\)$/),
        },
      ],
    });
    expect((await shown()).left_to_bill).toBe(0);
    await credit(final, { amount: 100 });
    expect((await shown()).left_to_bill).toBe(100);
    expect(await convert({ part: 'progress', amount: 100 })).toMatchObject({ total: 120 });
    await sound();
  });

  test('when it is credited as goodwill or returned, then the price is lower, and the final does not bill it again', async () => {
    const { convert, credit, shown, sound } = await offer();
    const deposit = await convert({ part: 'deposit', percent: 30 });
    await credit(deposit, { amount: 500, reason: 'goodwill' });
    await credit(deposit, { amount: 100, reason: 'return' });
    expect(await shown()).toMatchObject({ left_to_bill: 3500, invoices: [{ amount: 1500, corrected: 0 }] });
    expect(await convert({ part: 'final' })).toMatchObject({ amount: 3500 });
    await sound();
  });

  test('when the rest of one is corrected after goodwill, then what was given up stays billed', async () => {
    const { convert, credit, shown, sound } = await offer();
    const deposit = await convert({ part: 'deposit', percent: 30 });
    await credit(deposit, { amount: 500, reason: 'goodwill' });
    await credit(deposit);
    expect(await shown()).toMatchObject({ left_to_bill: 4500, invoices: [{ status: 'Cancelled', corrected: 1000 }] });
    await sound();
  });

  test('when a part changes while the final is a draft, then that is 409 to send until it is recalculated', async () => {
    const { convert, credit, api, sound, shown } = await offer();
    const deposit = await convert({ part: 'deposit', percent: 30 });
    const final = await convert({ part: 'final', status: 'Draft' });
    const patch = async (body: object) => {
      const { status, body: answer } = await api.patch(`/api/v1/invoices/${final.id}`, body);
      return [status, answer.error ?? answer.data, answer.details];
    };
    await credit(deposit, { amount: 500 });
    expect(await patch({ status: 'Sent' })).toMatchObject([
      409,
      'Cannot send INV-0002: INV-0001 has changed since. Recalculate it, or delete it and convert again',
    ]);
    expect(await patch({ recalculate: true, line_items: [line('x', 1)] })).toEqual([
      400,
      'Validation failed',
      { recalculate: ['recalculate must not stand beside line_items'] },
    ]);
    expect(await patch({ recalculate: true, status: 'Sent' })).toMatchObject([200, { amount: 4000, status: 'Sent' }]);
    expect((await shown()).left_to_bill).toBe(0);
    expect(await patch({ recalculate: true })).toMatchObject([
      409,
      'Can only recalculate the final invoice of a quote with Draft status',
    ]);
    await sound();
  });

  test('when the rate of a draft final is changed, then what it takes off keeps the rate of its part', async () => {
    const { convert, api } = await offer();
    await convert({ part: 'deposit', percent: 30 });
    const final = await convert({ part: 'final', status: 'Draft' });
    const { body } = await api.patch(`/api/v1/invoices/${final.id}`, { tax_rate: 10 });
    expect(body.data.taxes).toMatchObject([
      { rate: 20, taxable: -1500, tax: -300 },
      { rate: 10, taxable: 5000, tax: 500 },
    ]);
  });

  test('when an amount stands beside lines of two rates, then they share the difference, on the invoice as on the quote', async () => {
    const line_items = [line('Mill', 1000), line('Book', 500, { tax_rate: 7 })];
    const { convert, shown, sound } = await offer({ amount: 1200, line_items });
    const { taxes } = await shown();
    expect(taxes).toMatchObject([
      { rate: 20, taxable: 800 },
      { rate: 7, taxable: 400 },
    ]);
    expect(await convert({ part: 'full' })).toMatchObject({ amount: 1200, taxes });
    await sound();
  });

  test('when prices include the tax, then parts are audited by what was agreed', async () => {
    const lines = { amount: undefined, prices_include_tax: true, line_items: [line('Mill', 100)] };
    const { convert, credit, shown, sound } = await offer({ ...lines, amount: 100 });
    const deposit = await convert({ part: 'deposit', percent: 50 });
    await convert({ part: 'final' });
    await sound();
    await credit(deposit, { line_items: [line('Half', 25)] });
    expect((await shown()).left_to_bill).toBe(25);
    await convert({ part: 'progress', amount: 25 });
    await sound();
  });
});

describe('a part of a fixed amount', () => {
  async function fixed() {
    const w = await world();
    const project = await w.post('projects', {
      client_id: w.client_id,
      name: 'Website',
      billing: 'fixed',
      fixed_amount: 1000,
    });
    const bill = (body: object) => w.post(`projects/${project.id}/bill`, { status: 'Sent', ...body });
    return { ...w, bill, left: async () => (await w.get(`projects/${project.id}`)).left_to_bill };
  }

  test('when a part is corrected, then so much can be billed again; goodwill lowers the price', async () => {
    const { bill, credit, left, get, sound } = await fixed();
    const part = await bill({ percent: 30 });
    await credit(part, { amount: 50, reason: 'goodwill' });
    expect(await left()).toBe(700);
    await credit(part, { amount: 100 });
    expect([await left(), await get(`invoices/${part.id}`)]).toMatchObject([
      800,
      { fixed_part: { amount: 300, corrected: 100 } },
    ]);
    await sound();
    expect(await bill({})).toMatchObject({ amount: 800 });
    await credit(part);
    expect(await left()).toBe(150);
    await sound();
  });

  test('when the invoice bills more, then named lines count, and other credits as far as they exceed the other lines', async () => {
    const { bill, credit, left, api, sound } = await fixed();
    const part = await bill({ amount: 300, extra_lines: [line('Paper', 50)] });
    await credit(part, { line_items: [line('Part', 40, { line: 1 })] });
    expect(await left()).toBe(740);
    await credit(part, { amount: 45 });
    expect(await left()).toBe(740);
    await credit(part, { amount: 10 });
    expect(await left()).toBe(745);
    await sound();
    await api.patch(`/api/v1/invoices/${part.id}`, { status: 'Cancelled' });
    expect(await left()).toBe(1000);
    await sound();
  });

  test.each([
    ['by its line', [{ line_items: [line('Part', 500, { line: 1, quantity: 0.6 })] }], 300],
    ['by its price', [{ line_items: [line('Reduction', 60, { line: 1 })] }], 60],
    ['by another line', [{ line_items: [line('Paper', 100, { line: 2 })] }], 0],
    // The other line takes 83.33 of 333.33, and 250.00 after the discount of a sixth were 300.00 before it.
    ['by an amount', [{ amount: 333.33 }], 300],
    ['line by line, then by amount', [{ line_items: [line('Paper', 100, { line: 2 })] }, { amount: 250 }], 300],
    ['by amounts', [{ amount: 83.33 }, { amount: 0.03 }, { amount: 249.97 }], 300],
  ])(
    'when an invoice with a discount is corrected %s, then so much of the part before the discount can be billed again',
    async (_what, credits, corrected) => {
      const { bill, credit, left, api, sound, get } = await fixed();
      const draft = await bill({ amount: 500, status: 'Draft' });
      const lines = { line_items: [line('Part', 500), line('Paper', 100)], discount_amount: 100 };
      const { status, body } = await api.patch(`/api/v1/invoices/${draft.id}`, { ...lines, status: 'Sent' });
      expect([status, body.data?.amount]).toEqual([200, 500]);
      for (const one of credits) await credit(draft, one);
      expect(await left()).toBe(500 + corrected);
      expect((await get(`invoices/${draft.id}`)).fixed_part).toMatchObject({ amount: 500, corrected });
      await sound();
      expect(await bill({})).toMatchObject({ amount: 500 + corrected });
      expect(await left()).toBe(0);
      await credit(draft);
      expect(await left()).toBe(500 - corrected);
      await sound();
    },
  );
});

test('when the rest of an invoice was credited or written off, then its paper shows what was paid, and what is written off is not cancelled', async () => {
  const { issue, credit, pay, api } = await world();
  const print = async (invoice: AnyRecord) => {
    expect((await api.get(`/api/v1/invoices/${invoice.id}/pdf?copy=current`)).status).toBe(200);
    return gateway.printed();
  };
  const paid = await issue({ amount: 120 });
  await credit(paid, { amount: 108, reason: 'goodwill' });
  await pay(paid, 12);
  expect(await print(paid)).toMatchObject({ mark: 'paid', amount: 120, amountPaid: 12, amountCredited: 108 });
  const lost = await issue({ amount: 120 });
  await api.post(`/api/v1/invoices/${lost.id}/write-off`, { reason: 'Insolvent' });
  expect(await print(lost)).toMatchObject({ mark: 'written_off', amountWrittenOff: 120 });
});
