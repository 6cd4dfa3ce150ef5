// Amounts in running text, in the direction that their words have.
import { expect, test } from '@jest/globals';
import { writtenMoney } from '#libs/rules/money/written-money.ts';

const LEFT_TO_RIGHT = '\u200e';

test.each([
  ['USD', 'US$'],
  ['GBP', 'UK£'],
  ['CAD', 'CA$'],
  ['BRL', 'R$'],
  ['CNY', 'CN¥'],
])('when an amount in %s is in Arabic, then nothing moves the sign before its letters', (currency, sign) => {
  const text = writtenMoney(35_813, currency, 'ar-AE');

  expect(text).toContain(`${sign}${LEFT_TO_RIGHT}`);
  expect(text).toContain('358.13');
});

test.each(['he-IL', 'fa-IR', 'ur-PK'])(
  'when a language has no words, as of %s, then no mark reverses its amounts in English ones',
  (locale) => {
    expect(writtenMoney(-35_813, 'EUR', locale)).not.toMatch(/[\u200e\u200f\u061c]/);
  },
);

test.each([
  ['de-DE', '-358,13\u00a0€'],
  ['en-US', '-€358.13'],
])('when an amount is in %s, then it is written as there', (locale, text) => {
  expect(writtenMoney(-35_813, 'EUR', locale)).toBe(text);
});
