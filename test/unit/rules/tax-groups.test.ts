// Tax by rate and category: rounded once per group, equal to the tax of the sum where there is one rate, and exact where prices include tax.
import { describe, expect, test } from '@jest/globals';
import Big from 'big.js';
import fc from 'fast-check';
import { lineNet, percentOf, sumOfLines } from '#libs/rules/money/money.ts';
import {
  splitByGroup,
  TAX_CATEGORIES,
  type TaxedLine,
  type TaxTerms,
  taxLines,
  taxOfLine,
  taxSum,
} from '#libs/rules/taxes/tax-groups.ts';
import { runs } from '../../support/form.ts';

const EUR: TaxTerms = { currency: 'EUR', tax_rate: 19 };
const line = (qty: number, rate: number, tax: Partial<TaxedLine> = {}): TaxedLine => ({
  qty,
  rate,
  discount: 0,
  ...tax,
});

describe('groups', () => {
  test('when two rates meet on one document, then tax is rounded once per rate and not per line', () => {
    const lines = [line(2, 1.73, { tax_rate: 13 }), line(2, 0.03, { tax_rate: 24 })];
    expect(taxLines(lines, EUR)).toEqual({
      amount: 352,
      tax_amount: 46,
      total: 398,
      taxes: [
        { rate: 24, category: 'S', taxable: 6, tax: 1 },
        { rate: 13, category: 'S', taxable: 346, tax: 45 },
      ],
    });
    // Per line it would be 0.22 + 0.22 and 0.01 + 0.01.
    const single = lines.flatMap((one) => [1, 1].map((qty) => ({ ...one, qty })));
    expect(taxLines(single, EUR).tax_amount).toBe(46);
  });

  test('when these prices include the tax, then the total is exactly what was agreed', () => {
    const lines = [line(2, 1.96, { tax_rate: 13 }), line(2, 0.04, { tax_rate: 24 })];
    expect(taxLines(lines, { ...EUR, prices_include_tax: true })).toEqual({
      amount: 353,
      tax_amount: 47,
      total: 400,
      taxes: [
        { rate: 24, category: 'S', taxable: 6, tax: 2 },
        { rate: 13, category: 'S', taxable: 347, tax: 45 },
      ],
    });
  });

  test('when one rate has two categories, then they are two groups, in the order of the categories', () => {
    const lines = [line(1, 10, { tax_category: 'O' }), line(1, 20, { tax_category: 'E' }), line(1, 30)];
    const { taxes, tax_amount } = taxLines(lines, { ...EUR, tax_rate: 0 });
    expect(taxes.map(({ category, taxable }) => [category, taxable])).toEqual([
      ['E', 2_000],
      ['O', 1_000],
      [null, 3_000],
    ]);
    expect(tax_amount).toBe(0);
  });

  test('when a document has no lines, or none of its lines is worth anything, then it has the one group of its own rate', () => {
    const group = { rate: 19, category: 'S' };
    expect(taxSum(1_000, EUR).taxes).toEqual([{ ...group, taxable: 1_000, tax: 190 }]);
    expect(taxSum(1_190, { ...EUR, prices_include_tax: true }).taxes).toEqual([{ ...group, taxable: 1_000, tax: 190 }]);
    expect(taxLines([], EUR)).toEqual(taxSum(0, EUR));
    expect(taxLines([line(0, 5)], EUR)).toEqual(taxSum(0, EUR));
  });

  test('when a negative line cancels another one of its group, then the group remains with amounts of zero', () => {
    const lines = [line(1, 10, { tax_rate: 7 }), line(-1, 10, { tax_rate: 7 }), line(1, 100)];
    expect(taxLines(lines, EUR).taxes).toEqual([
      { rate: 19, category: 'S', taxable: 10_000, tax: 1_900 },
      { rate: 7, category: 'S', taxable: 0, tax: 0 },
    ]);
  });
});

describe('the tax of a line', () => {
  test.each([
    { own: {}, terms: EUR, is: { rate: 19, category: 'S' } },
    { own: {}, terms: { ...EUR, tax_rate: 0 }, is: { rate: 0, category: null } },
    { own: {}, terms: { ...EUR, tax_rate: 0, tax_category: 'AE' }, is: { rate: 0, category: 'AE' } },
    { own: { tax_rate: 0 }, terms: EUR, is: { rate: 0, category: null } },
    { own: { tax_rate: 7 }, terms: { ...EUR, tax_rate: 0, tax_category: 'AE' }, is: { rate: 7, category: 'S' } },
    { own: { tax_category: 'E' }, terms: EUR, is: { rate: 0, category: 'E' } },
    { own: { tax_category: 'S' }, terms: EUR, is: { rate: 19, category: 'S' } },
  ] as const)('when a line has $own on a document with $terms, then it is $is', ({ own, terms, is }) => {
    expect(taxOfLine(own, terms)).toEqual(is);
  });
});

