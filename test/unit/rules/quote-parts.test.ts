// A quote billed in parts: the nets of all parts add up to what was quoted, whatever the shares.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { quoteMoney } from '#libs/rules/documents/document-money.ts';
import { lineItem } from '#libs/rules/documents/line-item.ts';
import { percentOf, sumOfLines } from '#libs/rules/money/money.ts';
import {
  agreedSum,
  type BilledPart,
  deductions,
  leftToBill,
  partLines,
  quotedLines,
} from '#libs/rules/quotes/quote-parts.ts';
import { type TaxGroup, type TaxTerms, taxLines } from '#libs/rules/taxes/tax-groups.ts';
import { runs } from '../../support/form.ts';

const texts = { locale: 'en-US', currency: 'EUR', tax_rate: 19 };
const plain = (taxable: number, rate = 19): TaxGroup[] => [
  { rate, category: rate > 0 ? 'S' : null, taxable, tax: percentOf(taxable, rate) },
];
const part = (amount: number, changes: Partial<BilledPart> = {}): BilledPart => ({
  number: 'INV-0001',
  day: '2026-11-02',
  amount,
  taxes: plain(amount),
  ...changes,
});
const final = (amount: number, parts: readonly BilledPart[], currency = 'EUR') => {
  const form = { ...texts, currency };
  return [...quotedLines({ amount, line_items: null, taxes: [], whenEmpty: 'Work' }, form), ...deductions(parts, form)];
};

