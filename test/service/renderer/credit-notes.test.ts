// Printed credit notes: which invoice they correct and why, with a minus before every amount, in every language of documents.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { anInvoice } from '../../support/renderer/documents.ts';
import { startRenderer, type TestRenderer } from '../../support/renderer/renderer.ts';

let renderer: TestRenderer;
beforeAll(async () => {
  renderer = await startRenderer();
});
afterAll(() => renderer.close());

function aCreditNote(locale: string, lineItems: PrintableDocument['lineItems']): PrintableDocument {
  const { dueDate: _none, ...document } = anInvoice({ number: 'CRN-0003', amount: -119, subtotal: -100, taxRate: 19 });
  return {
    ...document,
    lineItems,
    taxAmount: -19,
    locale,
    currency: 'EUR',
    creditNote: { invoice: 'INV-0042', issuedOn: '2026-11-02', reason: 'correction', applied: 59.5, credit: 59.5 },
  } as PrintableDocument;
}

test.each([
  ['en-GB', 'Credit note', '2 November 2026', 'Correction', 'Credit for invoice INV-0042', 'Taken off the amount due'],
  ['de-DE', 'Rechnungskorrektur', '2. November 2026', 'Berichtigung', 'Korrektur der Rechnung INV-0042'],
  ['fr-FR', 'Avoir', '2 novembre 2026', 'Rectification', 'Avoir sur la facture INV-0042', 'Déduit du montant dû'],
  ['es-ES', 'Factura rectificativa', '2 de noviembre de 2026', 'Corrección', 'Rectificación de la factura INV-0042'],
  ['it-IT', 'Nota di credito', '2 novembre 2026', 'Rettifica', 'Storno della fattura INV-0042'],
  ['nl-NL', 'Creditfactuur', '2 november 2026', 'Correctie', 'Creditering van factuur INV-0042'],
  ['pt-PT', 'Nota de crédito', '2 de novembro de 2026', 'Correção', 'Crédito da fatura INV-0042'],
  ['ja-JP', '返還請求書', '2026年11月2日', '訂正', '請求書 INV-0042 の返還', '未払額から差引'],
  ['ar-AE', 'INV-0042', 'CRN-0003'],
])('when it is written in %s, then it names the invoice, its date and the reason', async (locale, ...texts) => {
  const pdf = await renderer.read(aCreditNote(locale, [{ description: '', amount: -100 }]));
  const all = pdf.text.replaceAll(/\s+/g, ' ');
  for (const text of texts) expect(all).toContain(text);
});

test('when it has lines, then every amount but the settlement has a minus, and the parts add up', async () => {
  const { text } = await renderer.read(
    aCreditNote('en-GB', [
      { description: 'Drawings', qty: '-1', rate: '60', discount: '0', amount: -60 },
      { description: 'Visits', qty: '-2', rate: '20', discount: '0', amount: -40 },
    ]),
  );
  const [, parts = ''] = text.split('Amount');
  const sums = [...parts.matchAll(/([−-]?)€([\d,]+\.\d{2})/g)].map(([, sign, sum]) =>
    Number(`${sign}${sum}`.replace('−', '-')),
  );
  // Price and amount of each line, subtotal, tax, total; then how the total was settled.
  expect(sums).toEqual([60, -60, 20, -40, -100, -19, -119, 59.5, 59.5]);
});
