// Warnings to the caller when the printed amounts do not add up.
import { describe, expect, test } from '@jest/globals';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { fromMinor, lineNet, sumOfLines } from '#libs/rules/money/money.ts';
import { documentView } from '../../../services/renderer/document/document-view.ts';
import { anInvoice } from '../../support/renderer/documents.ts';

function warningsOf(document: PrintableDocument) {
  return documentView(document, { logo: undefined, banner: undefined, bodyHtml: undefined }).warnings;
}

const ONE_LINE = [{ description: 'Design', qty: 1, rate: 100 }];

describe('the PDF tool', () => {
  test.each([
    ['differs from the lines', { subtotal: 500, amount: 500 }, ['subtotal: differs from the lines']],
    [
      'differs from the lines, and the amount from it',
      { subtotal: 500, amount: 100 },
      ['amount: differs from the lines', 'subtotal: differs from the lines'],
    ],
    ['is their sum', { subtotal: 100, amount: 100 }, []],
    ['is their sum but for less than a cent', { subtotal: 100.004, amount: 100 }, []],
    ['stands over remarks alone', { subtotal: 500, amount: 500, lineItems: [{ description: 'As agreed' }] }, []],
    ['stands over no lines', { subtotal: 500, amount: 500, lineItems: [] }, []],
  ])('when the subtotal %s, then the warnings follow from that', (_how, given, warnings) => {
    expect(warningsOf(anInvoice({ lineItems: ONE_LINE, taxRate: 0, ...given }))).toEqual(warnings);
  });
});

describe('a stored document', () => {
  function aRecord(given: Partial<PrintableDocument>): PrintableDocument {
    const record: Partial<PrintableDocument> = { locale: 'en-GB', currency: 'EUR', taxRate: 0, taxAmount: 0, ...given };
    return { ...anInvoice(), ...record };
  }

  test('when a quote has another amount than its lines, then there is one warning', () => {
    const lineItems = [{ description: 'Design', qty: '1', rate: '250', amount: 250 }];

    expect(warningsOf(aRecord({ isQuote: true, subtotal: 1000, amount: 1000, lineItems }))).toEqual([
      'amount: differs from the lines',
    ]);
  });

  test('when its only line is its description, then there is no warning', () => {
    const lineItems = [{ description: 'Design', amount: 1000 }];

    expect(warningsOf(aRecord({ subtotal: 1000, amount: 1000, lineItems }))).toEqual([]);
  });

  test.each(['EUR', 'JPY', 'KWD'])(
    'when lines in %s have discounts and fractions, then there is no warning',
    (currency) => {
      const lines = [
        { qty: '3', rate: '0.3335', discount: '12.5' },
        { qty: '1.25', rate: '99.995', discount: '33.333' },
        { qty: '-1', rate: '7.5', discount: '0' },
      ];
      const sum = fromMinor(sumOfLines(lines, currency), currency);
      const lineItems = lines.map((line) => ({ ...line, amount: fromMinor(lineNet(line, currency), currency) }));

      expect(warningsOf(aRecord({ currency, subtotal: sum, amount: sum, lineItems }))).toEqual([]);
    },
  );
});