describe('parts', () => {
  test('when 999.99 are billed as 30 % + 30 % + final, then the nets add up to the cent and nothing is left', () => {
    const share = percentOf(99_999, 30);
    expect(share).toBe(30_000);
    const parts = [part(share), part(share, { number: 'INV-0002' })];
    const last = sumOfLines(final(99_999, parts), 'EUR');
    expect(last).toBe(39_999);
    expect(leftToBill(99_999, [...parts, part(last)])).toBe(0);
  });

  test('when a part is billed, then its line names its share and the quote', () => {
    const of = { quoteNumber: 'QUO-0017', taxes: plain(114_000) };
    expect(partLines('deposit', { ...of, amount: 34_200, percent: 30 }, texts)).toEqual([
      { description: 'Deposit 30% for QUO-0017', qty: '1', rate: '342', discount: '0' },
    ]);
    const german = partLines('progress', { ...of, amount: 12_345 }, { ...texts, locale: 'de-DE' });
    expect(german).toMatchObject([{ description: 'Abschlagszahlung zu QUO-0017', rate: '123.45' }]);
  });

  test('when earlier parts are taken off, then each line names number, day and the tax contained in it', () => {
    expect(deductions([part(30_000)], texts)).toEqual([
      {
        description: 'Less INV-0001 of Nov 2, 2026 (tax contained in it: €57.00)',
        qty: '1',
        rate: '-300',
        discount: '0',
        tax_rate: 19,
      },
    ]);
    expect(deductions([part(30_000, { taxes: plain(30_000, 0) })], texts)[0]?.description).toBe(
      'Less INV-0001 of Nov 2, 2026',
    );
  });

  test('when a currency has other decimals than the runtime shows, then those of ISO 4217, and the sign of documents', () => {
    const text = (currency: string, tax: number, locale = 'en-US') => {
      const taxes = [{ rate: 19, category: 'S' as const, taxable: 10_000, tax }];
      return deductions([part(10_000, { taxes })], { ...texts, locale, currency })[0]?.description;
    };
    expect(text('HUF', 81_012)).toContain('(tax contained in it: Ft\u00a0810.12)');
    expect(text('PKR', 11)).toContain('(tax contained in it: PKR\u00a00.11)');
    expect(text('KWD', 1_001)).toContain('(tax contained in it: KWD\u00a01.001)');
    expect(text('JPY', 810, 'de-DE')).toContain('(darin enthaltene Steuer: 810\u00a0¥)');
    expect(text('UAH', 810, 'de-DE')).toContain('(darin enthaltene Steuer: 8,10\u00a0₴)');
  });

  test('when the lines of a quote sum to more than was quoted, then an adjustment brings them down to it', () => {
    const line_items = [{ description: 'Drawings', qty: '12', rate: '95', discount: '0' }];
    const lines = quotedLines({ amount: 100_000, line_items, taxes: plain(100_000), whenEmpty: '' }, texts);
    expect(lines[1]).toEqual({ description: 'Adjustment to the quoted amount', qty: '1', rate: '-140', discount: '0' });
    expect(sumOfLines(lines, 'EUR')).toBe(100_000);
    expect(quotedLines({ amount: 114_000, line_items, taxes: plain(114_000), whenEmpty: '' }, texts)).toEqual(
      line_items,
    );
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
            const amount = percentOf(quoted, share / 100);
            if (amount === 0 || amount > leftToBill(quoted, parts)) continue;
            parts.push(part(amount, { number: `INV-${parts.length + 1}`, taxes: plain(amount, rate) }));
          }
          const last = sumOfLines(final(quoted, parts, currency), currency);
          expect(last).toBe(leftToBill(quoted, parts));
          const documents = [...parts.map(({ amount }) => amount), last];
          expect(documents.reduce((sum, amount) => sum + amount, 0)).toBe(quoted);
          const taxes = documents.reduce((sum, amount) => sum + percentOf(amount, rate), 0);
          expect(Math.abs(taxes - percentOf(quoted, rate))).toBeLessThanOrEqual((documents.length + 1) / 2);
        },
      ),
      runs(1_000),
    );
  });

  test('when quoted lines of two rates sum to something else, then each rate has its share of the difference', () => {
    const line_items = [
      { description: 'Drawings', qty: '1', rate: '1000', discount: '0' },
      { description: 'Book', qty: '1', rate: '500', discount: '0', tax_rate: 7 },
    ];
    const terms = { currency: 'EUR', tax_rate: 19 };
    const money = (amount: number) =>
      quoteMoney({ ...terms, amount, line_items: line_items.map(lineItem), issuer: { locale: 'en-US' } });
    const quote = money(1200);
    expect(quote).toMatchObject({ amount: 120_000, taxes: plain(80_000).concat(plain(40_000, 7)) });
    const lines = quotedLines({ amount: 120_000, line_items, taxes: quote.taxes ?? [], whenEmpty: '' }, texts);
    expect(lines.slice(2)).toEqual([
      { description: 'Adjustment to the quoted amount (19%)', qty: '1', rate: '-200', discount: '0' },
      { description: 'Adjustment to the quoted amount (7%)', qty: '1', rate: '-100', discount: '0', tax_rate: 7 },
    ]);
    expect(taxLines(lines, terms).taxes).toEqual(quote.taxes);
    expect(money(1800).taxes).toMatchObject([{ taxable: 120_000 }, { taxable: 60_000 }]);
  });

  test('when a deposit of a quote with two rates is billed, then each rate has its share in a line of its own', () => {
    const taxes = [...plain(100_000), ...plain(50_000, 7)];
    const lines = partLines('deposit', { amount: 45_000, percent: 30, quoteNumber: 'QUO-0017', taxes }, texts);
    expect(lines).toEqual([
      { description: 'Deposit 30% for QUO-0017 (19%)', qty: '1', rate: '300', discount: '0' },
      { description: 'Deposit 30% for QUO-0017 (7%)', qty: '1', rate: '150', discount: '0', tax_rate: 7 },
    ]);
    const exempt: TaxGroup = { rate: 0, category: 'E', taxable: 10_000, tax: 0 };
    const [line] = partLines('deposit', { amount: 5_000, quoteNumber: 'QUO-0017', taxes: [exempt] }, texts);
    expect(line).toMatchObject({ rate: '50', tax_category: 'E' });
  });

  test('when a quote of mixed rates, with or without tax in its prices, is billed in parts, then each group adds up to it', () => {
    const line = fc.record({
      qty: fc.integer({ min: 1, max: 500 }),
      rate: fc.integer({ min: 1, max: 99_999 }).map((cents) => cents / 100),
      discount: fc.constantFrom(0, 12.5),
      tax: fc.constantFrom({}, { tax_rate: 7 }, { tax_rate: 0 }, { tax_category: 'E' as const }, { tax_rate: 2.6 }),
    });
    const lines = fc.array(
      line.map(({ tax, ...one }) => ({ ...one, ...tax, description: 'Work' })),
      { minLength: 1, maxLength: 8 },
    );
    const shares = fc.array(fc.integer({ min: 1, max: 33 }), { maxLength: 3 });
    const each = fc.property(lines, shares, fc.boolean(), (line_items, percents, prices_include_tax) => {
      const terms: TaxTerms = { currency: 'EUR', tax_rate: 19, prices_include_tax };
      const form = { ...texts, ...terms };
      const quote = { ...taxLines(line_items, terms), prices_include_tax };
      const quoted = agreedSum(quote);
      const billed: BilledPart[] = [];
      for (const percent of percents) {
        const wanted = { amount: percentOf(quoted, percent), percent, quoteNumber: 'QUO-0001', taxes: quote.taxes };
        if (wanted.amount === 0) continue;
        const invoice = { ...taxLines(partLines('deposit', wanted, form), terms), prices_include_tax };
        expect(agreedSum(invoice)).toBe(wanted.amount);
        billed.push({ number: 'INV-0001', day: '2026-11-02', amount: wanted.amount, taxes: invoice.taxes });
      }
      const whole = quotedLines({ amount: quoted, line_items, taxes: quote.taxes, whenEmpty: '' }, form);
      const last = { ...taxLines([...whole, ...deductions(billed, form)], terms), prices_include_tax };
      expect(agreedSum(last)).toBe(leftToBill(quoted, billed));
      // At each rate, the taxable amounts of all documents add up to that of the quote; the tax is rounded in each document.
      for (const group of quote.taxes) {
        const same = [...billed, last].flatMap(({ taxes }) =>
          taxes.filter((one) => one.category === group.category && one.rate === group.rate),
        );
        const sum = (of: (one: TaxGroup) => number) => same.reduce((before, one) => before + of(one), 0);
        const agreed = (one: TaxGroup) => (prices_include_tax ? one.taxable + one.tax : one.taxable);
        expect(sum(agreed)).toBe(agreed(group));
        expect(Math.abs(sum(({ tax }) => tax) - group.tax)).toBeLessThanOrEqual((billed.length + 2) / 2);
      }
    });
    fc.assert(each, runs(200));
  });
});
