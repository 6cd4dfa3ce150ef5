// A quote billed in parts: the nets of all parts add up to what was quoted, whatever the shares.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sumOfLines, taxOf } from '#libs/billing/money.ts';
import { type BilledPart, deductions, leftToBill, partLine, quotedLines, shareOf } from '#libs/billing/quote-parts.ts';
import { runs } from '../../support/form.ts';

const texts = { locale: 'en-US', currency: 'EUR' };
const part = (amount: number, changes: Partial<BilledPart> = {}): BilledPart => ({
  number: 'INV-0001',
  day: '2026-11-02',
  amount,
  tax_amount: taxOf(amount, 19),
  ...changes,
});
const final = (amount: number, parts: readonly BilledPart[], currency = 'EUR') => {
  const form = { ...texts, currency };
  return [...quotedLines({ amount, line_items: null, whenEmpty: 'Work' }, form), ...deductions(parts, form)];
};

describe('parts', () => {
  test('when 999.99 are billed as 30 % + 30 % + final, then the nets add up to the cent and nothing is left', () => {
    const share = shareOf(99_999, 30);
    expect(share).toBe(30_000);
    const parts = [part(share), part(share, { number: 'INV-0002' })];
    const last = sumOfLines(final(99_999, parts), 'EUR');
    expect(last).toBe(39_999);
    expect(leftToBill(99_999, [...parts, part(last)])).toBe(0);
  });

  test('when a part is billed, then its line names its share and the quote', () => {
    expect(partLine('deposit', { amount: 34_200, percent: 30, quoteNumber: 'QUO-0017' }, texts)).toEqual({
      description: 'Deposit 30% for QUO-0017',
      qty: '1',
      rate: '342',
      discount: '0',
    });
    const german = partLine('progress', { amount: 12_345, quoteNumber: 'QUO-0017' }, { ...texts, locale: 'de-DE' });
    expect(german).toMatchObject({ description: 'Abschlagszahlung zu QUO-0017', rate: '123.45' });
  });

  test('when earlier parts are taken off, then each line names number, day and the tax contained in it', () => {
    expect(deductions([part(30_000)], texts)).toEqual([
      {
        description: 'Less INV-0001 of Nov 2, 2026 (tax contained in it: €57.00)',
        qty: '1',
        rate: '-300',
        discount: '0',
      },
    ]);
    expect(deductions([part(30_000, { tax_amount: 0 })], texts)[0]?.description).toBe('Less INV-0001 of Nov 2, 2026');
  });

  test('when the lines of a quote sum to more than was quoted, then an adjustment brings them down to it', () => {
    const line_items = [{ description: 'Drawings', qty: '12', rate: '95', discount: '0' }];
    const lines = quotedLines({ amount: 100_000, line_items, whenEmpty: '' }, texts);
    expect(lines[1]).toEqual({ description: 'Adjustment to the quoted amount', qty: '1', rate: '-140', discount: '0' });
    expect(sumOfLines(lines, 'EUR')).toBe(100_000);
    expect(quotedLines({ amount: 114_000, line_items, whenEmpty: '' }, texts)).toEqual(line_items);
  });

  test('when any quote is billed in any shares, then nets add up exactly, and taxes differ by half a unit per document at most', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000_000_000 }),
        fc.array(fc.integer({ min: 1, max: 3_333 }), { maxLength: 8 }),
        fc.constantFrom('EUR', 'JPY', 'KWD'),
        fc.integer({ min: 0, max: 10_000 }),
        (quoted, shares, currency, basisPoints) => {
          const rate = basisPoints / 100;
          const parts: BilledPart[] = [];
          for (const share of shares) {
            const amount = shareOf(quoted, share / 100);
            if (amount === 0 || amount > leftToBill(quoted, parts)) continue;
            parts.push(part(amount, { number: `INV-${parts.length + 1}`, tax_amount: taxOf(amount, rate) }));
          }
          const last = sumOfLines(final(quoted, parts, currency), currency);
          expect(last).toBe(leftToBill(quoted, parts));
          const documents = [...parts.map(({ amount }) => amount), last];
          expect(documents.reduce((sum, amount) => sum + amount, 0)).toBe(quoted);
          const taxes = documents.reduce((sum, amount) => sum + taxOf(amount, rate), 0);
          expect(Math.abs(taxes - taxOf(quoted, rate))).toBeLessThanOrEqual((documents.length + 1) / 2);
        },
      ),
      runs(1_000),
    );
  });
});
