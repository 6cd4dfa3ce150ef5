// The balance of a past day: movements count with their own days, whenever they were booked, and the ageing sums to what is due.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  ageOf,
  balancesAsOf,
  type DatedCredit,
  type DatedInvoice,
  type DatedPart,
} from '#libs/billing/payments/as-of.ts';
import { addDays } from '#libs/day.ts';
import { runs } from '../../support/form.ts';

const source = { payment: { id: 'p', payment_number: 'PAY-0001' }, credit_note: null };

function anInvoice(given: Partial<DatedInvoice> = {}): DatedInvoice {
  const days = { issued_on: '2026-05-02', due_date: '2026-05-31' };
  return { id: 'i', number: 'INV-0001', currency: 'EUR', total: 10_000, ...days, writtenOff: [], ...given };
}

function aCredit(given: Partial<DatedCredit> = {}): DatedCredit {
  return { id: 'p', currency: 'EUR', amount: 10_000, date: '2026-05-10', refunded: [], source, ...given };
}

function aPart(given: Partial<DatedPart> = {}): DatedPart {
  return { invoice: 'i', source: 'p', amount: 10_000, from: '2026-05-10', taken: [], ...given };
}

test('when the balance of May is requested in September, after payments in June, then it is what was due in May', () => {
  const movements = {
    invoices: [anInvoice()],
    credits: [
      aCredit({ id: 'may', amount: 4_000, date: '2026-05-20' }),
      aCredit({ amount: 7_000, date: '2026-06-03' }),
    ],
    parts: [aPart({ source: 'may', amount: 4_000, from: '2026-05-20' }), aPart({ amount: 6_000, from: '2026-06-03' })],
  };
  const due = { currency: 'EUR', due: 6_000, overdue: 0, credit: 0, credit_source_count: 0, credit_sources: [] };
  const ageing = { not_due: 6_000, d1_30: 0, d31_60: 0, d61_90: 0, d91_plus: 0 };

  expect(balancesAsOf(movements, '2026-05-31')).toEqual([{ ...due, ageing }]);
  expect(balancesAsOf(movements, '2026-06-01')).toEqual([
    { ...due, overdue: 6_000, ageing: { ...ageing, not_due: 0, d1_30: 6_000 } },
  ]);
  expect(balancesAsOf(movements, '2026-06-03')).toMatchObject([{ due: 0, credit: 1_000 }]);
  expect(balancesAsOf(movements, '2026-05-01')).toEqual([]);
});

test('when a credit note cancelled an invoice, then it is used up and no credit on that day or later', () => {
  const movements = {
    invoices: [anInvoice({ cancelled_on: '2026-05-14' })],
    credits: [aCredit({ id: 'note', date: '2026-05-14' })],
    parts: [aPart({ source: 'note', from: '2026-05-14' })],
  };

  expect(balancesAsOf(movements, '2026-05-13')).toMatchObject([{ due: 10_000, credit: 0 }]);
  expect(['2026-05-14', '2026-06-30'].flatMap((day) => balancesAsOf(movements, day))).toEqual([]);
});

test('when an invoice was cancelled, a payment voided, or an allocation released, then it counts until the day before', () => {
  const invoices = [anInvoice({ cancelled_on: '2026-05-14' })];
  const credits = [aCredit({ amount: 12_000, ended_on: '2026-05-13' })];
  const parts = [aPart({ until: '2026-05-12' })];
  const on = (day: string) => balancesAsOf({ invoices, credits, parts }, day).map(({ due, credit }) => [due, credit]);

  expect(['2026-05-10', '2026-05-11', '2026-05-12', '2026-05-13', '2026-05-14'].map(on)).toEqual([
    [[0, 2_000]],
    [[0, 2_000]],
    [[10_000, 12_000]],
    [[10_000, 0]],
    [],
  ]);
});

test.each([
  { when: 'before its invoice was issued', parts: [aPart({ from: '2026-05-01' })], day: '2026-05-01', due: 0 },
  {
    when: 'beside one that was released later',
    parts: [aPart({ until: '2026-06-01' }), aPart({ source: 'q' })],
    day: '2026-05-20',
    due: 0,
  },
  {
    when: 'after a refund of its source, and released later',
    parts: [aPart({ until: '2026-06-01' })],
    day: '2026-05-20',
    refunded: 10_000,
    due: 10_000,
  },
  { when: 'after a refund of its source', parts: [aPart()], day: '2026-05-20', refunded: 3_000, due: 3_000 },
])('when an allocation is dated $when, then nothing is less than 0', ({ parts, day, due, refunded = 0 }) => {
  const credits = [
    aCredit({ date: '2026-05-01', refunded: [{ amount: refunded, from: '2026-05-05' }] }),
    aCredit({ id: 'q', date: '2026-05-15' }),
  ];
  const [balance] = balancesAsOf({ invoices: [anInvoice()], credits, parts }, day);
  expect([balance?.due, balance?.credit]).toEqual([due, 10_000]);
});

test.each([
  [0, 'not_due'],
  [1, 'd1_30'],
  [30, 'd1_30'],
  [31, 'd31_60'],
  [90, 'd61_90'],
  [91, 'd91_plus'],
])('when an invoice is %i days late, then it is %s', (days, column) => {
  expect(ageOf('2026-01-31', addDays('2026-01-31', days))).toBe(column);
});

test('when there are any invoices, then the ageing of each currency sums to what is due', () => {
  const day = fc.integer({ min: 0, max: 200 }).map((days) => addDays('2026-01-01', days));
  const invoice = fc.record({
    id: fc.uuid(),
    number: fc.constant('INV-0001'),
    currency: fc.constantFrom('EUR', 'USD'),
    total: fc.integer({ min: 1, max: 9_999 }),
    issued_on: day,
    due_date: day,
    writtenOff: fc.constant([]),
  });
  fc.assert(
    fc.property(fc.array(invoice), day, (invoices, asOf) => {
      const balances = balancesAsOf({ invoices, credits: [], parts: [] }, asOf);
      for (const { due, ageing, overdue } of balances) {
        expect(Object.values(ageing).reduce((sum, part) => sum + part, 0)).toBe(due);
        expect(due - ageing.not_due).toBe(overdue);
      }
      const all = invoices.filter(({ issued_on }) => issued_on <= asOf).reduce((sum, { total }) => sum + total, 0);
      expect(balances.reduce((sum, { due }) => sum + due, 0)).toBe(all);
    }),
    runs(),
  );
});
