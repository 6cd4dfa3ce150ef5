// Totals are rounded to steps of the account's currency: the nearest one, half a step up, and never to nothing.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { roundingAmount } from '#libs/rules/money/total-rounding.ts';
import { runs } from '../../support/form.ts';

const swiss = { currency: 'CHF', total_rounding: 0.05 };

test.each([
  [1002, -2],
  [1003, 2],
  [1005, undefined],
  [1007, -2],
  [1008, 2],
  [0, undefined],
  [2, undefined],
  [3, 2],
])('when a total of %i rappen is rounded to 0.05, then %s is added', (total, added) => {
  expect(roundingAmount(total, 'CHF', swiss)).toBe(added);
});

test('when the currency is another one, has no such decimals, or no step is set, then nothing is added', () => {
  expect(roundingAmount(1002, 'EUR', swiss)).toBeUndefined();
  expect(roundingAmount(1002, 'JPY', { currency: 'JPY', total_rounding: 0.05 })).toBeUndefined();
  expect(roundingAmount(1002, 'CHF', { currency: 'CHF' })).toBeUndefined();
  expect(roundingAmount(1002, 'USD', { total_rounding: 0.05 })).toBe(-2);
  expect(roundingAmount(1002, 'JPY', { currency: 'JPY', total_rounding: 10 })).toBe(-2);
});

test('when any total is rounded, then it is the nearest step, and at least one', () => {
  const totals = fc.integer({ min: 0, max: 999_999_999_999_999 });
  const steps = fc.constantFrom(0.02, 0.05, 0.1, 0.25, 1, 5);
  const property = fc.property(totals, steps, (total, total_rounding) => {
    const step = Math.round(total_rounding * 100);
    const added = roundingAmount(total, 'CHF', { currency: 'CHF', total_rounding }) ?? 0;
    expect(Math.abs(added)).toBeLessThanOrEqual(step / 2);
    if (2 * total >= step) expect((total + added) % step).toBe(0);
    else expect(added).toBe(0);
  });
  fc.assert(property, runs(500));
});
