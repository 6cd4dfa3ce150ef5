// The statement of account: every movement is a row on its own day, and the rows lead from the balance before the period to that at its end.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  balancesAsOf,
  type DatedCredit,
  type DatedInvoice,
  type DatedMovements,
  type DatedPart,
} from '#libs/billing/payments/as-of.ts';
import { STATEMENT_ROWS_MAX, statementsOf } from '#libs/billing/payments/statement.ts';
import { addDays } from '#libs/day.ts';
import { runs } from '../../support/form.ts';

const payment = (id: string) => ({ payment: { id, payment_number: `PAY-${id}` }, credit_note: null });
const note = (id: string) => ({ payment: null, credit_note: { id, credit_note_number: `CRN-${id}` } });

function anInvoice(given: Partial<DatedInvoice> = {}): DatedInvoice {
  const days = { issued_on: '2026-05-02', due_date: '2026-05-31' };
  return { id: 'a', number: 'INV-1', currency: 'EUR', total: 10_000, ...days, writtenOff: [], ...given };
}

function aPayment(given: Partial<DatedCredit> = {}): DatedCredit {
  const { id = 'p' } = given;
  return { id, currency: 'EUR', amount: 10_000, date: '2026-05-10', refunded: [], source: payment(id), ...given };
}

const aNote = (given: Partial<DatedCredit> = {}) => aPayment({ id: 'n', source: note('n'), ...given });

async function shown(movements: Partial<DatedMovements>, from = '2026-05-01', to = '2026-05-31') {
  const statements = await statementsOf({ invoices: [], credits: [], parts: [], ...movements }, { from, to });
  return statements.map(({ currency, opening, closing, rows }) => ({
    currency,
    opening,
    closing,
    rows: rows.map(({ date, kind, document, amount, balance }) => [
      date.slice(-2),
      kind,
      document.number,
      amount,
      balance,
    ]),
  }));
}

describe('the rows', () => {
  test('when an invoice is paid in parts and a part goes back, then each is a row with the balance after it', async () => {
    const refunded = [{ amount: 500, from: '2026-05-20' }];
    const movements = { invoices: [anInvoice()], credits: [aPayment({ amount: 4_000, refunded })] };

    expect(await shown(movements)).toEqual([
      {
        currency: 'EUR',
        opening: 0,
        closing: 6_500,
        rows: [
          ['02', 'invoice', 'INV-1', 10_000, 10_000],
          ['10', 'payment', 'PAY-p', -4_000, 6_000],
          ['20', 'refund', 'PAY-p', 500, 6_500],
        ],
      },
    ]);
    expect(await shown(movements, '2026-05-11')).toMatchObject([
      { opening: 6_000, rows: [['20', 'refund', 'PAY-p', 500, 6_500]] },
    ]);
  });

  test('when a payment is voided, then the client owes again what was not refunded', async () => {
    const refunded = [{ amount: 500, from: '2026-05-12' }];
    expect(await shown({ credits: [aPayment({ refunded, ended_on: '2026-05-20' })] })).toMatchObject([
      {
        closing: 0,
        rows: [
          ['10', 'payment', 'PAY-p', -10_000, -10_000],
          ['12', 'refund', 'PAY-p', 500, -9_500],
          ['20', 'void', 'PAY-p', 9_500, 0],
        ],
      },
    ]);
  });

  test('when a payment is voided on its own day, then both rows are there', async () => {
    expect(await shown({ credits: [aPayment({ ended_on: '2026-05-10' })] })).toMatchObject([
      {
        closing: 0,
        rows: [
          ['10', 'payment', 'PAY-p', -10_000, -10_000],
          ['10', 'void', 'PAY-p', 10_000, 0],
        ],
      },
    ]);
  });

  test('when a discount is lost and a rest is written off, then each has a kind of its own', async () => {
    const writtenOff = [
      { amount: 300, from: '2026-05-09', until: '2026-05-12', isDiscount: true },
      { amount: 200, from: '2026-05-15', isDiscount: false },
    ];
    expect(await shown({ invoices: [anInvoice({ writtenOff })] })).toMatchObject([
      {
        closing: 9_800,
        rows: [
          ['02', 'invoice', 'INV-1', 10_000, 10_000],
          ['09', 'discount', 'INV-1', -300, 9_700],
          ['12', 'discount_reversal', 'INV-1', 300, 10_000],
          ['15', 'write_off', 'INV-1', -200, 9_800],
        ],
      },
    ]);
  });

  test('when a credit note cancels an invoice, then it is the row, and the cancellation takes nothing more', async () => {
    const parts: DatedPart[] = [{ invoice: 'a', source: 'n', amount: 10_000, from: '2026-05-14', taken: [] }];
    const movements = {
      invoices: [anInvoice({ cancelled_on: '2026-05-14' })],
      credits: [aNote({ date: '2026-05-14' })],
      parts,
    };
    const rows = [
      ['02', 'invoice', 'INV-1', 10_000, 10_000],
      ['14', 'credit_note', 'CRN-n', -10_000, 0],
    ];
    expect(await shown(movements)).toEqual([{ currency: 'EUR', opening: 0, closing: 0, rows }]);

    const released = { ...movements, parts: parts.map((part) => ({ ...part, until: '2026-05-20' })) };
    expect(await shown(released)).toMatchObject([
      { closing: -10_000, rows: [...rows, ['20', 'release', 'INV-1', -10_000, -10_000]] },
    ]);
  });

  test('when an invoice is cancelled without a credit note, then the cancellation is the row, and its payment stays credit', async () => {
    const parts: DatedPart[] = [
      { invoice: 'a', source: 'p', amount: 4_000, from: '2026-05-10', until: '2026-05-14', taken: [] },
    ];
    const credits = [aPayment({ amount: 4_000 })];
    expect(await shown({ invoices: [anInvoice({ cancelled_on: '2026-05-14' })], credits, parts })).toMatchObject([
      {
        closing: -4_000,
        rows: [
          ['02', 'invoice', 'INV-1', 10_000, 10_000],
          ['10', 'payment', 'PAY-p', -4_000, 6_000],
          ['14', 'cancellation', 'INV-1', -10_000, -4_000],
        ],
      },
    ]);
  });

  test('when there are several currencies, then each has its own statement, and one in which nothing moved or is open has none', async () => {
    const invoices = [anInvoice(), anInvoice({ id: 'b', currency: 'CHF', issued_on: '2026-06-01' })];
    expect(await shown({ invoices, credits: [aPayment({ currency: 'USD', date: '2026-04-30' })] })).toMatchObject([
      { currency: 'EUR', opening: 0, closing: 10_000 },
      { currency: 'USD', opening: -10_000, closing: -10_000, rows: [] },
    ]);
  });

  test('when a document is worth 0, then it is shown, too', async () => {
    expect(await shown({ invoices: [anInvoice({ total: 0 })] })).toMatchObject([
      { rows: [['02', 'invoice', 'INV-1', 0, 0]] },
    ]);
  });

  test('when the period has too many rows, then 422, and a shorter one is served', async () => {
    const credits = Array.from({ length: STATEMENT_ROWS_MAX + 1 }, (_, index) =>
      aPayment({ id: String(index), date: index === 0 ? '2026-05-01' : '2026-05-02' }),
    );
    await expect(shown({ credits })).rejects.toMatchObject({ status: 422, code: 'statement_too_long' });
    expect((await shown({ credits }, '2026-05-02'))[0]?.rows).toHaveLength(STATEMENT_ROWS_MAX);
  });
});

