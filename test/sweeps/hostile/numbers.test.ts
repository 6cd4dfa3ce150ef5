// Numbers of every size and notation in every number field, and page sizes in every list: accepted or rejected exactly by the rules.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ENTRY_HOURS_LIMIT } from '#libs/models/accounts/account.ts';
import { count, every, isFull, sampled } from '../../support/form.ts';
import { type Reply, startGateway, type TestGateway } from '../../support/gateway.ts';
import { kindOf, make } from '../../support/operations.ts';
import { expectRefusal } from '../../support/refusal.ts';
import { parametersOf } from '../../support/route-table.ts';
import { callable, type Field, fields, nameOf, senderOf } from './json-fields.ts';
import { accepts, NUMBERS, type Rule, rounded, STORED_DECIMALS } from './numbers-written.ts';

let gateway: TestGateway;
beforeAll(async () => {
  const print = () => Promise.resolve({ bytes: Buffer.from('%PDF-1.7\n%%EOF\n'), warnings: [] });
  gateway = await startGateway({ print: print as never });
});
afterAll(() => gateway.close());

const numbers = fields.filter(({ shape }) => ['number', 'hours'].includes(shape.type));
/** They are stored as they are sent; the others are money, or only printed. */
const KEPT = new Set([
  ...['hours', 'hourly_rate', 'estimated_hours', 'rate', 'tax_rate', 'default_tax_rate'],
  ...['budget_hours', 'budget_amount'],
]);
const STEP = isFull ? 1 : 16;
/** Decimals of the US dollar, the currency of the account. */
const DECIMALS = 2;

test('when the corpus is counted, then it has 60 numbers for at least 12 fields', () => {
  expect(new Set(NUMBERS).size).toBeGreaterThanOrEqual(60);
  expect(numbers.length).toBeGreaterThanOrEqual(12);
});

/** Operations that are also limited by a balance. */
const OF_BALANCES = new Set([
  'convertQuote',
  'createPayment',
  'payInvoice',
  'allocatePayment',
  'refundPayment',
  'writeOffInvoice',
  'billProject',
  'creditInvoice',
  'allocateCreditNote',
  'refundCreditNote',
]);

/** Money that is rejected when it has more decimals than its currency, and the ports of mail. */
const EXACT = new Set([
  'setMailServer port',
  'updateAccount total_rounding',
  'createProject fixed_amount',
  'updateProject fixed_amount',
  'createExpense amount',
  'updateExpense amount',
  'createHourPackage amount',
  'updateHourPackage amount',
]);

