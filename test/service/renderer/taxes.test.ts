// Printed taxes: a row for each rate with its taxable amount, reasons for exemptions, prices that include tax, and units, in every language.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { aRecord } from '../../support/renderer/documents.ts';
import { startRenderer, type TestRenderer } from '../../support/renderer/renderer.ts';

let renderer: TestRenderer;
beforeAll(async () => {
  renderer = await startRenderer();
});
afterAll(() => renderer.close());

const read = async (document: PrintableDocument) => (await renderer.read(document)).text.replaceAll(/\s+/g, ' ');

const line = (description: string, amount: number, more: object) => ({
  ...{ description, qty: '2', rate: String(amount / 2), discount: '0', amount },
  ...more,
});

const mixed = (given: Partial<PrintableDocument> = {}) =>
  aRecord({
    lineItems: [
      line('Drawings', 1000, { unit: 'HUR', taxRate: 19 }),
      line('Books', 200, { unit: 'piece', taxRate: 7 }),
      line('Insurance', 100, { unit: 'lump_sum', taxRate: 0 }),
    ],
    subtotal: 1300,
    taxRate: 19,
    taxAmount: 204,
    taxes: [
      { rate: 19, category: 'S', taxable: 1000, tax: 190 },
      { rate: 7, category: 'S', taxable: 200, tax: 14 },
      { rate: 0, category: 'E', taxable: 100, tax: 0 },
    ],
    amount: 1504,
    ...given,
  });

test('when there are several rates, then lines show theirs, and each rate has its row with its taxable amount', async () => {
  const text = await read(mixed());
  for (const part of ['2 hrs', '2 pc', '2 flat', 'Subtotal €1,300.00', 'Total €1,504.00', 'Exempt from tax']) {
    expect(text).toContain(part);
  }
  expect(text).toMatch(
    /Tax \(19%\) on €1,000\.00 €190\.00 Tax \(7%\) on €200\.00 €14\.00 Tax \(0%\) on €100\.00 €0\.00/,
  );
  expect(text).toMatch(/Description Qty Rate Tax Amount/);
});

test('when a record has a discount and shipping, then both come before the net amount that is taxed, and notes and terms follow', async () => {
  const charged = {
    lineItems: [line('Drawings', 1000, {})],
    ...{ subtotal: 1000, discountAmount: 100, shippingAmount: 30, net: 930, taxRate: 20, taxAmount: 186, amount: 1116 },
    ...{ notes: 'Thank you', terms: 'Two weeks' },
  };
  const pdf = await renderer.read(aRecord(charged));
  expect(pdf.warnings).toEqual([]);
  expect(pdf.text.replaceAll(/\s+/g, ' ')).toMatch(
    /Subtotal €1,000\.00 Discount [-−]€100\.00 Shipping €30\.00 Net amount €930\.00 Tax \(20%\) €186\.00 Total €1,116\.00.*Thank you.*Two weeks/,
  );
});

test('when prices include the tax, then the document says so, the lines keep their prices, and the net amount is above the tax', async () => {
  const inclusive = {
    pricesIncludeTax: true,
    lineItems: [line('Drawings', 1190, { unit: 'day' })],
    ...{ subtotal: 1000, taxRate: 19, taxAmount: 190, amount: 1190 },
  };
  const pdf = await renderer.read(aRecord(inclusive));
  expect(pdf.warnings).toEqual([]);
  const text = pdf.text.replaceAll(/\s+/g, ' ');
  expect(text).toMatch(
    /2 days €595\.00 €1,190\.00 Net amount €1,000\.00 Tax \(19%\) €190\.00 Total €1,190\.00 Prices include tax\./,
  );
});

describe('in every language', () => {
  test.each([
    ['en-GB', 'Reverse charge: the recipient accounts for the VAT', 'Net amount', 'Prices include tax.'],
    [
      'de-DE',
      'Steuerschuldnerschaft des Leistungsempfängers',
      'Nettobetrag',
      'Die Preise enthalten die Mehrwertsteuer.',
    ],
    ['fr-FR', 'Autoliquidation', 'Total HT', 'toutes taxes comprises'],
    ['es-ES', 'Inversión del sujeto pasivo', 'Importe neto', 'incluyen el IVA'],
    ['it-IT', 'Inversione contabile', 'Totale netto', 'I prezzi comprendono'],
    ['pt-PT', 'autoliquidação', 'Valor líquido', 'incluem o imposto'],
    ['nl-NL', 'Btw verlegd', 'Nettobedrag', 'inclusief btw'],
    ['ja-JP', 'リバースチャージ', '税抜金額', '税込'],
    ['ar-AE', 'العكسي', 'الصافي', 'شاملة'],
  ])(
    'when it is written in %s, then it says why there is no tax and that prices include it',
    async (locale, ...texts) => {
      const taxes = [
        { rate: 19, category: 'S' as const, taxable: 1000, tax: 190 },
        { rate: 0, category: 'AE' as const, taxable: 200, tax: 0 },
      ];
      const text = await read(
        mixed({ locale, taxes, subtotal: 1200, taxAmount: 190, amount: 1390, pricesIncludeTax: true }),
      );
      for (const part of texts) expect(text).toContain(part);
    },
  );

  test('when the account has a text of its own for an exemption, then it is printed instead of ours', async () => {
    const note = 'Kein Ausweis von Umsatzsteuer gemäß § 19 UStG';
    const taxes = [{ rate: 0, category: 'E' as const, note, taxable: 1234.5, tax: 0 }];
    const text = await read(aRecord({ locale: 'de-DE', taxes, taxRate: 0, taxAmount: 0, amount: 1234.5 }));
    expect(text).toContain(note);
    expect(text).not.toContain('Steuerfreie Leistung');
  });
});

test.each([
  ['en-GB', 'Rounding'],
  ['de-CH', 'Rundung'],
  ['fr-CH', 'Arrondi'],
  ['it-CH', 'Arrotondamento'],
  ['es-ES', 'Redondeo'],
  ['nl-NL', 'Afronding'],
  ['pt-PT', 'Arredondamento'],
  ['ja-JP', '端数調整'],
])(
  'when a total is rounded in %s, then the rounding has a row before the total, which contains it',
  async (locale, label) => {
    const money = { subtotal: 9.27, taxRate: 8.1, taxAmount: 0.75, roundingAmount: -0.02, amount: 10 };
    const pdf = await renderer.read(
      aRecord({ locale, currency: 'CHF', lineItems: [line('Design', 9.27, {})], ...money }),
    );
    expect(pdf.warnings).toEqual([]);
    const text = pdf.text.replaceAll(/\s+/g, ' ');
    expect(text).toMatch(new RegExp(`0[.,]75.*${label}.*0[.,]02.*10[.,]00`));
  },
);
