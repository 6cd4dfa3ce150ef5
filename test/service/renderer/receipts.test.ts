// Printed receipts: the payment, what it paid and what is left, in every language of documents.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { anInvoice } from '../../support/renderer/documents.ts';
import { startRenderer, type TestRenderer } from '../../support/renderer/renderer.ts';

let renderer: TestRenderer;
beforeAll(async () => {
  renderer = await startRenderer();
});
afterAll(() => renderer.close());

function aReceipt(locale: string): PrintableDocument {
  const { dueDate: _none, ...document } = anInvoice({ number: 'PAY-0007', amount: 400, subtotal: 400, taxRate: 0 });
  return {
    ...document,
    lineItems: [{ description: 'INV-0042', amount: 335 }],
    taxAmount: 0,
    locale,
    currency: 'EUR',
    receipt: { method: 'bank_transfer', reference: 'RF18 5390', credit: 55, refunded: 10 },
  } as PrintableDocument;
}

test.each([
  ['en-GB', 'Receipt', 'Bank transfer', 'Invoice INV-0042', 'Credit for later invoices', 'Amount received'],
  ['de-DE', 'Quittung', 'Überweisung', 'Rechnung INV-0042', 'Guthaben für spätere Rechnungen', 'Erhaltener Betrag'],
  ['fr-FR', 'Reçu', 'Virement', 'Facture INV-0042', 'Avoir pour de prochaines factures', 'Montant reçu'],
  ['es-ES', 'Recibo', 'Transferencia bancaria', 'Factura INV-0042', 'Reembolsado', 'Importe recibido'],
  ['it-IT', 'Ricevuta', 'Bonifico bancario', 'Fattura INV-0042', 'Rimborsato', 'Importo ricevuto'],
  ['nl-NL', 'Betalingsbewijs', 'Overschrijving', 'Factuur INV-0042', 'Terugbetaald', 'Ontvangen bedrag'],
  ['pt-PT', 'Recibo', 'Transferência bancária', 'Fatura INV-0042', 'Reembolsado', 'Valor recebido'],
  ['ja-JP', '領収書', '銀行振込', 'INV-0042', '返金額', '領収金額'],
  ['ar-AE', 'INV-0042'],
])('when it is written in %s, then it shows the payment, what it paid and what is left', async (locale, ...texts) => {
  const pdf = await renderer.read(aReceipt(locale));
  const all = pdf.text.replaceAll(/\s+/g, ' ');
  for (const text of texts) expect(all).toContain(text);
});

test('when money was refunded and some is left, then the printed parts add up to what was received', async () => {
  const { text } = await renderer.read(aReceipt('en-GB'));
  const [, parts = ''] = text.split('Description');
  const sums = [...parts.matchAll(/([−-]?)€([\d,]+\.\d{2})/g)].map(
    ([, sign, sum]) => Number(`${sign}${sum?.replace(',', '')}`.replace('−', '-')) * 100,
  );
  expect(sums.pop()).toBe(40_000);
  expect(sums.toSorted((one, other) => one - other)).toEqual([1_000, 5_500, 33_500]);
});

test.each([
  ['en-GB', 'Received from', 'Issued by'],
  ['de-DE', 'Erhalten von', 'Ausgestellt von'],
])('when it is written in %s, then client and issuer have labels that tell them apart', async (locale, to, from) => {
  const { text } = await renderer.read(aReceipt(locale));
  expect(text).toContain(to);
  expect(text).toContain(from);
});
