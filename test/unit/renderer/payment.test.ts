// Payment details of an invoice, the part of a quote that it bills, and lines of which only the amount counts.
import { describe, expect, test } from '@jest/globals';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { documentView } from '../../../services/renderer/document/document-view.ts';
import { aRecord } from '../../support/renderer/documents.ts';

function viewOf(given: Partial<PrintableDocument>) {
  return documentView(aRecord(given), { logo: undefined, banner: undefined, bodyHtml: undefined }).view;
}

const BANK = 'Studio North\nIBAN DE89 3704 0044 0532 0130 00';

describe('the payment block', () => {
  const due = (given: Partial<PrintableDocument>) => {
    const { payment } = viewOf({ bankDetails: BANK, ...given });
    return payment && Object.values(payment.due).join('');
  };

  test('when an invoice is due, then where, how much, until when and with which reference to pay are together', () => {
    const { payment, facts } = viewOf({ bankDetails: BANK });

    expect(payment).toEqual({
      accounts: BANK,
      due: { before: '', symbol: '€', after: '1,481.40' },
      facts: [
        { label: 'Due date', value: '5 December 2026' },
        { label: 'Reference', value: 'INV-0042' },
      ],
      links: [],
    });
    // The headline has the day, too.
    expect(facts.map(({ label }) => label)).toEqual(['Issue date']);
  });

  test('when there is a code to pay with, then it is drawn, and only while something is due', () => {
    const code = (given: Partial<PrintableDocument>) =>
      viewOf({ bankDetails: BANK, transferCode: 'BCD', ...given }).payment?.code;

    expect(code({})).toMatch(/^data:image\/svg\+xml;base64,/);
    expect(code({ mark: 'paid', amountPaid: 1481.4, amountDue: 0 })).toBeUndefined();
  });

  test('when a part is paid, then the rest is what is to be paid', () => {
    expect(due({ amountPaid: 1000, amountDue: 481.4 })).toBe('€481.40');
  });

  test('when it is a draft, then it has no number to pay with', () => {
    expect(viewOf({ bankDetails: BANK, mark: 'draft' }).payment?.facts.map(({ label }) => label)).toEqual(['Due date']);
  });

  test.each<[string, Partial<PrintableDocument>]>([
    ['is paid', { mark: 'paid', amountPaid: 1481.4, amountDue: 0 }],
    ['is cancelled', { mark: 'cancelled' }],
    ['is written off', { mark: 'written_off', amountPaid: 0, amountWrittenOff: 1481.4, amountDue: 0 }],
    ['is of nothing', { amount: 0 }],
    ['is a quote', { isQuote: true }],
    ['is a receipt', { receipt: { method: 'cash' } }],
    ['is a credit note', { creditNote: { invoice: 'INV-1', issuedOn: '2026-11-01', reason: 'correction' } }],
    ['names no account', { bankDetails: ' ' }],
  ])('when a document %s, then it has none', (_case, given) => {
    expect(due(given)).toBeUndefined();
  });
});

describe('a part of a quote', () => {
  test.each([
    ['en-GB', 'Deposit invoice', 'Progress invoice', 'Final invoice'],
    ['de-DE', 'Anzahlungsrechnung', 'Abschlagsrechnung', 'Schlussrechnung'],
    ['fr-FR', 'Facture d’acompte', 'Facture de situation', 'Facture de solde'],
    ['es-ES', 'Factura de anticipo', 'Factura parcial', 'Factura final'],
    ['it-IT', 'Fattura di acconto', 'Fattura di avanzamento lavori', 'Fattura a saldo'],
    ['nl-NL', 'Aanbetalingsfactuur', 'Termijnfactuur', 'Eindfactuur'],
    ['pt-PT', 'Fatura de adiantamento', 'Fatura parcial', 'Fatura final'],
    ['ja-JP', '手付金請求書', '中間金請求書', '最終請求書'],
    ['ar-AE', 'فاتورة دفعة مقدمة', 'فاتورة مرحلية', 'فاتورة نهائية'],
  ])('when the locale is %s, then the heading says which part it is', (locale, ...headings) => {
    const parts = ['deposit', 'progress', 'final'] as const;
    expect(parts.map((part) => viewOf({ locale, part }).heading)).toEqual(headings);
    expect(viewOf({ locale, part: 'full' }).heading).toBe(viewOf({ locale }).heading);
  });

  const line = { description: 'Share', qty: '1', rate: '600', discount: '0', amount: 600 };
  const priced = (given: Partial<PrintableDocument>) => {
    const { table } = viewOf(given);
    return table?.last.map(({ qty, rate, amount }) => [qty, rate?.after, amount && amount.before + amount.after]);
  };

  test('when a line is the share of a quote or takes something off, then its amount alone is printed', () => {
    const less = { ...line, rate: '-600', amount: -600 };
    expect(priced({ part: 'deposit', lineItems: [line] })).toEqual([['', undefined, '600.00']]);
    expect(priced({ part: 'final', lineItems: [line, less] })).toEqual([
      ['1', '600.00', '600.00'],
      ['', undefined, '\u2212600.00'],
    ]);
  });

  test.each<[string, Partial<PrintableDocument>]>([
    ['has a unit', { lineItems: [{ ...line, rate: '-600', unit: 'hour' }] }],
    ['is of several', { lineItems: [{ ...line, rate: '-300', qty: '2' }] }],
    ['has a discount', { lineItems: [{ ...line, rate: '-600', discount: '10' }] }],
    [
      'is of a credit note',
      {
        lineItems: [{ ...line, rate: '-600' }],
        creditNote: { invoice: '1', issuedOn: '2026-11-01', reason: 'return' },
      },
    ],
  ])('when such a line %s, then quantity and rate are printed', (_case, given) => {
    expect(priced(given)?.[0]?.[0]).not.toBe('');
  });
});
