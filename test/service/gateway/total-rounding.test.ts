// Totals rounded to 0.05: what is due, paid, credited, printed and balanced is the rounded total, to exactly nothing at the end.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addDays, dayIn } from '#libs/day.ts';
import { type PrintingGateway, startPrintingGateway } from '../../support/gateway.ts';
import { openOwnAccount } from '../../support/own-account.ts';
import type { AnyRecord } from '../../support/records.ts';

let gateway: PrintingGateway;
beforeAll(async () => {
  gateway = await startPrintingGateway();
});
afterAll(() => gateway.close());

async function zurich() {
  const own = await openOwnAccount(gateway, { currency: 'CHF', total_rounding: 0.05 });
  const { post, get } = own;
  const client_id = (await post('clients', { name: 'Ada', email: 'ada@example.com' })).id as string;
  return {
    ...own,
    client_id,
    issue: (rate: number, fields: object = {}) =>
      post('invoices', {
        client_id,
        due_date: '2099-01-31',
        status: 'Sent',
        line_items: [{ description: 'Design', quantity: 1, rate }],
        ...fields,
      }),
    credit: (invoice: AnyRecord, body: object = {}) =>
      post(`invoices/${invoice.id}/credit-notes`, { reason: 'correction', ...body }),
    due: async (as_of = '') => (await get(`clients/${client_id}/balance${as_of}`)).balances[0]?.due ?? 0,
  };
}

test('when an invoice is rounded, then what is due, paid, listed and balanced is the rounded total', async () => {
  const { issue, post, get, api, due, sound } = await zurich();
  const invoice = await issue(9.27, { tax_rate: 8.1 });
  expect(invoice).toMatchObject({
    amount: 9.27,
    tax_amount: 0.75,
    total: 10.02,
    rounding_amount: -0.02,
    amount_due: 10,
  });
  expect(await due()).toBe(10);
  expect(await due(`?as_of=${dayIn('UTC')}`)).toBe(10);
  expect((await api.post(`/api/v1/invoices/${invoice.id}/payments`, { amount: 4 })).status).toBe(201);
  expect(await get(`invoices/${invoice.id}/payments`)).toMatchObject({
    total: 10.02,
    rounding_amount: -0.02,
    amount_due: 6,
  });
  await sound();
  expect(await post(`invoices/${invoice.id}/payments`, {})).toMatchObject({ amount: 6, unallocated: 0 });
  expect(await get(`invoices/${invoice.id}`)).toMatchObject({ status: 'Paid', amount_due: 0 });
  expect(await due()).toBe(0);
  await sound();
  expect(await issue(9.98)).toMatchObject({ rounding_amount: 0.02, amount_due: 10 });
  expect(await issue(10)).toMatchObject({ rounding_amount: 0, amount_due: 10 });
  expect(await issue(0.02)).toMatchObject({ rounding_amount: 0, amount_due: 0.02 });
  expect(await issue(9.98, { currency: 'EUR' })).toMatchObject({ rounding_amount: 0, amount_due: 9.98 });
  expect(await issue(9.98, { prices_include_tax: true, tax_rate: 8.1 })).toMatchObject({ total: 9.98, amount_due: 10 });
  await sound();
});

test('when it is printed, then the rounding has a row of its own, and the total contains it', async () => {
  const { issue, api, credit } = await zurich();
  const invoice = await issue(9.27, { tax_rate: 8.1 });
  await api.get(`/api/v1/invoices/${invoice.id}/pdf`);
  expect(gateway.printed()).toMatchObject({ taxAmount: 0.75, roundingAmount: -0.02, amount: 10 });
  const note = await credit(invoice);
  await api.get(`/api/v1/credit-notes/${note.id}/pdf`);
  expect(gateway.printed()).toMatchObject({ taxAmount: -0.75, roundingAmount: 0.02, amount: -10 });
});

test('when a quote is rounded, then its invoice is, too; parts are rounded each by itself', async () => {
  const { post, get, api, client_id, sound } = await zurich();
  const offer = () => post('quotes', { client_id, amount: 99.97, tax_rate: 8.1, status: 'Sent' });
  const quote = await offer();
  expect(quote).toMatchObject({ total: 108.07, rounding_amount: -0.02, amount_due: 108.05 });
  await api.get(`/api/v1/quotes/${quote.id}/pdf`);
  expect(gateway.printed()).toMatchObject({ roundingAmount: -0.02, amount: 108.05 });
  expect(await post(`quotes/${quote.id}/convert`, { accept: true })).toMatchObject({ amount_due: 108.05 });
  const other = await offer();
  const convert = (body: object) => post(`quotes/${other.id}/convert`, { accept: true, status: 'Sent', ...body });
  const dues = [await convert({ part: 'deposit', percent: 30 }), await convert({ part: 'final' })];
  for (const { total, rounding_amount, amount_due } of dues) {
    expect(Math.round(amount_due * 100) % 5).toBe(0);
    expect(amount_due).toBeCloseTo(total + rounding_amount, 8);
  }
  expect((await get(`quotes/${other.id}`)).left_to_bill).toBe(0);
  await sound();
});

