// The complaints that users of other programs have about their e-invoices, each as a rule that ours keep.
import { expect, test } from '@jest/globals';
import Big from 'big.js';
import fc from 'fast-check';
import { FORMAT_NAMES, type FormatName, formatOf } from '#libs/e-invoice/formats.ts';
import { missingIn } from '#libs/e-invoice/missing.ts';
import type { EInvoice } from '#libs/e-invoice/terms.ts';
import { writeEInvoice } from '#libs/e-invoice/write.ts';
import type { CreditNoteRecord } from '#libs/models/billing/credit-note.ts';
import { type Case, cases, randomCase } from '../../e-invoices/cases.ts';
import { termsOfCase } from '../../e-invoices/terms-of-case.ts';
import { runs } from '../../support/form.ts';

const termsOf = (name: string) => termsOfCase(cases[name] as Case);
const sum = (amounts: readonly string[]) =>
  amounts.reduce((total, amount) => total.plus(amount), new Big(0)).toFixed(2);

/** The arithmetic of EN 16931: BR-CO-10 to 16, and BR-S-08 for each rate and category. */
function requireSums({ lines, adjustments, taxes, totals }: EInvoice) {
  const signed = (one: EInvoice['adjustments'][number]) => (one.isCharge ? one.amount : `-${one.amount}`);
  expect(totals.lines).toBe(sum(lines.map(({ net }) => net)));
  expect(totals.net).toBe(sum([String(totals.lines), ...adjustments.map(signed)]));
  expect(totals.tax).toBe(sum(taxes.map(({ tax }) => tax)));
  expect(totals.gross).toBe(sum([totals.net, totals.tax]));
  expect(totals.due).toBe(sum([totals.gross, totals.rounding ?? '0']));
  for (const { category, rate, taxable } of taxes) {
    const same = (one: { category: string | null; rate: string }) => one.category === category && one.rate === rate;
    const parts = [...lines.filter(same).map(({ net }) => net), ...adjustments.filter(same).map(signed)];
    expect(taxable).toBe(sum(parts));
  }
  for (const { quantity, price, net, adjustment } of lines) {
    const off = adjustment ? new Big(adjustment.amount).times(adjustment.isCharge ? 1 : -1) : new Big(0);
    const difference = new Big(quantity).times(price).plus(off).minus(net).abs();
    // PEPPOL-EN16931-R120 allows two cents.
    expect(difference.lte('0.02')).toBe(true);
    expect(new Big(price).gte(0)).toBe(true);
  }
}

test.each(Object.keys(cases))('when «%s» is stated, then its sums are those of EN 16931', (name) => {
  requireSums(termsOf(name));
});

test('when lines, discount and shipping are random, with and without tax in prices, then the sums are those of EN 16931', () => {
  fc.assert(
    fc.property(randomCase, (one) => requireSums(termsOfCase(one))),
    runs(150),
  );
});

test.each([
  ['reverse charge', 'AE', 'VATEX-EU-AE'],
  ['goods into the Union', 'K', 'VATEX-EU-IC'],
  ['export', 'G', 'VATEX-EU-G'],
  ['outside the scope of tax', 'O', 'VATEX-EU-O'],
  ['a small business', 'E', undefined],
])(
  'when no tax is charged for «%s», then lines and taxes have one category, and the tax says why',
  (name, category, code) => {
    const { lines, taxes } = termsOf(name);

    expect(lines.map((line) => line.category)).toEqual(lines.map(() => category));
    expect(taxes).toMatchObject([{ category, code, tax: '0.00', reason: expect.stringMatching(/\w{5}/) }]);
  },
);

test('when the document has a day of supply, a period or neither, then the XML has a day beside the period', () => {
  expect(termsOf('a day of supply')).toMatchObject({ deliveredOn: '2026-10-15', period: undefined });
  expect(termsOf('a period')).toMatchObject({
    deliveredOn: '2026-10-31',
    period: { from: '2026-10-01', to: '2026-10-31' },
  });
  expect(termsOf('plain').deliveredOn).toBe('2026-11-21');
});

test('when a party has no address but e-mail, then XRechnung takes it, and Peppol names what is missing', () => {
  const one = cases['plain'] as Case;
  const { electronic_address: _gone, ...issuer } = one.parties.issuer;
  const terms = termsOfCase({ ...one, parties: { ...one.parties, issuer } });

  expect(terms.seller.electronicAddress).toEqual({ scheme: 'EM', value: 'hello@studio-north.example' });
  expect(missingIn(terms, 'xrechnung-ubl')).toEqual([]);
  expect(missingIn(terms, 'peppol-ubl').map(({ message }) => message)).toEqual([
    'is missing: Peppol does not know the scheme EM (CL008)',
  ]);
});

test('when a rate of 0 has no category, then it is named, and none is guessed', () => {
  const one = cases['plain'] as Case;
  const { line_items } = one.record as { line_items: object[] };
  const untaxed = {
    ...one,
    record: { ...one.record, tax_rate: 0, taxes: undefined, tax_amount: 0, line_items },
  } as Case;

  expect(missingIn(termsOfCase(untaxed), 'en16931-ubl').map(({ path }) => path.join('.'))).toEqual([
    'line_items[0].tax_category',
    'line_items[1].tax_category',
  ]);
});

test('when the rest of an invoice in yen has the tax that rounding left, then every format with taxes names it', () => {
  const { record, parties } = cases['credit note by amount'] as Case;
  const rest = { ...record, currency: 'JPY', amount: 21, tax_amount: 5, taxes: undefined } as CreditNoteRecord;
  const terms = termsOfCase({ kind: 'credit_note', record: rest, parties });
  const named = (format: FormatName) => missingIn(terms, format).map(({ message }) => message);
  const text = 'at 19 % is one JPY or more from that rate of its taxable amount (BR-S-09)';
  for (const format of FORMAT_NAMES.filter((name) => name !== 'facturx-minimum')) expect(named(format)).toContain(text);
  expect(named('facturx-minimum')).toEqual([]);
});

test('when a text has characters that XML cannot write, then they are replaced, and markup is escaped', () => {
  for (const format of FORMAT_NAMES) {
    const xml = writeEInvoice(termsOf('hostile text'), format);
    for (const character of ['\u0000', '\u0001', '\uFFFE', '<script', '<c>']) expect(xml).not.toContain(character);
    const hasLines = !formatOf(format).embedded?.isData;
    expect(xml.includes('&lt;script&gt;&amp;amp;')).toBe(hasLines);
  }
});

test('when a credit note is written, then its amounts are positive and it names its invoice', () => {
  const terms = termsOf('credit note');

  expect(terms).toMatchObject({ type: '381', preceding: [{ number: 'INV-0042', issuedOn: '2026-11-21' }] });
  expect(Number(terms.totals.due)).toBeGreaterThan(0);
  expect(writeEInvoice(terms, 'peppol-ubl')).toContain('<CreditNote ');
});

test('when an invoice is written as Factur-X, then the XML and what it asks for are those of CII', () => {
  for (const [hybrid, plain] of [
    ['facturx', 'en16931-cii'],
    ['facturx-xrechnung', 'xrechnung-cii'],
  ] as const) {
    for (const name of ['plain', 'credit note', 'a small business']) {
      expect(writeEInvoice(termsOf(name), hybrid)).toBe(writeEInvoice(termsOf(name), plain));
      expect(missingIn(termsOf(name), hybrid)).toEqual(missingIn(termsOf(name), plain));
    }
  }
});
