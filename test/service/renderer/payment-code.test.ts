// The code to pay on a printed invoice: a scanner reads it from the page.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { epcCode } from '#libs/rules/paying/epc-code.ts';
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
