// Amounts of credit notes: by line the mirror of the invoice for each tax rate, and together never more than the invoice.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { creditGroups, leftToCredit, netOf, type Taxed, taxSumOf } from '#libs/rules/credits/credit-amounts.ts';
import type { LineItem } from '#libs/rules/documents/line-item.ts';
import { type TaxedLine, taxLines } from '#libs/rules/taxes/tax-groups.ts';
import { runs } from '../../support/form.ts';

const TERMS = { currency: 'EUR', tax_rate: 19 };

function line(qty: number, rate: number, tax_rate?: number): LineItem & TaxedLine {
  return {
    description: 'x',
    qty: String(qty),
    rate: String(rate),
    discount: '0',
    ...(tax_rate === undefined ? {} : { tax_rate }),
  };
}

function invoiceOf(lines: readonly TaxedLine[], terms: { prices_include_tax?: boolean } = {}): Taxed {
  const { amount, tax_amount, taxes } = taxLines(lines, { ...TERMS, ...terms });
  return { ...TERMS, ...terms, amount, tax_amount, taxes };
}

const noteOf = (taxes: ReturnType<typeof creditGroups>): Taxed => ({
  ...TERMS,
  amount: netOf(taxes),
  tax_amount: taxSumOf(taxes),
  taxes,
});

const credit = (invoice: Taxed, earlier: Taxed[], wanted: Parameters<typeof creditGroups>[1]) =>
  creditGroups(leftToCredit(invoice, earlier), wanted, {
    terms: invoice,
    number: 'INV-0042',
    isFirst: earlier.length === 0,
  });

const problem = (text: string) =>
  expect.objectContaining({
    status: 400,
    problems: [expect.objectContaining({ message: expect.stringContaining(text) })],
  });

describe('two rates', () => {
  const lines = [line(2, 1.73, 13), line(2, 0.03, 24)];
  const invoice = invoiceOf(lines);

  test('when all lines are credited, then each rate is the mirror of the original', () => {
    expect(credit(invoice, [], { line_items: lines })).toEqual(invoice.taxes);
    expect(credit(invoice, [], {})).toEqual(invoice.taxes);
  });

  test('when one line is credited, then only its rate is, and the rest is exactly what is left', () => {
    const first = credit(invoice, [], { line_items: [line(1, 1.73, 13)] });
    expect(first).toEqual([{ rate: 13, category: 'S', taxable: 173, tax: 22 }]);
    expect(credit(invoice, [noteOf(first)], {})).toEqual([
      { rate: 24, category: 'S', taxable: 6, tax: 1 },
      { rate: 13, category: 'S', taxable: 173, tax: 23 },
    ]);
  });

  test('when a rate has less left, or none, then 409 names it', () => {
    const at =
      (...of: [number, number, number]) =>
      () =>
        credit(invoice, [], { line_items: [line(...of)] });
    expect(at(3, 0.03, 24)).toThrow('Cannot credit more than is left of INV-0042 at 24 %: 0.06');
    expect(at(1, 1, 7)).toThrow('Cannot credit more than is left of INV-0042 at 7 %: 0.00');
    expect(at(1, 3.53, 13)).toThrow('Cannot credit more than is left of INV-0042: 3.52');
  });

  test('when prices include the tax, then a full credit by line is the mirror as well', () => {
    const inclusive = invoiceOf([line(2, 1.96, 13), line(2, 0.04, 24)], { prices_include_tax: true });
    expect(credit(inclusive, [], { line_items: [line(2, 1.96, 13), line(2, 0.04, 24)] })).toEqual(inclusive.taxes);
  });
});

describe('prices with tax', () => {
  const terms = { prices_include_tax: true };

  test('when two lines of 10.05 with 19 % are credited one by one, then their sums with tax are bound and nothing is left', () => {
    const lines = [line(1, 10.05), line(1, 10.05)];
    const invoice = invoiceOf(lines, terms);
    const notes: Taxed[] = [];
    for (const one of lines) notes.push({ ...noteOf(credit(invoice, notes, { line_items: [one] })), ...terms });
    expect(notes.map(({ amount, tax_amount }) => amount + tax_amount)).toEqual([1005, 1005]);
    expect(leftToCredit(invoice, notes)).toEqual([{ rate: 19, category: 'S', taxable: 0, tax: 0 }]);
    expect(() => credit(invoice, notes, {})).toThrow('Cannot credit more than is left of INV-0042: 0.00');
  });

  test('when more is credited than is left with tax, then 409 names that sum', () => {
    const invoice = invoiceOf([line(1, 10.05)], terms);
    expect(() => credit(invoice, [], { line_items: [line(1, 10.06)] })).toThrow('of INV-0042: 10.05');
  });
});

