// Discount, shipping, notes and terms of whole quotes and invoices: kept, changed, converted, repeated, credited and announced.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { auditBilledOnce } from '#libs/billing/audits/billed-once-audit.ts';
import { auditLedger } from '#libs/billing/audits/ledger-audit.ts';
import { addDays, dayIn } from '#libs/day.ts';
import { callerOf, startGateway, type TestGateway, type Verbs, verbsOf } from '../../support/gateway.ts';
import { type AnyRecord, lastEvent } from '../../support/records.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

type Reply = AnyRecord;

interface Studio {
  id: string;
  api: Verbs;
  client_id: string;
  post(path: string, body?: object): Promise<[number, Reply]>;
  patch(path: string, body: object): Promise<[number, Reply]>;
}

/** A new account with one client. */
async function studio(): Promise<Studio> {
  const { id, key } = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, key));
  const client_id = (await api.post('/api/v1/clients', { name: 'Ada', email: 'ada@example.com' })).body.data.id;
  const of = ({ status, body }: { status: number; body: { data: Reply } & Reply }): [number, Reply] => [
    status,
    status < 300 ? body.data : body,
  ];
  return {
    ...{ id, api, client_id },
    post: async (path, body = {}) => of(await api.post(`/api/v1/${path}`, body)),
    patch: async (path, body) => of(await api.patch(`/api/v1/${path}`, body)),
  };
}

const MIXED = [
  { description: 'Design', quantity: 1, rate: 1_000 },
  { description: 'Book', quantity: 1, rate: 500, tax_rate: 5 },
];
const CHARGED = {
  currency: 'EUR',
  tax_rate: 20,
  line_items: MIXED,
  discount_percent: 10,
  shipping_amount: '30.00',
  shipping_tax_rate: 5,
};
const SUMS = {
  amount: 1_380,
  subtotal: 1_500,
  discount_amount: 150,
  discount_percent: 10,
  shipping_amount: 30,
  total: 1_584,
};

async function invoiceOf({ client_id, post }: Studio, fields: object = {}): Promise<Reply> {
  const [status, invoice] = await post('invoices', { client_id, due_date: '2099-12-31', ...CHARGED, ...fields });
  if (status !== 201) throw new Error(JSON.stringify(invoice));
  return invoice;
}

test('when an invoice has a discount, shipping and texts, then response, list, dry run and event have them, and all sums agree', async () => {
  const own = await studio();
  const texts = { notes: 'Thank you', terms: 'Goods stay ours until they are paid' };
  const invoice = await invoiceOf(own, texts);
  expect(invoice).toMatchObject({
    ...SUMS,
    ...texts,
    shipping_tax_rate: 5,
    shipping_tax_category: null,
    tax_amount: 204,
  });
  expect(invoice['taxes']).toMatchObject([
    { rate: 20, taxable: 900, tax: 180 },
    { rate: 5, taxable: 480, tax: 24 },
  ]);
  const { data: event } = await lastEvent(own.id);
  expect(event).toMatchObject({ ...SUMS, ...texts });
  expect((await own.api.get('/api/v1/invoices')).body.data).toMatchObject([{ ...SUMS, ...texts }]);
  const dry = await own.post('invoices?dry_run=true', { client_id: own.client_id, due_date: '2099-12-31', ...CHARGED });
  expect(dry).toMatchObject([200, { ...SUMS, id: null, notes: null, terms: null }]);
});

test('when a caller sends what the specification has, then amount and subtotal are the sum of the lines as ever', async () => {
  const own = await studio();
  const plain = { discount_percent: null, shipping_amount: null, shipping_tax_rate: null };
  expect(await invoiceOf(own, plain)).toMatchObject({
    amount: 1_500,
    subtotal: 1_500,
    discount_amount: 0,
    shipping_amount: 0,
  });
  expect(await invoiceOf(own, { ...plain, amount: 7, line_items: null })).toMatchObject({ amount: 7, subtotal: 7 });
});

