// Twelve complaints of users of other invoicing software, each as the case that it is here. The official rules judge the
// files in test/e-invoices.
import { expect, test } from '@jest/globals';
import { embedXml } from '#libs/e-invoice/embed.ts';
import { type FormatName, formatOf } from '#libs/e-invoice/formats.ts';
import { missingIn } from '#libs/e-invoice/missing.ts';
import { readEInvoice } from '#libs/e-invoice/read/read-e-invoice.ts';
import type { EInvoice } from '#libs/e-invoice/terms.ts';
import { writeEInvoice } from '#libs/e-invoice/write.ts';
import type { InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { archiveFile } from '#libs/pdf/archive.ts';
import { UnknownForm } from '#libs/pdf/structure.ts';
import { type Case, cases, client, issuer } from '../../e-invoices/cases.ts';
import { termsOfCase } from '../../e-invoices/terms-of-case.ts';
import { chromiumPdf } from '../../support/chromium-pdf.ts';

const plain = cases['plain'] as Case;
const termsOf = (name: string) => termsOfCase(cases[name] as Case);
const withFields = (fields: Partial<InvoiceRecord>): EInvoice =>
  termsOfCase({ ...plain, record: { ...plain.record, ...fields } as InvoiceRecord });
const xml = (terms: EInvoice, format: FormatName = 'en16931-cii') => writeEInvoice(terms, format);
const lacks = (terms: EInvoice, format: FormatName) => missingIn(terms, format).map(({ path }) => path.join('.'));

test('1: when nothing or all was paid, then the invoice asks for what it asked for when it was issued', () => {
  for (const amount_paid of [0, 141_004]) {
    const written = xml(withFields({ amount_paid }));
    expect(written).not.toContain('TotalPrepaidAmount');
    expect(written).toContain(`<ram:DuePayableAmount>${termsOf('plain').totals.gross}</ram:DuePayableAmount>`);
  }
});

test('2: when the work has a day or a period, then the day of supply is not that of the invoice', () => {
  expect(withFields({ service_date: '2026-10-15' })).toMatchObject({
    deliveredOn: '2026-10-15',
    issuedOn: '2026-11-21',
  });
  const period = { from: '2026-10-01', to: '2026-10-31' };
  expect(withFields({ service_period: period })).toMatchObject({ deliveredOn: '2026-10-31', period });
});

test('3: when a line has a discount, then it is an allowance beside the price, and quantity times price less it is the net', () => {
  for (const { quantity, price, net, adjustment } of termsOf('discounts of a third').lines) {
    const off = Number(adjustment?.amount ?? 0) * (adjustment?.isCharge ? -1 : 1);
    expect((Number(quantity) * Number(price) - off).toFixed(2)).toBe(net);
  }
  expect(xml(termsOf('discounts of a third'))).toContain('<ram:ActualAmount>');
});

test('4: when the client owes the tax, then line and total have category AE, and the VAT id of the client is one', () => {
  const terms = termsOf('reverse charge');
  expect([...terms.lines, ...terms.taxes].map(({ category }) => category)).toEqual(['AE', 'AE', 'AE']);
  expect(xml(terms)).toContain('<ram:ID schemeID="VA">BE0428759497</ram:ID>');
  expect(xml(terms)).toContain('VATEX-EU-AE');
});

test('5: when there is no tax, then there is a row of taxes with its reason all the same', () => {
  expect(termsOf('a small business').taxes).toMatchObject([
    { category: 'E', tax: '0.00', reason: expect.stringMatching('§ 19') },
  ]);
  expect(termsOf('outside the scope of tax').taxes).toMatchObject([{ category: 'O', tax: '0.00' }]);
});

test('6: when no electronic address is set, then none is guessed, and Peppol refuses an e-mail address', () => {
  const { electronic_address: _own, ...other } = client;
  const terms = termsOfCase({ ...plain, parties: { issuer, client: other } });
  expect(terms.buyer.electronicAddress).toEqual({ scheme: 'EM', value: other.email });
  expect(lacks(terms, 'peppol-ubl')).toEqual(['client.electronic_address']);
  expect(lacks(terms, 'xrechnung-ubl')).toEqual([]);
  expect(formatOf('peppol-ubl').specification).toContain('peppol.eu:2017:poacc:billing:3.0');
});

test('7: when the XML stands in a PDF, then it claims PDF/A-3 and the profile, and a PDF of another form is refused, never given out plain', () => {
  const { embedded } = formatOf('facturx');
  if (!embedded) throw new Error('Factur-X stands in a PDF');
  const pages = archiveFile(chromiumPdf(), { author: 'Studio North', language: 'en', isAccessible: false });
  const hybrid = embedXml(pages, Buffer.from(xml(termsOf('plain'))), embedded).toString('latin1');
  const metadata = hybrid.slice(hybrid.lastIndexOf('<x:xmpmeta'));
  for (const claim of ['<pdfaid:part>3<', '<pdfaid:conformance>B<', '<fx:ConformanceLevel>EN 16931<'])
    expect(metadata).toContain(claim);
  for (const part of ['/OutputIntents', '/AF [', '/EmbeddedFiles', '/ID [<']) expect(hybrid).toContain(part);
  for (const other of ['%PDF-1.7\n%%EOF\n', 'no PDF', ''])
    expect(() => embedXml(Buffer.from(other), Buffer.from('<a/>'), embedded)).toThrow(UnknownForm);
});

test('8: when a name, a phone or a city is missing, then all of it is said at once, by the names of our fields', () => {
  const { phone: _phone, payment_options: _options, ...bare } = issuer;
  const terms = termsOfCase({ ...plain, parties: { issuer: { ...bare, name: '' }, client } });
  expect(lacks(terms, 'xrechnung-cii')).toEqual(['account.payment_options', 'account.name', 'account.phone']);
});

test('9: when authorities take one attachment, then one file has the pages and the XML', () => {
  const { embedded } = formatOf('facturx-xrechnung');
  if (!embedded) throw new Error('XRechnung stands in a PDF');
  const pages = archiveFile(chromiumPdf(), { author: 'Studio North', language: 'en', isAccessible: false });
  const hybrid = embedXml(pages, Buffer.from(xml(termsOf('plain'), 'facturx-xrechnung')), embedded);
  const { invoice, files } = readEInvoice(new Uint8Array(hybrid));
  expect(hybrid.subarray(0, pages.length)).toEqual(pages);
  expect(files).toMatchObject([{ file_name: 'xrechnung.xml', relationship: 'Alternative', is_invoice: true }]);
  expect(invoice.number).toBe(termsOf('plain').number);
});

test('10: when rates are mixed, or prices include tax, then each tax is rounded once and the sums agree to the cent', () => {
  for (const name of ['mixed rates', 'fractions', 'prices with tax', 'prices with tax, discount, shipping']) {
    const { lines, adjustments, taxes, totals } = termsOf(name);
    const cents = (amounts: readonly string[]) => amounts.reduce((sum, one) => sum + Math.round(Number(one) * 100), 0);
    const charges = adjustments.map(({ isCharge, amount }) => (isCharge ? amount : `-${amount}`));
    expect(cents([...lines.map(({ net }) => net), ...charges])).toBe(cents([totals.net]));
    expect(cents(taxes.map(({ taxable }) => taxable))).toBe(cents([totals.net]));
    expect(cents([totals.net, totals.tax])).toBe(cents([totals.gross]));
  }
});

test('11: when it is a credit note, then its type is 381, its amounts are positive, and it names its invoice', () => {
  const terms = termsOf('credit note');
  expect([terms.type, terms.preceding]).toEqual(['381', [{ number: 'INV-0042', issuedOn: '2026-11-21' }]]);
  expect(terms.lines.every(({ price }) => Number(price) >= 0)).toBe(true);
  expect(xml(terms, 'peppol-ubl')).toContain('<CreditNote ');
});

test('12: when a line has no unit, then it is one of a thing; hours are HUR, and a code stays as it is', () => {
  const [hours, months] = termsOf('plain').lines;
  expect([hours?.unit, months?.unit, termsOf('mixed rates').lines[0]?.unit]).toEqual(['HUR', 'MON', 'C62']);
});
