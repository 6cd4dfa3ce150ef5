// The text of EPC codes, line by line as EPC069-12 orders it.
import { describe, expect, test } from '@jest/globals';
import { epcCode, type Transfer } from '#libs/rules/paying/epc-code.ts';

const transfer: Transfer = {
  holder: 'Studio Nörd',
  iban: 'DE89370400440532013000',
  bic: 'COBADEFFXXX',
  amount: 148_140,
  currency: 'EUR',
  reference: 'INV-0042',
};
const linesOf = (given: Partial<Transfer>) => epcCode({ ...transfer, ...given })?.split('\n');

test('when euros are due to a bank of SEPA, then every element is on its line, the number in the unstructured one', () => {
  expect(linesOf({})).toEqual([
    'BCD',
    '002',
    '1',
    'SCT',
    'COBADEFFXXX',
    'Studio Nörd',
    'DE89370400440532013000',
    'EUR1481.40',
    '',
    '',
    'INV-0042',
  ]);
});

test('when there is no BIC, then its line is empty', () => {
  expect(linesOf({ bic: undefined })?.[4]).toBe('');
});

test('when the sum is of whole euros or cents alone, then it has two decimals', () => {
  expect(linesOf({ amount: 100 })?.[7]).toBe('EUR1.00');
  expect(linesOf({ amount: 7 })?.[7]).toBe('EUR0.07');
  expect(linesOf({ amount: 99_999_999_999 })?.[7]).toBe('EUR999999999.99');
});

test('when holder or reference are too long or have several lines, then they are cut to one line of their length', () => {
  const lines = linesOf({ holder: `Ada\n\tNorth ${'x'.repeat(100)}`, reference: 'y'.repeat(200) });

  expect(lines).toHaveLength(11);
  expect(lines?.[5]).toBe(`Ada North ${'x'.repeat(60)}`);
  expect(lines?.[10]).toBe('y'.repeat(140));
});

describe('no code', () => {
  test.each<[string, Partial<Transfer>]>([
    ['another currency is due', { currency: 'CHF' }],
    ['the bank is outside SEPA', { iban: 'AE070331234567890123456' }],
    ['nothing is due', { amount: 0 }],
    ['the client has credit', { amount: -100 }],
    ['more is due than a transfer takes', { amount: 100_000_000_000 }],
    ['the letters take more bytes than a code', { holder: '株'.repeat(70), reference: '株'.repeat(140) }],
  ])('when %s, then there is none', (_case, given) => {
    expect(linesOf(given)).toBeUndefined();
  });
});
