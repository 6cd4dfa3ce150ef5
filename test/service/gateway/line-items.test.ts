// Line items are accepted as responses write them, and every decimal may be a number or a plain decimal string.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { runs } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type AnyRecord, answerOf, create, createClient } from '../../support/records.ts';

let gateway: TestGateway;
let client_id: string;
beforeAll(async () => {
  gateway = await startGateway();
  client_id = (await createClient(gateway)).id;
});
afterAll(() => gateway.close());

const invoices = '/api/v1/invoices';
const makeInvoice = (line_items: object[]) =>
  create(gateway, invoices, { client_id, due_date: '2031-01-01', line_items });
const post = (kind: 'invoices' | 'quotes', line: object) =>
  gateway.post(`/api/v1/${kind}`, {
    client_id,
    due_date: '2031-01-01',
    amount: 1,
    line_items: [{ description: 'x', quantity: 1, rate: 1, ...line }],
  });

test('when the lines of an invoice are read, then they can be sent back unchanged, to it and to new documents', async () => {
  const made = await makeInvoice([
    { description: 'D', quantity: 2.5, rate: 99.99, discount: 10 },
    { description: 'Credit', quantity: -1, rate: 0.3 },
  ]);
  const { line_items, amount } = (await gateway.get(`${invoices}/${made.id}`)).body.data;
  const patched = await gateway.patch(`${invoices}/${made.id}`, { line_items });
  const quote = await create(gateway, '/api/v1/quotes', { client_id, amount, line_items });

  expect([patched.status, patched.body.data.line_items, patched.body.data.amount]).toEqual([200, line_items, amount]);
  expect(await makeInvoice(line_items)).toMatchObject({ line_items, amount });
  expect(quote.line_items).toEqual(line_items);
});

test('when lines hold any decimals, then the returned lines can be sent again and are returned the same', async () => {
  const decimal = (whole: number) =>
    fc
      .tuple(fc.integer({ min: -whole, max: whole }), fc.nat({ max: 999_999_999_999 }), fc.integer({ min: 1, max: 12 }))
      .map(([before, after, digits]) => `${before}.${String(after).padStart(12, '0').slice(0, digits)}`);
  const line = fc.record({
    description: fc.constant('x'),
    qty: decimal(9_999),
    rate: decimal(9_999),
    discount: fc.integer({ min: 0, max: 100 }).map(String),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 20 }), async (lines) => {
      // An invoice cannot be negative: this line keeps the sum above zero.
      const first = await makeInvoice([...lines, { description: 'Sum', quantity: 1, rate: 1e11 }]);
      const again = await makeInvoice(first.line_items);

      expect(again.line_items).toEqual(first.line_items);
      expect(again.amount).toBe(first.amount);
    }),
    runs(25),
  );
});

test('when a decimal has more digits than a double, then it keeps them', async () => {
  const { line_items } = await makeInvoice([
    { description: 'x', qty: '123456789.123456789012', rate: '0.01', discount: '0.00' },
  ]);

  expect(line_items).toEqual([{ description: 'x', qty: '123456789.123456789012', rate: '0.01', discount: '0' }]);
});

describe('invalid decimals', () => {
  const odd = [
    '',
    ' 1',
    '1 ',
    '+1',
    '1.',
    '.5',
    '1e3',
    '0x10',
    '1,5',
    '١',
    'NaN',
    'Infinity',
    '--1',
    `1.${'0'.repeat(13)}`,
  ];
  test.each(odd)('when a string is %j, then 400 for each of the fields', async (value) => {
    const message = (name: string) => `line_items[0].${name} must be a number or a plain decimal such as "1.50"`;
    const invoice = await post('invoices', { quantity: value, rate: value, discount: value });
    const quote = await post('quotes', { quantity: undefined, qty: value });

    expect(answerOf(invoice)).toMatchObject([
      400,
      {
        error: 'Validation failed',
        details: Object.fromEntries(
          ['quantity', 'rate', 'discount'].map((name) => [`line_items.0.${name}`, [message(name)]]),
        ),
      },
    ]);
    expect(answerOf(quote)).toEqual([
      400,
      expect.objectContaining({ error: 'Validation failed', details: [message('qty')] }),
    ]);
  });

  test('when a string is beyond the bounds of its field, then it is rejected as a number is', async () => {
    const fields = { quantity: '1000000000.000000000001', rate: '-1000000000000.5', discount: '100.000000000001' };
    const { details } = (await post('invoices', fields)).body;

    expect(details).toEqual({
      'line_items.0.quantity': ['line_items[0].quantity must be less than or equal to 1000000000'],
      'line_items.0.rate': ['line_items[0].rate must be greater than or equal to -1000000000000'],
      'line_items.0.discount': ['line_items[0].discount must be less than or equal to 100'],
    });
  });

  test('when amounts and rates outside of lines are strings, then they are rejected', async () => {
    const reply = await gateway.post(invoices, { client_id, due_date: '2031-01-01', amount: '1', tax_rate: '1' });

    expect(Object.keys((reply.body as AnyRecord).details).toSorted()).toEqual(['amount', 'tax_rate']);
  });
});
