// The code to pay on a printed invoice: a scanner reads it from the page.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { STANDARD_LOOKS } from '#libs/documents/looks.ts';
import { invoiceDocument } from '#libs/documents/stored-document.ts';
import type { InvoiceRecord } from '#libs/models/billing/invoice.ts';
import type { Parties } from '#libs/models/billing/parties.ts';
import { newRecord } from '#libs/models/tenant.ts';
import { epcCode } from '#libs/rules/paying/epc-code.ts';
import type { PaymentOption } from '#libs/rules/paying/payment-options.ts';
import { aRecord, STYLES } from '../../support/renderer/documents.ts';
import { openPrinter, type Printer } from '../../support/renderer/print-directly.ts';
import { readPdf } from '../../support/renderer/read-pdf.ts';

const transferCode = String(
  epcCode({
    holder: 'Studio Nörd',
    iban: 'DE89370400440532013000',
    amount: 148_140,
    currency: 'EUR',
    reference: 'INV-0042',
  }),
);

let printer: Printer;
beforeAll(async () => {
  printer = await openPrinter(process.env['TEST_CHROMIUM_PATH'] ?? '');
});
afterAll(() => printer.close());

test.each(STYLES.flatMap((fontStyle) => ['de-DE', 'ar-AE'].map((locale) => ({ fontStyle, locale }))))(
  'when $fontStyle prints an invoice in $locale, then a scanner reads its code, and one page is enough',
  async (looks) => {
    const bankDetails = 'Studio Nörd\nIBAN DE89 3704 0044 0532 0130 00\nBIC COBADEFFXXX';
    const pdf = await readPdf(await printer.print(aRecord({ ...looks, bankDetails, transferCode })));

    expect(pdf.pages).toHaveLength(1);
    expect(pdf.text).toMatch(/scannen|الرمز/);
    expect(await pdf.codeIn(1, { x: 0, y: 0, ...pdf.size })).toBe(transferCode);
  },
);

test.each(['BCD\n002', 'upi://pay?pa=studio@okbank'])(
  'when the code of an accessible invoice is %j, then each of its figures has a text for screen readers',
  async (code) => {
    const pdf = await readPdf(await printer.print(aRecord({ transferCode: code, bankDetails: 'X', accessible: true })));
    expect(pdf.pages[0]?.figures).toEqual(['Scan to pay']);
  },
);

describe('an invoice in rupees of an account with a bank account, UPI and links', () => {
  const payment_options: PaymentOption[] = [
    { type: 'bank_transfer', iban: 'DE89370400440532013000' },
    { type: 'upi', vpa: 'studio@okbank', name: 'Studio & Söhne' },
    { type: 'link', label: 'Wise <b>', url: 'https://wise.example/{number}?sum={amount}{currency}' },
    { type: 'link', label: 'Own shop', url: 'https://shop.example/pay?ref={reference}' },
  ];
  const parties = {
    issuer: { name: 'Ada North', locale: 'en-IN', payment_options },
    client: { id: 'c', name: 'Konrad', email: 'konrad@example.com' },
  };
  const printedAs = async (status: InvoiceRecord['status']) => {
    const invoice = {
      ...newRecord('0192e0a0-0000-7000-8000-000000000001'),
      ...{ number: 7, status, issue_date: '2026-11-28', due_date: '2026-12-12', currency: 'INR' },
      ...{ amount: 148_140, tax_amount: 0, tax_rate: 0, amount_paid: 50_000, line_items: null, description: 'Work' },
    } as unknown as InvoiceRecord;
    const details = { parties: parties as Parties, timeZone: 'UTC', isTest: false };
    return readPdf(await printer.print(invoiceDocument(invoice, details, STANDARD_LOOKS)));
  };

  test('when it is sent, then UPI and each link are printed for what is due, and the code is that of UPI', async () => {
    const pdf = await printedAs('Sent');
    expect(pdf.pages).toHaveLength(1);
    expect(pdf.text).toContain('Studio & Söhne UPI studio@okbank');
    // A long address may break, and its link is then two.
    const text = pdf.text.replaceAll(/\s/g, '');
    expect(text).toContain('Wise<b>https://wise.example/INV-0007?sum=981.40INR');
    expect(text).toContain('Ownshophttps://shop.example/pay?ref=RF72INV0007');
    // A phone that shows the document cannot scan it: a tap on the code opens the app.
    const upi = 'upi://pay?pa=studio@okbank&pn=Studio%20%26%20S%C3%B6hne&am=981.40&cu=INR&tr=INV-0007';
    expect(new Set(pdf.pages[0]?.links)).toEqual(
      new Set(['https://wise.example/INV-0007?sum=981.40INR', 'https://shop.example/pay?ref=RF72INV0007', upi]),
    );
    expect(await pdf.codeIn(1, { x: 0, y: 0, ...pdf.size })).toBe(upi);
  });

  test('when it is a draft, then the address of UPI is printed, and no link: its number may still change', async () => {
    const { text } = await printedAs('Draft');
    expect(text).toContain('Studio & Söhne UPI studio@okbank');
    expect(text).not.toMatch(/wise\.example|shop\.example|Scan to pay/);
  });
});