test('when a discount has no lines to be taken off, or is more than they sum to, then 400 names it in the form of the operation', async () => {
  const { client_id, post } = await studio();
  const bare = { client_id, amount: 100, discount_amount: 10 };
  expect(await post('invoices', { ...bare, due_date: '2099-12-31' })).toMatchObject([
    400,
    { details: { discount_amount: ['discount_amount needs line_items'] } },
  ]);
  expect(await post('quotes', bare)).toMatchObject([400, { details: ['discount_amount needs line_items'] }]);
  const over = { ...bare, amount: 1_500, line_items: MIXED, discount_amount: 1_501 };
  expect(await post('quotes', over)).toMatchObject([
    400,
    { details: ['discount_amount must not be more than the sum of line_items'] },
  ]);
  expect(await post('quotes', { ...over, discount_amount: -1 })).toMatchObject([
    400,
    { details: ['discount_amount must be greater than or equal to 0'] },
  ]);
});

describe('a draft', () => {
  test('when its lines change, then the percentage follows them; an amount replaces it, and null takes it back', async () => {
    const own = await studio();
    const path = `invoices/${(await invoiceOf(own)).id}`;
    const lines = { line_items: [MIXED[0]] };
    expect(await own.patch(path, lines)).toMatchObject([200, { amount: 930, subtotal: 1_000, discount_amount: 100 }]);
    expect(await own.patch(path, { discount_amount: 7.5 })).toMatchObject([
      200,
      { amount: 1_022.5, discount_amount: 7.5, discount_percent: null },
    ]);
    expect(await own.patch(path, { shipping_amount: null })).toMatchObject([
      200,
      { amount: 992.5, shipping_amount: 0, shipping_tax_rate: null },
    ]);
    expect(await own.patch(path, { discount_amount: null })).toMatchObject([
      200,
      { amount: 1_000, discount_amount: 0 },
    ]);
  });

  test('when the whole record is sent back, then nothing changes and nothing is announced', async () => {
    const own = await studio();
    const { id, updated_at, ...record } = await invoiceOf(own, { notes: 'Thank you' });
    const { client, project, ...body } = record as Record<string, unknown>;
    expect(await own.patch(`invoices/${id}`, body)).toMatchObject([200, { updated_at, ...SUMS }]);
    expect(client).not.toBe(project);
  });

  test('when it is sent, then discount, shipping and texts stay as they are', async () => {
    const own = await studio();
    const { id } = await invoiceOf(own, { status: 'Sent', notes: 'Thank you' });
    for (const [name, value] of Object.entries({ discount_amount: 1, shipping_amount: 1, notes: 'x', terms: 'x' })) {
      expect(await own.patch(`invoices/${id}`, { [name]: value })).toEqual([
        409,
        expect.objectContaining({ error: expect.stringContaining(`Cannot change ${name} after the invoice was sent`) }),
      ]);
    }
  });

  test('when texts could not be printed, then 422 says so', async () => {
    const own = await studio();
    const { id } = await invoiceOf(own);
    const endless = '\n'.repeat(19_999);
    expect(await own.patch(`invoices/${id}`, { notes: `a${endless}`, terms: null })).toMatchObject([422, {}]);
  });
});

