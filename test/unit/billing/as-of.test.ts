// The balance of a past day: movements count with their own days, whenever they were booked, and the ageing sums to what is due.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ageOf, balancesAsOf, type DatedCredit, type DatedInvoice } from '#libs/billing/as-of.ts';
import { addDays } from '#libs/day.ts';
import { runs } from '../../support/form.ts';

const source = { payment: { id: 'p', payment_number: 'PAY-0001' }, credit_note: null };

function anInvoice(given: Partial<DatedInvoice> = {}): DatedInvoice {
  return { currency: 'EUR', total: 10_000, issued_on: '2026-05-02', due_date: '2026-05-31', settled: [], ...given };
}

test('when May is asked for in September, after payments in June, then it is what was due in May', () => {
  const invoices = [
    anInvoice({
      settled: [
        { amount: 4_000, from: '2026-05-20' },
        { amount: 6_000, from: '2026-06-03' },
      ],
    }),
  ];
  const credits = [
    { currency: 'EUR', amount: 7_000, date: '2026-06-03', used: [{ amount: 6_000, from: '2026-06-03' }], source },
  ];
  const due = { currency: 'EUR', due: 6_000, overdue: 0, credit: 0, credit_sources: [] };
  const ageing = { not_due: 6_000, d1_30: 0, d31_60: 0, d61_90: 0, d91_plus: 0 };

  expect(balancesAsOf({ invoices, credits }, '2026-05-31')).toEqual([{ ...due, ageing }]);
  expect(balancesAsOf({ invoices, credits }, '2026-06-01')).toEqual([
    { ...due, overdue: 6_000, ageing: { ...ageing, not_due: 0, d1_30: 6_000 } },
  ]);
  expect(balancesAsOf({ invoices, credits }, '2026-06-03')).toMatchObject([{ due: 0, credit: 1_000 }]);
  expect(balancesAsOf({ invoices, credits }, '2026-05-01')).toEqual([]);
});

test('when an invoice was cancelled, a payment voided, or an allocation released, then it counts until the day before', () => {
  const released = { amount: 10_000, from: '2026-05-10', until: '2026-05-12' };
  const invoices = [anInvoice({ settled: [released], cancelled_on: '2026-05-14' })];
  const credits: DatedCredit[] = [
    { currency: 'EUR', amount: 12_000, date: '2026-05-10', ended_on: '2026-05-13', used: [released], source },
  ];
  const on = (day: string) => balancesAsOf({ invoices, credits }, day).map(({ due, credit }) => [due, credit]);

  expect(['2026-05-10', '2026-05-11', '2026-05-12', '2026-05-13', '2026-05-14'].map(on)).toEqual([
    [[0, 2_000]],
    [[0, 2_000]],
    [[10_000, 12_000]],
    [[10_000, 0]],
    [],
  ]);
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
    currency: fc.constantFrom('EUR', 'USD'),
    total: fc.integer({ min: 1, max: 9_999 }),
    issued_on: day,
    due_date: day,
    settled: fc.constant([]),
  });
  fc.assert(
    fc.property(fc.array(invoice), day, (invoices, asOf) => {
      const balances = balancesAsOf({ invoices, credits: [] }, asOf);
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
