// Discounts for early payment on paper, in every language that documents have.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { aRecord } from '../../support/renderer/documents.ts';
import { startRenderer, type TestRenderer } from '../../support/renderer/renderer.ts';

let renderer: TestRenderer;
beforeAll(async () => {
  renderer = await startRenderer();
});
afterAll(() => renderer.close());

const plain = (value: string) => value.normalize('NFKC').replaceAll(/[\s\u{200E}\u{200F}\u{2066}-\u{2069}]+/gu, '');

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
  expect(plain(printed)).toContain(plain(text));
});

test.each([
  ['en-US', '3% discount if paid within 7 days of the invoice.'],
  ['en-US', '2.25% discount if paid within 1 day of the invoice.'],
  ['de-DE', '3 % Skonto bei Zahlung innerhalb von 7 Tagen nach Rechnungsdatum.'],
  ['fr-FR', 'Escompte de 3 % en cas de paiement sous 7 jours'],
  ['es-ES', 'Descuento del 3 % por pago en 7 días'],
  ['it-IT', 'Sconto del 3% per pagamento entro 7 giorni'],
  ['pt-PT', 'Desconto de 3% para pagamento em 7 dias'],
  ['nl-NL', '3% korting bij betaling binnen 7 dagen'],
  ['ja-JP', '7日以内のお支払いで3%割引'],
  ['ar-EG', 'غضون'],
])('when a quote in %s offers discounts, then it says for how many days', async (locale, text) => {
  const earlyPaymentOffers = [
    { days: 7, percent: 3 },
    { days: 1, percent: 2.25 },
  ];
  const { text: printed } = await renderer.read(aRecord({ title: 'Quote', isQuote: true, earlyPaymentOffers, locale }));
  expect(plain(printed)).toContain(plain(text));
});

test('when a discount was taken, then the current copy names it apart from what was written off', async () => {
  const settled = { amountPaid: 116.4, amountDiscounted: 3.6, amountDue: 0 };
  const { text } = await renderer.read(aRecord({ ...discounts, ...settled }));
  expect(text.replaceAll(/\s+/g, ' ')).toContain('Early payment discount');
  expect(text).not.toContain('Written off');
  expect(text).not.toContain('if paid by');
});
