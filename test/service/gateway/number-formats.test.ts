// Number formats of an account: per kind, from a start, restarting yearly, and never a duplicate when the format changes.
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { dayIn } from '#libs/day.ts';
import { Account } from '#libs/models/accounts/account.ts';
import { NumberLedger } from '#libs/models/billing/number-ledger.ts';
import { driverOf } from '#libs/models/records.ts';
import { newId, storedId } from '#libs/models/tenant.ts';
import { numberedAccount } from '../../support/numbered-account.ts';
import { ONLY_DATE } from '../../support/on-day.ts';
import { type AnyRecord, answerOf, create } from '../../support/records.ts';

const { own, invoice, quote, audit } = numberedAccount();
const year = dayIn('UTC').slice(0, 4);
const month = dayIn('UTC').slice(5, 7);

const format = (number_formats: object | null) => own.gateway.patch('/api/v1/account', { number_formats }, own.account);
const formatted = async (given: object) => {
  const { status, body } = await format({ invoice: given });
  expect([status, body.error]).toEqual([200, undefined]);
};
const numbers = async (count: number) => {
  const made: string[] = [];
  for (let index = 0; index < count; index += 1) made.push((await invoice()).invoice_number);
  return made;
};
const dated = (issue_date: string) =>
  create(
    own.gateway,
    '/api/v1/invoices',
    { client_id: own.client.id, amount: 1, due_date: '2031-01-01', issue_date },
    own.account,
  );

afterEach(() => {
  jest.useRealTimers();
});

test('when no format is set, then numbers have the default format, and the account shows it', async () => {
  const { number_formats } = (await own.gateway.get('/api/v1/account', own.account)).body.data;

  expect(number_formats).toEqual({
    invoice: { prefix: 'INV-', padding: 4, start: 1, restart: 'never' },
    credit_note: { prefix: 'CRN-', padding: 4, start: 1, restart: 'never' },
    payment: { prefix: 'PAY-', padding: 4, start: 1, restart: 'never' },
    quote: { prefix: 'QUO-', padding: 4, start: 1, restart: 'never' },
  });
  expect([(await invoice()).invoice_number, (await quote()).quote_number]).toEqual(['INV-0001', 'QUO-0001']);
});

test('when a format is set, then new numbers use it in records, event filters and the audit, and old ones stay', async () => {
  const first = await invoice();
  await formatted({ prefix: 'R{year}/{month}-', padding: 6 });
  const second = await invoice();
  await own.gateway.delete(`/api/v1/invoices/${second.id}`, own.account);

  expect(second.invoice_number).toBe(`R${year}/${month}-000002`);
  expect((await own.gateway.get(`/api/v1/invoices/${first.id}`, own.account)).body.data.invoice_number).toBe(
    'INV-0001',
  );
  expect((await quote()).quote_number).toBe('QUO-0001');
  const { data } = await audit('?kind=invoice');
  expect(data.numbers.map(({ number }: AnyRecord) => number)).toEqual(['INV-0001', `R${year}/${month}-000002`]);
  expect(data.kinds.invoice).toMatchObject({ gapless: true, drawn: 2, deleted: 1 });
  await format({ invoice: null });
  expect(await numbers(1)).toEqual(['INV-0003']);
});

test('when a start is set before the first number, then the sequence begins there; after it, 409', async () => {
  await formatted({ prefix: 'INV-', start: 501 });

  expect(await numbers(2)).toEqual(['INV-0501', 'INV-0502']);
  expect((await audit()).data.kinds.invoice).toMatchObject({
    gapless: true,
    drawn: 2,
    sequences: [{ period: null, first: 501, last: 502 }],
  });
  expect(answerOf(await format({ invoice: { prefix: 'INV-', start: 9 } }))).toEqual([
    409,
    expect.objectContaining({ error: 'Cannot change the start of invoice numbers after one was drawn' }),
  ]);
});

test('when numbers restart yearly, then the date of the document decides the year, and each year is gapless', async () => {
  await formatted({ prefix: '{year}-', restart: 'yearly', padding: 3 });
  const made = [await dated('2024-12-31'), await dated('2025-01-01'), await dated('2024-12-31'), await invoice()];

  expect(made.map(({ invoice_number }) => invoice_number)).toEqual(['2024-001', '2025-001', '2024-002', `${year}-001`]);
  const { data } = await audit('?kind=invoice');
  expect(data.kinds.invoice).toMatchObject({ gapless: true, drawn: 4, live: 4 });
  expect(data.kinds.invoice.sequences.slice(0, 2)).toEqual([
    { period: '2024', first: 1, last: 2 },
    { period: '2025', first: 1, last: 1 },
  ]);
});

