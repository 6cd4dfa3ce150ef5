// How much and when, in one line: what a reader looks for first, in every language.
import { describe, expect, test } from '@jest/globals';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { documentView } from '../../../services/renderer/document/document-view.ts';
import { anInvoice } from '../../support/renderer/documents.ts';

function headlineOf(given: Partial<PrintableDocument>) {
  const stored = { locale: 'en-GB', currency: 'EUR', subtotal: 200, taxAmount: 40 };
  const document = { ...anInvoice(), lineItems: [], ...stored, ...given } as PrintableDocument;
  const { view } = documentView(document, { logo: undefined, banner: undefined, bodyHtml: undefined });
  if (!view.headline) throw new Error('the document has no headline');
  const { sum, phrase } = view.headline;
  return [Object.values(sum).join('').replaceAll('\u00a0', ' '), phrase];
}

const QUOTE = { isQuote: true, dueDate: undefined, expiryDate: '2026-12-21' } as unknown as Partial<PrintableDocument>;

test.each([
  ['en-GB', 'due 5 December 2026', 'valid until 21 December 2026'],
  ['de-DE', 'fällig am 5. Dezember 2026', 'gültig bis 21. Dezember 2026'],
  ['fr-FR', 'échéance le 5 décembre 2026', 'valable jusqu’au 21 décembre 2026'],
  ['es-ES', 'vence el 5 de diciembre de 2026', 'válido hasta el 21 de diciembre de 2026'],
  ['nl-NL', 'te betalen uiterlijk 5 december 2026', 'geldig tot en met 21 december 2026'],
  ['pt-PT', 'vence em 5 de dezembro de 2026', 'válido até 21 de dezembro de 2026'],
  ['it-IT', 'da pagare entro il 5 dicembre 2026', 'valido fino al 21 dicembre 2026'],
  ['ja-JP', 'お支払期限 2026年12月5日', '有効期限 2026年12月21日'],
  ['ar-AE', 'مستحق في 5 ديسمبر 2026', 'صالح حتى 21 ديسمبر 2026'],
])('when the locale is %s, then an invoice is «%s» and a quote «%s»', (locale, due, valid) => {
  expect(headlineOf({ locale })[1]).toBe(due);
  expect(headlineOf({ locale, ...QUOTE })[1]).toBe(valid);
});

test('when an Italian day begins with a vowel, then its article is elided', () => {
  expect(headlineOf({ locale: 'it-IT', dueDate: '2026-12-08' })[1]).toBe('da pagare entro l’8 dicembre 2026');
  expect(headlineOf({ locale: 'it-IT', ...QUOTE, expiryDate: '2026-12-11' })[1]).toBe(
    'valido fino all’11 dicembre 2026',
  );
});

describe('what is due', () => {
  test('when a part is paid, then the headline shows the rest', () => {
    expect(headlineOf({ amountPaid: 100, amountDue: 140 })).toEqual(['€140.00', 'due 5 December 2026']);
  });

  test('when it is paid or cancelled, then the headline shows the whole sum and says so', () => {
    expect(headlineOf({ mark: 'paid', amountPaid: 240, amountDue: 0 })).toEqual(['€240.00', 'paid']);
    expect(headlineOf({ mark: 'paid', amountPaid: 12, amountDue: 0 })).toEqual(['€12.00', 'paid']);
    expect(headlineOf({ mark: 'written_off', amountPaid: 0, amountWrittenOff: 12, amountDue: 0 })).toEqual([
      '€12.00',
      'written off',
    ]);
    expect(headlineOf({ mark: 'cancelled' })).toEqual(['€240.00', 'cancelled']);
    expect(headlineOf({ mark: 'cancelled', locale: 'de-DE' })[1]).toBe('storniert');
  });

  test.each([0, -240])('when the sum is %d, then nothing is due', (amount) => {
    expect(headlineOf({ amount })[1]).toBeUndefined();
  });

  test('when there is no day, then the sum stands alone', () => {
    expect(headlineOf({ dueDate: undefined } as unknown as Partial<PrintableDocument>)).toEqual(['€240.00', undefined]);
  });
});