const currency = fc.constantFrom('EUR', 'CHF', 'JPY', 'KWD');
const rate = fc.constantFrom(0, 2.6, 5.5, 7, 7.7, 8.1, 13, 19, 20, 24, 33.333, 100);
const price = {
  qty: fc.integer({ min: -50, max: 9_999 }).map((n) => n / 100),
  rate: fc.integer({ min: -500, max: 999_999 }),
};
const priced = fc
  .record({ ...price, discount: fc.constantFrom(0, 10, 33.33) })
  .map((one) => ({ ...one, rate: one.rate / 100 }));
const own = fc.oneof(
  fc.constant({}),
  fc.record({ tax_rate: rate }),
  fc.record({ tax_category: fc.constantFrom(...TAX_CATEGORIES.filter((category) => category !== 'S')) }),
);
const mixed = fc.array(
  fc.tuple(priced, own).map(([one, tax]) => ({ ...one, ...tax })),
  { maxLength: 30 },
);

describe('any mix of lines', () => {
  test('when all lines have the rate of the document, then the tax is that of their sum', () => {
    const each = fc.property(fc.array(priced, { maxLength: 30 }), rate, currency, (lines, tax_rate, code) => {
      const amount = sumOfLines(lines, code);
      const { taxes, ...sums } = taxLines(lines, { currency: code, tax_rate });
      const tax_amount = percentOf(amount, tax_rate);
      expect(sums).toEqual({ amount, tax_amount, total: amount + tax_amount });
      expect(taxes).toHaveLength(1);
    });
    fc.assert(each, runs(200));
  });

  test('when rates, categories and inclusive prices are mixed, then the groups sum to the document', () => {
    const each = fc.property(mixed, rate, currency, fc.boolean(), (lines, tax_rate, code, prices_include_tax) => {
      const terms = { currency: code, tax_rate, prices_include_tax };
      const { amount, tax_amount, total, taxes } = taxLines(lines, terms);
      const sum = (name: 'taxable' | 'tax') => taxes.reduce((before, group) => before + group[name], 0);
      expect([sum('taxable'), sum('tax'), amount + tax_amount]).toEqual([amount, tax_amount, total]);
      const agreed = lines.reduce((before, one) => before + lineNet(one, code), 0);
      expect(prices_include_tax ? total : amount).toBe(agreed + 0);
      for (const group of taxes) {
        // Within half a unit of the exact tax of what the group is worth.
        const worth = new Big(prices_include_tax ? group.taxable + group.tax : group.taxable);
        const exact = worth.times(group.rate).div(prices_include_tax ? group.rate + 100 : 100);
        expect(exact.minus(group.tax).abs().lte(0.5)).toBe(true);
      }
    });
    fc.assert(each, runs(200));
  });

  test('when lines are in another order, then the groups are the same', () => {
    const each = fc.property(mixed, (lines) => {
      expect(taxLines(lines.toReversed(), EUR)).toEqual(taxLines(lines, EUR));
    });
    fc.assert(each, runs());
  });

  test('when an amount is split over groups, then the shares sum to it and are within one unit of their proportion', () => {
    const worths = fc.array(fc.integer({ min: -1_000_000, max: 100_000_000 }), { minLength: 1, maxLength: 8 });
    const each = fc.property(worths, fc.integer({ min: 0, max: 100_000_000 }), (taxables, amount) => {
      const whole = taxables.reduce((sum, taxable) => sum + taxable, 0);
      fc.pre(whole > 0);
      const shares = splitByGroup(
        amount,
        taxables.map((taxable) => ({ taxable })),
      );
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(amount);
      for (const [index, taxable] of taxables.entries()) {
        const exact = new Big(amount).times(taxable).div(whole);
        expect(
          exact
            .minus(shares[index] as number)
            .abs()
            .lt(1),
        ).toBe(true);
      }
    });
    fc.assert(each, runs());
  });

  test('when the groups sum to zero, then splitting an amount over them is an error', () => {
    expect(() => splitByGroup(1, [{ taxable: 5 }, { taxable: -5 }])).toThrow(RangeError);
  });
});