test('when numbers restart yearly, then a dry run has the dates that the real call has', async () => {
  await formatted({ prefix: '{year}-', restart: 'yearly' });
  const body = { client_id: own.client.id, amount: 1, due_date: '2031-01-01', status: 'Sent' };
  const post = (fields: object) => own.gateway.post('/api/v1/invoices', { ...body, ...fields }, own.account);
  const preview = (fields: object) =>
    own.gateway.post('/api/v1/invoices?dry_run=true', { ...body, ...fields }, own.account);
  await post({ issue_date: '2025-06-30' });
  const before = { issue_date: '2025-06-29' };

  expect(answerOf(await preview(before))).toEqual(answerOf(await post(before)));
  expect((await preview(before)).status).toBe(400);
  const [previewed, real] = [await preview({ issue_date: '2025-06-30' }), await post({ issue_date: '2025-06-30' })];
  expect([previewed.body.data.issue_date, previewed.body.data.invoice_number]).toEqual([
    real.body.data.issue_date,
    null,
  ]);
});

describe('a changed format', () => {
  test('when it would repeat thousands of numbers, then a few look-ups find the next free one, and none is missing', async () => {
    const account_id = storedId(own.account.id);
    const given = Array.from({ length: 2_500 }, (_, index) => ({
      _id: storedId(newId()),
      account_id,
      kind: 'quote',
      period: '',
      number: 10_000 + index,
      text: `OLD-${String(index + 1).padStart(4, '0')}`,
      created_at: new Date(),
    }));
    await driverOf(NumberLedger).insertMany(given as never);
    await formatted({ prefix: 'OLD-', padding: 4 });
    const find = jest.spyOn(NumberLedger.collection, 'find');

    expect((await invoice()).invoice_number).toBe('OLD-2501');
    expect(find.mock.calls.length).toBeLessThan(10);
    find.mockRestore();
    expect((await audit('?kind=invoice')).data).toMatchObject({ gapless: true });
    await format({ invoice: null });
  });

  test('when it would repeat an existing number, then that number is skipped, and the sequence is gapless', async () => {
    await formatted({ prefix: `INV-${year}-` });
    expect(await numbers(3)).toEqual([1, 2, 3].map((number) => `INV-${year}-000${number}`));
    await formatted({ prefix: 'INV-{year}-', restart: 'yearly' });
    expect(await numbers(1)).toEqual([`INV-${year}-0004`]);
    await format(null);
    expect(await numbers(1)).toEqual(['INV-0004']);
    await formatted({ prefix: `INV-${year}-` });

    expect(await numbers(1)).toEqual([`INV-${year}-0005`]);
    expect((await audit()).data.gapless).toBe(true);
  });

  test('when digits follow digits of the prefix, then the number is still parsed correctly', async () => {
    await formatted({ prefix: 'A1', padding: 1, start: 1 });
    expect(await numbers(1)).toEqual(['A11']);
    await formatted({ prefix: 'A', padding: 1 });
    const made = await numbers(11);

    expect(new Set(made).size).toBe(11);
    expect(made).not.toContain('A11');
    expect((await audit()).data.gapless).toBe(true);
  });

  test.each([
    [{ invoice: { prefix: '{day}-' } }, { 'number_formats.invoice.prefix': [expect.any(String)] }],
    [
      { invoice: { prefix: 'R-', restart: 'yearly' } },
      {
        'number_formats.invoice': [
          'number_formats.invoice.prefix must hold the year in braces when numbers restart yearly',
        ],
      },
    ],
    [{ invoice: { prefix: 'QUO-' } }, { number_formats: [expect.stringContaining('same prefix')] }],
    [
      { quote: { padding: 0, start: 0, restart: 'monthly' } },
      {
        'number_formats.quote.padding': [expect.any(String)],
        'number_formats.quote.start': [expect.any(String)],
        'number_formats.quote.restart': [expect.any(String)],
      },
    ],
  ])('when it is %j, then 400', async (given, details) => {
    expect(answerOf(await format(given))).toEqual([
      400,
      expect.objectContaining({ error: 'Validation failed', details }),
    ]);
    expect((await Account.findById(own.account.id).lean())?.number_formats).toBeUndefined();
  });
});

test('when 50 are created concurrently across the turn of a year, then each year has no duplicates and no gaps', async () => {
  await formatted({ prefix: '{year}-', restart: 'yearly' });
  jest.useFakeTimers({ ...ONLY_DATE, now: new Date('2026-12-31T23:59:59.900Z') });
  const before = Array.from({ length: 25 }, () => invoice());
  await Promise.all(before.slice(0, 4));
  jest.setSystemTime(new Date('2027-01-01T00:00:00.100Z'));
  const after = Array.from({ length: 25 }, () => invoice());
  const made = (await Promise.all([...before, ...after])).map(({ invoice_number }) => invoice_number as string);
  jest.useRealTimers();
  const of = (one: string) => made.filter((number) => number.startsWith(one)).toSorted();

  expect(made).toHaveLength(50);
  expect(of('2026-').length).toBeGreaterThanOrEqual(4);
  expect(of('2027-').length).toBeGreaterThanOrEqual(25);
  for (const one of ['2026-', '2027-']) {
    expect(of(one)).toEqual(of(one).map((_number, index) => `${one}${String(index + 1).padStart(4, '0')}`));
  }
  expect((await audit()).data.kinds.invoice).toMatchObject({ gapless: true, drawn: 50, live: 50 });
});