const day = fc.integer({ min: 0, max: 30 }).map((days) => addDays('2026-05-01', days));
const amount = fc.integer({ min: 1, max: 100 });
const currency = fc.constantFrom('EUR', 'USD');
const until = fc.option(day, { nil: undefined });
const IDS = ['a', 'b', 'c'];

/** Days in any order, also those that no sequence of requests leaves: each is to add up all the same. */
const movements: fc.Arbitrary<DatedMovements> = fc.record({
  invoices: fc
    .array(
      fc.record({
        total: fc.integer({ min: 0, max: 100 }),
        issued_on: day,
        cancelled_on: until,
        writtenOff: fc.array(fc.record({ amount, from: day, until, isDiscount: fc.boolean() }), { maxLength: 3 }),
      }),
      { maxLength: 3 },
    )
    .map((all) => all.map((one, index) => anInvoice({ ...one, id: String(IDS[index]), due_date: '2026-05-15' }))),
  credits: fc
    .array(
      fc.record({
        currency,
        amount,
        date: day,
        ended_on: until,
        refunded: fc.array(fc.record({ amount, from: day }), { maxLength: 2 }),
      }),
      { maxLength: 3 },
    )
    .map((all) => all.map((one, index) => aPayment({ ...one, id: String(IDS[index]) }))),
  parts: fc.array(
    fc.record({
      invoice: fc.constantFrom(...IDS),
      source: fc.constantFrom(...IDS),
      amount,
      from: day,
      until,
      taken: fc.array(fc.record({ amount, from: day }), { maxLength: 2 }),
    }),
    { maxLength: 5 },
  ),
});

test('when there are any movements and any days, then the statement begins and ends with the balances of these days, and adds up', async () => {
  await fc.assert(
    fc.asyncProperty(movements, day, day, async (given, one, other) => {
      // A payment pays invoices in its own currency.
      const currencyOf = new Map(given.credits.map((credit) => [credit.id, credit.currency]));
      const all = { ...given, parts: given.parts.filter(({ source }) => currencyOf.get(source) === 'EUR') };
      const [from, to] = [one, other].toSorted() as [string, string];

      const statements = await statementsOf(all, { from, to });

      for (const [at, field] of [[addDays(from, -1), 'opening'] as const, [to, 'closing'] as const]) {
        const balances = new Map(balancesAsOf(all, at).map(({ currency: code, due, credit }) => [code, due - credit]));
        for (const code of ['EUR', 'USD']) {
          const statement = statements.find((of) => of.currency === code);
          expect([code, field, statement?.[field] ?? 0]).toEqual([code, field, balances.get(code) ?? 0]);
        }
      }
      for (const { opening, debits, credits, closing, rows } of statements) {
        expect(opening + debits - credits).toBe(closing);
        expect(rows.at(-1)?.balance ?? opening).toBe(closing);
        expect(rows.every(({ date }) => date >= from && date <= to)).toBe(true);
      }
    }),
    runs(),
  );
});
