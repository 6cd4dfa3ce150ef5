// Discounts for early payment on paper, in every language that documents have.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { aRecord } from '../../support/renderer/documents.ts';
import { startRenderer, type TestRenderer } from '../../support/renderer/renderer.ts';

let renderer: TestRenderer;
beforeAll(async () => {
  renderer = await startRenderer();
});
afterAll(() => renderer.close());

const discounts = {
  amount: 120,
  currency: 'EUR',
  earlyPayment: [
    { until: '2026-12-05', percent: 3, amount: 116.4 },
    { until: '2026-12-12', percent: 2.25, amount: 117.3 },
  ],
};

test.each([
  ['en-US', '3% discount if paid by December 5, 2026: €116.40 to pay.'],
  ['de-DE', '2,25 % Skonto bei Zahlung bis 12. Dezember 2026: 117,30 € zu zahlen.'],
  ['fr-FR', 'Escompte de 3 %'],
  ['es-ES', 'Descuento del 3 %'],
  ['it-IT', 'Sconto del 3%'],
  ['pt-PT', 'Desconto de 3%'],
  ['nl-NL', '3% korting'],
  ['ja-JP', '3%割引'],
  ['ar-EG', 'خصم'],
])('when an invoice in %s has discounts, then the days and amounts are printed', async (locale, text) => {
  const { text: printed } = await renderer.read(aRecord({ ...discounts, locale }));
  const plain = (value: string) => value.normalize('NFKC').replaceAll(/[\s\u{200E}\u{200F}\u{2066}-\u{2069}]+/gu, '');
  expect(plain(printed)).toContain(plain(text));
});

test('when a discount was taken, then the current copy names it apart from what was written off', async () => {
  const settled = { amountPaid: 116.4, amountDiscounted: 3.6, amountDue: 0 };
  const { text } = await renderer.read(aRecord({ ...discounts, ...settled }));
  expect(text.replaceAll(/\s+/g, ' ')).toContain('Early payment discount');
  expect(text).not.toContain('Written off');
  expect(text).not.toContain('if paid by');
});