describe('lines below zero', () => {
  const lines = [line(1, 100, 7), line(-1, 30, 19)];
  const invoice = invoiceOf(lines);

  test('when the credit of one rate would leave less than nothing beside the other, then 409 names what is left of it', () => {
    expect(() => credit(invoice, [], { line_items: [line(1, 70, 7)] })).toThrow(
      'Cannot credit all of INV-0042 without what is left at 19 %: -30.00',
    );
    expect(credit(invoice, [], { line_items: lines })).toEqual(invoice.taxes);
  });

  test('when an amount is credited, then each rate has its share, and the rest can be credited', () => {
    const first = noteOf(credit(invoice, [], { amount: 6_900 }));
    expect(first.taxes?.map(({ taxable }) => taxable)).toEqual([-2_957, 9_857]);
    const rest = noteOf(credit(invoice, [first], {}));
    expect(first.tax_amount + rest.tax_amount).toBe(invoice.tax_amount);
  });

  test('when their tax is more than the other lines are worth, then 400: the credit would be worth less than nothing', () => {
    const dear = invoiceOf([line(2, 100, 7), line(-1, 95)]);
    const pieces = [line(1, 100, 7), line(-1, 95)];
    expect(() => credit(dear, [], { line_items: pieces })).toThrow(problem('less than 0 with tax'));
    const within = invoiceOf([line(2, 119), line(-1, 118, 0)], { prices_include_tax: true });
    const piecesWithin = [line(1, 119), line(-1, 118, 0)];
    expect(() => credit(within, [], { line_items: piecesWithin })).toThrow(problem('less than 0 before tax'));
  });
});

test('when lines of one rate sum to nothing, then a full credit has the tax of that rate as its invoice has', () => {
  const invoice = invoiceOf([line(1, 100, 7), line(1, 50), line(-1, 50)]);
  const nothing = { rate: 19, category: 'S', taxable: 0, tax: 0 };
  expect(invoice.taxes).toEqual([nothing, { rate: 7, category: 'S', taxable: 10_000, tax: 700 }]);
  expect(credit(invoice, [], {})).toEqual(invoice.taxes);
  expect(credit(invoice, [], { amount: invoice.amount })).toEqual(invoice.taxes);
});

test('when an invoice is worth nothing, then it is credited once', () => {
  const invoice = invoiceOf([line(1, 0)]);
  const note = noteOf(credit(invoice, [], {}));
  expect(note).toMatchObject({ amount: 0, tax_amount: 0, taxes: invoice.taxes });
  expect(() => credit(invoice, [note], {})).toThrow('Cannot credit more than is left of INV-0042: 0.00');
});

test('when each line is credited alone, then the last one takes the rest of the tax that each rounds to nothing', () => {
  const invoice = invoiceOf(Array.from({ length: 3 }, () => line(1, 0.02, 19)));
  const notes: Taxed[] = [];
  for (let count = 0; count < 3; count += 1)
    notes.push(noteOf(credit(invoice, notes, { line_items: [line(1, 0.02, 19)] })));

  expect([invoice, ...notes].map(({ tax_amount }) => tax_amount)).toEqual([1, 0, 0, 1]);
});

test('when an invoice is credited in any parts, then none is more than is left, and all together are the invoice', () => {
  const lines = fc.array(
    fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 5_000 }), fc.constantFrom(undefined, 7, 0)),
    {
      minLength: 1,
      maxLength: 5,
    },
  );
  fc.assert(
    fc.property(
      lines,
      fc.array(fc.double({ min: 0.01, max: 0.99, noNaN: true }), { maxLength: 6 }),
      (given, shares) => {
        const invoice = invoiceOf(given.map(([qty, cents, rate]) => line(qty, cents / 100, rate)));
        const notes: Taxed[] = [];
        for (const share of shares) {
          const amount = Math.max(1, Math.floor(netOf(leftToCredit(invoice, notes)) * share));
          if (amount >= netOf(leftToCredit(invoice, notes))) break;
          notes.push(noteOf(credit(invoice, notes, { amount })));
          expect(notes.at(-1)?.amount).toBe(amount);
          for (const { taxable, tax } of leftToCredit(invoice, notes))
            expect(Math.min(taxable, tax)).toBeGreaterThanOrEqual(0);
        }
        notes.push(noteOf(credit(invoice, notes, {})));
        expect(leftToCredit(invoice, notes).every(({ taxable, tax }) => taxable === 0 && tax === 0)).toBe(true);
        expect(() => credit(invoice, notes, {})).toThrow('Cannot credit more than is left of INV-0042: 0.00');
      },
    ),
    runs(200),
  );
});