describe('a quote', () => {
  async function quoteOf({ client_id, post }: Studio, fields: object = {}) {
    const [status, quote] = await post('quotes', { client_id, amount: 1_500, ...CHARGED, ...fields });
    if (status !== 201) throw new Error(JSON.stringify(quote));
    return quote;
  }

  test('when it is converted in full, then the invoice has its discount, its shipping and its texts', async () => {
    const own = await studio();
    const texts = { notes: 'Thank you', terms: 'Two weeks' };
    const quote = await quoteOf(own, texts);
    expect(quote).toMatchObject({ ...SUMS, ...texts, left_to_bill: 1_380 });
    const [status, invoice] = await own.post(`quotes/${quote.id}/convert`, { accept: true });
    expect([status, invoice]).toMatchObject([201, { ...SUMS, ...texts, shipping_tax_rate: 5, quote_part: 'full' }]);
    expect(await auditBilledOnce()).toEqual([]);
  });

  test.each([false, true])(
    'when it is billed in parts and prices include tax is %s, then each rate of the parts sums to that of the quote',
    async (prices_include_tax) => {
      const own = await studio();
      const quote = await quoteOf(own, { prices_include_tax, shipping_tax_rate: 7 });
      const path = `quotes/${quote.id}/convert`;
      const made = [
        await own.post(path, { part: 'deposit', percent: 33.3, accept: true, status: 'Sent' }),
        await own.post(path, { part: 'progress', amount: 333.33, status: 'Sent' }),
        await own.post(path, { part: 'final', status: 'Sent' }),
      ];
      expect(made.map(([status]) => status)).toEqual([201, 201, 201]);
      const invoices = made.map(([, invoice]) => invoice) as unknown as { taxes: Tax[]; total: number }[];
      const priced = ({ taxable, tax }: Tax) => (prices_include_tax ? taxable + tax : taxable);
      for (const group of quote['taxes'] as unknown as Tax[]) {
        const same = invoices.flatMap(({ taxes }) => taxes.filter(({ rate }) => rate === group.rate));
        expect(same.reduce((sum, one) => sum + priced(one), 0)).toBeCloseTo(priced(group), 6);
      }
      const [, final] = made[2] as [number, Reply];
      expect(
        (final['line_items'] as unknown as { description: string }[]).map(({ description }) => description),
      ).toEqual(expect.arrayContaining(['Discount (20%)', 'Discount (5%)', 'Shipping']));
      expect((await own.api.get(`/api/v1/quotes/${quote.id}`)).body.data.left_to_bill).toBe(0);
      expect(await auditBilledOnce()).toEqual([]);
    },
  );

  interface Tax {
    rate: number;
    taxable: number;
    tax: number;
  }

  test('when it is changed after it was accepted, then the discount stays and other terms are another offer', async () => {
    const own = await studio();
    const { id } = await quoteOf(own, { status: 'Sent' });
    await own.patch(`quotes/${id}`, { status: 'Accepted' });
    expect(await own.patch(`quotes/${id}`, { discount_percent: 5 })).toMatchObject([
      409,
      { error: 'Cannot change discount_amount, discount_percent of an accepted quote' },
    ]);
    const [, changed] = await own.patch(`quotes/${id}`, { terms: 'Payment in advance' });
    expect(changed['acceptance']).toMatchObject({ changed: true });
  });

  test('when it has another amount than its lines, then a discount needs an amount that says what it is taken off', async () => {
    const own = await studio();
    const plain = { discount_percent: null, shipping_amount: null, shipping_tax_rate: null };
    const { id } = await quoteOf(own, { ...plain, amount: 1_600 });
    expect(await own.patch(`quotes/${id}`, { discount_amount: 100 })).toMatchObject([
      400,
      { details: ['amount must be the sum of line_items, 1500, or 1400, that after discount and shipping'] },
    ]);
    const given = { discount_amount: 100, amount: 1_500 };
    expect(await own.patch(`quotes/${id}`, given)).toMatchObject([200, { amount: 1_400, subtotal: 1_500 }]);
    expect(await own.patch(`quotes/${id}`, { discount_amount: null })).toMatchObject([200, { amount: 1_500 }]);
  });
});

test('when a recurring invoice has a discount, shipping and texts, then each of its invoices has them, filled in', async () => {
  const own = await studio();
  const schedule = { unit: 'month', start_on: dayIn('UTC') };
  const [, recurring] = await own.post('recurring-invoices', {
    ...{ client_id: own.client_id, schedule, notes: 'Thank you in {year}', terms: 'No. {n}' },
    ...CHARGED,
  });
  expect(recurring).toMatchObject({
    discount_percent: 10,
    shipping_amount: 30,
    shipping_tax_rate: 5,
    terms: 'No. {n}',
  });
  const [, invoice] = await own.post(`recurring-invoices/${recurring.id}/run`);
  expect(invoice).toMatchObject({ ...SUMS, notes: `Thank you in ${schedule.start_on.slice(0, 4)}`, terms: 'No. 1' });
  await own.patch(`recurring-invoices/${recurring.id}`, { discount_amount: 5, shipping_amount: null });
  expect((await own.post(`recurring-invoices/${recurring.id}/run`))[1]).toMatchObject({
    amount: 1_495,
    shipping_amount: 0,
  });
  expect(await own.patch(`recurring-invoices/${recurring.id}`, { discount_amount: 5_000 })).toMatchObject([
    400,
    { details: { discount_amount: ['discount_amount must not be more than the sum of line_items'] } },
  ]);
});