test('when the account changes its step, then issued invoices stay, and drafts follow when their money is changed', async () => {
  const { issue, api, get } = await zurich();
  const issued = await issue(9.98);
  const draft = await issue(9.98, { status: 'Draft' });
  await api.patch('/api/v1/account', { total_rounding: null });
  expect(await get(`invoices/${issued.id}`)).toMatchObject({ amount_due: 10 });
  const { body } = await api.patch(`/api/v1/invoices/${draft.id}`, { tax_rate: 0, line_items: issued.line_items });
  expect(body.data).toMatchObject({ rounding_amount: 0, amount_due: 9.98 });
});

test('when the step is no whole number of the smallest unit, then it is 400', async () => {
  const { api } = await zurich();
  const refused = async (body: object) => (await api.patch('/api/v1/account', body)).body.details;
  expect(await refused({ total_rounding: 0.125 })).toEqual({
    total_rounding: ['total_rounding must not have more than 2 decimals in CHF'],
  });
  expect(await refused({ currency: 'JPY' })).toEqual({
    total_rounding: ['total_rounding must not have more than 0 decimals in JPY'],
  });
  expect(await refused({ total_rounding: 0 })).toHaveProperty('total_rounding');
  expect((await api.patch('/api/v1/account', { currency: 'JPY', total_rounding: 10 })).status).toBe(200);
});

describe('credit notes', () => {
  test.each([
    ['down', 9.27, [{ amount: 3 }, { amount: 4.01 }]],
    ['up', 9.23, [{ amount: 3 }, { amount: 4.01 }]],
    ['down, all but the last cent of it', 9.27, [{ amount: 9.25 }]],
    ['up, all but the last cent of it', 9.23, [{ amount: 9.22 }]],
    ['by line', 9.27, [{ line_items: [{ description: 'Design', quantity: 0.4, rate: 9.27, line: 1 }] }]],
  ])(
    'when a total rounded %s is credited in parts, then the last takes the rest, and nothing is due',
    async (_way, rate, parts) => {
      const { issue, credit, get, api, due, sound } = await zurich();
      for (const reason of ['correction', 'goodwill']) {
        const invoice = await issue(rate, { tax_rate: 8.1 });
        for (const body of parts) {
          await credit(invoice, { ...body, reason });
          await sound();
        }
        await api.post(`/api/v1/invoices/${invoice.id}/credit-notes`, { reason });
        const { amount_due, total_credited, status } = await get(`invoices/${invoice.id}`);
        expect([amount_due, total_credited, status]).toEqual([0, invoice.amount_due, 'Cancelled']);
        await sound();
      }
      expect(await due()).toBe(0);
      expect(await due(`?as_of=${addDays(dayIn('UTC'), -1)}`)).toBe(0);
    },
  );

  test('when the invoice was paid, then a full credit is what was paid, and can be refunded to nothing', async () => {
    const { issue, post, credit, get, sound } = await zurich();
    const invoice = await issue(9.23, { tax_rate: 8.1 });
    await post(`invoices/${invoice.id}/payments`, {});
    const note = await credit(invoice, { settle: 'refund' });
    expect(note).toMatchObject({ total: 9.98, rounding_amount: 0.02, refunded: 10, unallocated: 0 });
    expect(await get(`invoices/${invoice.id}`)).toMatchObject({ total_credited: 10 });
    await sound();
  });
});

test('when a last piece is worth less than the total was rounded down, then it is credited, too', async () => {
  const { post, credit, get, client_id, due, sound } = await zurich();
  const line_items = [
    { description: 'Design', quantity: 1, rate: 10 },
    { description: 'Stamp', quantity: 1, rate: 0.02 },
  ];
  const of = { client_id, due_date: '2099-01-31', status: 'Sent', line_items };
  const invoice = await post('invoices', of);
  expect(invoice).toMatchObject({ total: 10.02, rounding_amount: -0.02, amount_due: 10 });
  const [first, last] = [
    await credit(invoice, { line_items: [{ ...line_items[0], line: 1 }] }),
    await credit(invoice, { line_items: [{ ...line_items[1], line: 2 }] }),
  ];
  expect([first.amount + last.amount, first.rounding_amount + last.rounding_amount]).toEqual([10.02, -0.02]);
  expect(await get(`invoices/${invoice.id}`)).toMatchObject({ status: 'Cancelled', total_credited: 10, amount_due: 0 });
  expect(await due()).toBe(0);
  await sound();
});