describe.each(sampled(numbers).map((field, index) => [nameOf(field), field, index] as const))(
  '%s',
  (_name, field, index) => {
    test('when it is any JSON number, then it is accepted exactly when its rules allow it, and returned as it was sent', async () => {
      // The highest limit that an account can set: the previous numbers may have left another one.
      await gateway.patch('/api/v1/account', { max_entry_hours: ENTRY_HOURS_LIMIT });
      let sender = await senderOf(gateway, field.row);
      const literals = every(NUMBERS, STEP, index);
      for (const literal of literals) {
        const what = `${nameOf(field)} = ${literal.slice(0, 40)}`;
        const reply = await sender.send(sender.bodyWith(field, literal));
        const isAccepted = accepts((field.shape.rules ?? []) as Rule[], literal);
        // Besides the rules of the field, a balance or the decimals of the currency may decide.
        const isOfBalances = OF_BALANCES.has(field.row.operation);
        const mayBeRejected = isOfBalances || EXACT.has(nameOf(field));
        if (!isAccepted || (mayBeRejected && reply.status >= 300)) expectRefusal(reply, what);
        else if (!isOfBalances) expectAccepted(reply, field, literal, what);
        // Some operations are possible only once for a record, so the next number gets another one.
        if (reply.status < 300) sender = await senderOf(gateway, field.row);
      }
      count('numbers', literals.length);
    });

    test('when it is a number in another type, then 4xx', async () => {
      const sender = await senderOf(gateway, field.row);
      const others = [
        '"1"',
        '"1.5"',
        '" 1"',
        '"1e2"',
        '"0x10"',
        '"١"',
        '""',
        '"NaN"',
        '"Infinity"',
        'true',
        'false',
        '[1]',
        '{"a":1}',
        '[]',
      ];
      // For printing a quantity or price may be text, and an empty value counts as missing.
      const isText = field.row.operation === 'generatePdf';
      // Hours may be text, in decimals too.
      const isHours = field.shape.type === 'hours';
      const wrong = others.filter((other) => {
        if (isText) return other.startsWith('[') || other.startsWith('{');
        return !(isHours && /^" ?1/.test(other) && other !== '"1e2"');
      });
      for (const literal of every(wrong, isFull ? 1 : 4, index)) {
        expectRefusal(await sender.send(sender.bodyWith(field, literal)), `${nameOf(field)} = ${literal}`);
        count('numbers', 1);
      }
    });
  },
);

function expectAccepted(reply: Reply, { path, row }: Field, literal: string, what: string) {
  const [name] = path as [string];
  // Lines that are valid by themselves may have an invalid sum, which is rejected, and the percentage of a discount too many decimals.
  if (path.length > 1 && reply.status === 400) {
    const others = expect.stringMatching(/sum|too large|at most 2 decimals/);
    expect([what, Object.values(reply.body.details).flat()]).toEqual([what, [others]]);
    return;
  }
  // No other limit may apply, such as one of the currency's smallest units or of hours in seconds.
  expect([what, reply.status < 300, reply.status, reply.body.details]).toEqual([what, true, reply.status, undefined]);
  if (path.length > 1 || row.operation === 'generatePdf') return;
  const returned = reply.body.data[name];
  if (KEPT.has(name)) expect([what, returned]).toEqual([what, rounded(literal, STORED_DECIMALS)]);
  // With lines their sum counts.
  else if (name === 'amount' && !reply.body.data.line_items)
    expect([what, returned]).toEqual([what, rounded(String(rounded(literal, STORED_DECIMALS)), DECIMALS)]);
}

/** A text and the number it means, or undefined when it is invalid. */
const PAGES: readonly (readonly [string, number | undefined])[] = [
  ...[
    '-1',
    '-0',
    '1.5',
    '1.0',
    '1e2',
    '1E2',
    '0x10',
    '0b1',
    '0o7',
    ' 5',
    '5 ',
    '\t5',
    '+5',
    '',
    'x',
    'NaN',
    'Infinity',
    'null',
  ].map((text) => [text, undefined] as const),
  ...[
    'true',
    '٣',
    '５',
    '1_000',
    '1,000',
    '1;2',
    '9'.repeat(16),
    '9'.repeat(30),
    '[]',
    '[1]',
    '{}',
    '5n',
    '"5"',
    '--5',
    '5-',
  ].map((text) => [text, undefined] as const),
  ['1', 1],
  ['01', 1],
  ['0007', 7],
  ['50', 50],
  ['99', 99],
  ['100', 100],
  ['101', 101],
  ['1000000000', 1e9],
];

describe.each(
  callable.filter((row) => 'limit' in parametersOf(row)).map((row, index) => [row.operation, row, index] as const),
)('%s', (_operation, row, index) => {
  test('when its page is sent in any notation, then only plain digits within the rules are accepted', async () => {
    const id = row.path.includes('{id}') ? await make(gateway, kindOf(row.path), gateway.account, 'own-') : '';
    const at = (query: string) => gateway.get(`${row.path.replace('{id}', id)}?${query}`);
    for (const [text, meant] of every(PAGES, isFull ? 1 : 6, index)) {
      for (const name of ['limit', 'offset'].filter((parameter) => parameter in parametersOf(row))) {
        const reply = await at(`${name}=${encodeURIComponent(text)}`);
        count('numbers', 1);
        if (meant === undefined) expectRefusal(reply, `${name}=${text}`);
        else {
          const expected = name === 'limit' ? Math.min(meant, 100) : meant;
          expect([name, text, reply.status, reply.body.pagination?.[name]]).toEqual([name, text, 200, expected]);
        }
      }
    }
    expect((await at('limit=0')).status).toBe(400);
    if ('offset' in parametersOf(row)) {
      expect((await at('offset=0')).status).toBe(200);
      expect((await at('offset=1000000001')).status).toBe(400);
    }
  });
});