test('when time is taken off a draft with a percentage, then its discount follows', async () => {
  const own = await studio();
  const [, project] = await own.post('projects', { name: 'Mill', client_id: own.client_id });
  const date = addDays(dayIn('UTC'), -1);
  const entry = { project_id: project.id, date, hourly_rate: 100 };
  await own.post('time-entries', { ...entry, hours: 2 });
  const [, second] = await own.post('time-entries', { ...entry, hours: 1 });
  const [, invoice] = await own.post('invoices/from-time', { client_id: own.client_id, tax_rate: 20 });
  expect(await own.patch(`invoices/${invoice.id}`, { discount_percent: 50 })).toMatchObject([200, { amount: 150 }]);
  const released = await own.post(`invoices/${invoice.id}/time-entries/release`, { time_entry_ids: [second.id] });
  expect(released).toMatchObject([200, { amount: 100, subtotal: 200, discount_amount: 100 }]);
});

describe('credit notes', () => {
  const issued = (own: Studio, fields: object = {}) => invoiceOf(own, { status: 'Sent', ...fields });
  const credited = async (own: Studio, invoice: Reply, body: object) =>
    own.post(`invoices/${invoice.id}/credit-notes`, { reason: 'correction', ...body });
  const dueOf = async ({ api }: Studio, { id }: Reply) => (await api.get(`/api/v1/invoices/${id}`)).body.data;

  test('when all is credited, then the credit note shows what the invoice shows', async () => {
    const own = await studio();
    const invoice = await issued(own);
    const { discount_percent: _percent, subtotal: _subtotal, ...shown } = SUMS;
    expect(await credited(own, invoice, {})).toMatchObject([201, { ...shown, taxes: invoice['taxes'] }]);
    expect(await dueOf(own, invoice)).toMatchObject({ amount_due: 0, status: 'Cancelled' });
    expect(await auditLedger()).toEqual([]);
  });

  test.each([false, true])(
    'when lines and shipping are credited one by one and prices include tax is %s, then each takes its share of the discount and nothing is left',
    async (prices_include_tax) => {
      const own = await studio();
      const lines = [
        ...[1, 2, 3].map((n) => ({ description: `Part ${n}`, quantity: 1, rate: 0.35 })),
        { description: 'Book', quantity: 1, rate: 500, tax_rate: 5 },
      ];
      const invoice = await issued(own, { line_items: lines, discount_percent: 33.3, prices_include_tax });
      const notes = [];
      for (const [index, line] of lines.entries())
        notes.push(await credited(own, invoice, { line_items: [{ ...line, line: index + 1 }] }));
      notes.push(await credited(own, invoice, { shipping_amount: 30 }));
      expect(notes.map(([status]) => status)).toEqual(notes.map(() => 201));
      expect(await dueOf(own, invoice)).toMatchObject({
        amount_due: 0,
        total_credited: invoice['total'],
        status: 'Cancelled',
      });
      expect(await auditLedger()).toEqual([]);
    },
  );

  test('when more shipping is credited than there is, then 409 says what is left; beside an amount it is 400', async () => {
    const own = await studio();
    const invoice = await issued(own);
    expect(await credited(own, invoice, { shipping_amount: 12.5 })).toMatchObject([
      201,
      { amount: 12.5, shipping_amount: 12.5, discount_amount: 0, taxes: [{ rate: 5, taxable: 12.5 }] },
    ]);
    expect(await credited(own, invoice, { shipping_amount: 17.51 })).toEqual([
      409,
      expect.objectContaining({
        error: `Cannot credit more shipping than is left of ${invoice['invoice_number']}: 17.50`,
      }),
    ]);
    expect((await credited(own, invoice, { shipping_amount: 1, amount: 5 }))[0]).toBe(400);
    expect(
      await credited(own, invoice, { line_items: [{ ...MIXED[0], line: 1 }], shipping_amount: 17.5 }),
    ).toMatchObject([201, { amount: 917.5, discount_amount: 100, shipping_amount: 17.5 }]);
    expect(await credited(own, invoice, {})).toMatchObject([201, { amount: 450 }]);
    expect(await dueOf(own, invoice)).toMatchObject({ amount_due: 0 });
  });
});
