// Printed statements of account: balances, movements and ageing in every language of documents, over as many pages as they take.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { statementWords } from '#libs/documents/statement-words.ts';
import { aCurrencyStatement, aStatement } from '../../support/renderer/documents.ts';
import { startRenderer, type TestRenderer } from '../../support/renderer/renderer.ts';

let renderer: TestRenderer;
beforeAll(async () => {
  renderer = await startRenderer();
});
afterAll(() => renderer.close());

/** Readers get another apostrophe than that of the words. */
const plain = (text: string) => text.replaceAll(/\s+/g, ' ').replaceAll('\u02bc', '’');

test('when a statement has one currency, then it leads from the first balance over each movement to the last one, by age', async () => {
  const rows = [
    { amount: -119, text: 'RF18 5390 0754 7034' },
    { amount: 1356.6, text: 'PO-77', date: '2026-11-14' },
  ];
  const { text, warnings } = await renderer.read(aStatement([aCurrencyStatement('EUR', rows)]));
  const all = plain(text);
  expect(warnings).toEqual([]);
  for (const part of [
    'Statement of account 1 – 26 November 2026',
    '€1,356.60 balance on 26 November 2026',
    'Statement for Ada Lovelace',
    'Date Document Reference Debit Credit Balance',
    '1 Nov 2026 Opening balance €119.00',
    '12 Nov 2026 Payment PAY-0001 RF18 5390 0754 7034 €119.00 €0.00',
    '14 Nov 2026 Invoice INV-0002 PO-77 €1,356.60 €1,356.60',
    '26 Nov 2026 Closing balance €1,356.60 €119.00 €1,356.60',
    'Not due yet €1,356.60 1–30 days late €0.00',
    'Amount due €1,356.60',
  ])
    expect(all).toContain(part);
  // A statement is no invoice: it has no total and no tax.
  expect(all).not.toMatch(/Total|Subtotal|Tax|Due date|Issue date/);
});

test.each(['ar-AE', 'de-DE', 'en-US', 'es-ES', 'fr-FR', 'it-IT', 'ja-JP', 'nl-NL', 'pt-PT'])(
  'when it is written in %s, then all of its words are of that language, and no amount leaves the page',
  async (locale) => {
    const statement = aCurrencyStatement('EUR', [{ amount: 238, text: 'PO-77' }, { amount: -400 }]);
    const { text: printed, pages } = await renderer.read(aStatement([statement], { locale }));
    const all = plain(printed);
    expect([pages.length, all]).toEqual([1, expect.stringContaining('INV-0001')]);
    const across = locale === 'en-US' ? 216 : 210;
    const words = pages.flatMap((page) => page.words);
    expect(words.filter(({ text, x, width }) => text.trim() !== '' && (x < 17 || x + width > across - 17))).toEqual([]);
    // Readers get letters that join in the order in which they stand on paper.
    if (locale === 'ar-AE') return;
    const { title, to, document, debit, credit, balance, opening, closing, inFavour, kinds } = statementWords(
      locale.slice(0, 2),
    );
    for (const word of [title, to, document, debit, credit, balance, opening, closing, inFavour, kinds.invoice])
      expect(all).toContain(plain(word));
  },
);

test('when it has several currencies and hundreds of movements, then each page has the heads of its columns, and no balance stands alone', async () => {
  const rows = Array.from({ length: 90 }, (_none, index) => ({ amount: index % 2 === 0 ? 100 : -40 }));
  const { text, pages } = await renderer.read(
    aStatement([aCurrencyStatement('EUR', rows), aCurrencyStatement('JPY', [{ amount: 5_000 }])], {
      pageSize: 'letter',
      fontStyle: 'modern',
    }),
  );
  const all = plain(text);
  expect(pages.length).toBeGreaterThan(2);
  expect(all.match(/Date Document Debit Credit Balance/g)?.length).toBeGreaterThanOrEqual(pages.length);
  expect(all).toContain('Balance EUR €2,819.00');
  expect(all).toContain('Balance JPY JP¥5,119');
  expect(all).toMatch(
    /PAY-0090 €40\.00 €2,819\.00 26 Nov 2026 Closing balance €4,500\.00 €1,800\.00 €2,819\.00 Not due yet/,
  );
});

test('when nothing was booked, then it says so', async () => {
  const { text } = await renderer.read(aStatement([]));
  expect(plain(text)).toContain('Nothing was booked in this period.');
});

test('when texts are hostile, then they are printed as text, and what reorders or has no glyph is named once', async () => {
  const rows = [
    { amount: 10, text: '<script>alert(1)</script> {{x}} <%= 1 %>' },
    { amount: 10, text: `INV\u202e-0001 ${'\u{12000}'.repeat(3)}` },
    { amount: 10, text: `${'Donaudampfschifffahrtsgesellschaft'.repeat(10)}`, number: 'X'.repeat(200) },
    { amount: 999_999_999_999.99, text: 'مرحبا INV-7 שלום' },
  ];
  const { text, warnings } = await renderer.read(aStatement([aCurrencyStatement('EUR', rows)], { locale: 'de-DE' }));
  const all = text.replaceAll(/\s+/g, '');
  expect(all).toContain('<script>alert(1)</script>{{x}}<%=1%>');
  expect(all).toContain('X'.repeat(200));
  expect(all).toContain('1.000.000.000.148,99€');
  expect(warnings).toEqual([
    expect.stringMatching(/^statement\.statements\.0\.rows\.1\.text: no glyph for U\+12000$/),
    expect.stringMatching(/^statement\.statements\.0\.rows\.1\.text: U\+202E removed/),
  ]);
});
