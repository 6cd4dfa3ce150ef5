// The payment part of a Swiss QR-bill on a printed invoice: its place, its measures, its words, and its code as a
// scanner reads it. Lengths are those of the Style Guide QR-bill.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { type SwissBill, swissBill, swissCode } from '#libs/rules/paying/swiss-bill.ts';
import { aRecord } from '../../support/renderer/documents.ts';
import { openPrinter, type Printer } from '../../support/renderer/print-directly.ts';
import { type ReadPdf, readPdf } from '../../support/renderer/read-pdf.ts';

const address = { line1: 'Seestrasse 7', postal_code: '8002', city: 'Zürich', country: 'CH' };
const debtor = { name: 'Konrad Käufer', line1: 'Ring 1', postal_code: '1010', city: 'Wien', country: 'AT' };
const option = { type: 'swiss_qr', holder: 'Studio Nord AG', address } as const;
const sum = { amount: 148_140, currency: 'CHF', number: 'INV-0042' };
const withReference = swissBill({ ...option, qr_iban: 'CH4431999123000889012' }, sum) as SwissBill;
const withDebtor = swissBill({ ...option, iban: 'CH9300762011623852957' }, { ...sum, debtor }) as SwissBill;

/** The upper edge of the part on A4. */
const TOP = 297 - 105;
const CODE = { x: 62, y: TOP + 12, width: 56, height: 56 };

let printer: Printer;
beforeAll(async () => {
  printer = await openPrinter(process.env['TEST_CHROMIUM_PATH'] ?? '');
});
afterAll(() => printer.close());

const printed = async (given: Partial<PrintableDocument>) =>
  readPdf(await printer.print(aRecord({ currency: 'CHF', ...given })));
const wordIn = (pdf: ReadPdf, page: number, text: string) =>
  pdf.pages[page - 1]?.words.find((word) => word.text === text);
const someLines = (count: number) =>
  Array.from({ length: count }, () => ({ description: 'Work', qty: '1', rate: '1', discount: '0', amount: 1 }));

describe('in every language of the standard', () => {
  test.each([
    ['de-CH', 'elegant', 'Empfangsschein', 'Zahlteil', 'Zahlbar durch', 'Annahmestelle'],
    ['fr-CH', 'modern', 'Récépissé', 'Section paiement', 'Payable par', 'Point de dépôt'],
    ['it-CH', 'classic', 'Ricevuta', 'Sezione pagamento', 'Pagabile da', 'Punto di accettazione'],
    ['en-GB', 'elegant', 'Receipt', 'Payment part', 'Payable by', 'Acceptance point'],
    ['ja-JP', 'modern', 'Receipt', 'Payment part', 'Payable by', 'Acceptance point'],
    ['ar-AE', 'classic', 'Receipt', 'Payment part', 'Payable by', 'Acceptance point'],
  ] as const)(
    'when an invoice in %s fits, then the part is at the foot of its page, in the measures of the standard',
    async (locale, fontStyle, receipt, part, payableBy, point) => {
      const pdf = await printed({ locale, fontStyle, swissBill: withDebtor, legalNote: 'CHE-116.281.710' });

      expect(pdf.pages).toHaveLength(1);
      expect(await pdf.codeIn(1, CODE)).toBe(swissCode(withDebtor));
      for (const [text, x, y] of [
        [receipt, 5, 5],
        [part, 67, 5],
        [payableBy, 118, 40],
      ] as const) {
        const words = pdf.pages[0]?.words.filter((word) => word.text === text) ?? [];
        const word = words.find((one) => Math.abs(one.x - x) < 0.3);
        expect({ text, x: word?.x }).toEqual({ text, x: expect.closeTo(x, 0) });
        expect(word?.y).toBeGreaterThan(TOP + y);
      }
      expect(wordIn(pdf, 1, point)?.y).toBeGreaterThan(TOP + 82);
      expect(pdf.text).toContain('CHE-116.281.710');
      const legal = pdf.pages[0]?.words.find(({ text }) => text.includes('CHE-116'));
      expect(legal?.y).toBeLessThan(TOP);
      // The lines to cut along, and the edge of the code.
      expect(await isMarked(pdf, { x: 100, y: TOP - 0.5, width: 20, height: 1 })).toBe(true);
      expect(await isMarked(pdf, { x: 61.5, y: TOP + 60, width: 1, height: 20 })).toBe(true);
      expect(await pdf.isBlank(1, { x: 63, y: TOP + 13, width: 50, height: 3.5 })).toBe(true);
      expect(await isMarked(pdf, { x: 67, y: TOP + 17, width: 5, height: 1 })).toBe(true);
    },
  );
});

const isMarked = async (pdf: ReadPdf, box: Parameters<ReadPdf['isBlank']>[1]) => !(await pdf.isBlank(1, box));

test('when the client is not known in the form of the standard, then its field is empty and has marked corners', async () => {
  const pdf = await printed({ locale: 'de-CH', swissBill: withReference });

  expect(await pdf.codeIn(1, CODE)).toBe(swissCode(withReference));
  expect(pdf.text).toContain('00 00000 00000 00000 00000 00420');
  const label = pdf.pages[0]?.words.filter(({ text }) => text === 'Zahlbar durch (Name/Adresse)') ?? [];
  expect(label.map(({ x }) => Math.round(x))).toEqual([5, 118]);
  const [, inPart = { y: 0 }] = label;
  expect(await isMarked(pdf, { x: 117.5, y: inPart.y + 1, width: 4, height: 3 })).toBe(true);
  expect(await pdf.isBlank(1, { x: 122, y: inPart.y + 4, width: 50, height: 15 })).toBe(true);
});

test('when the invoice has no room above the part, then the part is alone on the last page', async () => {
  const pdf = await printed({ swissBill: withDebtor, lineItems: someLines(14) });

  expect(pdf.pages).toHaveLength(2);
  expect(pdf.pages[0]?.text).toContain('1 / 2');
  expect(pdf.pages[0]?.text).not.toContain('Payment part');
  expect(await pdf.codeIn(2, CODE)).toBe(swissCode(withDebtor));
});

test('when the paper is letter, then the part is on A4', async () => {
  const pdf = await printed({ locale: 'en-US', pageSize: 'letter', swissBill: withDebtor });

  expect(pdf.pages).toHaveLength(2);
  expect(pdf.size.height).toBeCloseTo(279.4, 0);
  expect(await pdf.codeIn(2, CODE)).toBe(swissCode(withDebtor));
});

test('when there is a time sheet, then it follows the page with the part', async () => {
  const entry = { date: '2026-11-02', description: 'Drawing', hours: '2' };
  const time = [{ description: 'Work', hours: '2', billed: '2', rate: '100', amount: 200, entries: [entry] }];
  const pdf = await printed({ swissBill: withDebtor, time });

  expect(pdf.pages.map(({ text }) => [text.includes('Payment part'), text.includes('Drawing')])).toEqual([
    [true, false],
    [false, true],
  ]);
  expect(pdf.pages[0]?.linkedPages).toEqual([2]);
});

test('when the addresses are as long as the standard allows, then they stay within the part, and the receipt leaves streets out', async () => {
  const long = {
    name: 'Internationale Gesellschaft für ausserordentlich lange Namen in Zürich',
    line1: 'Street of the long names '.repeat(2).concat('and numbers 12345678'),
    city: 'Llanfairpwllgwyngyllgogerychwyrndro',
  };
  const bill = swissBill(
    {
      ...option,
      holder: long.name,
      address: { ...long, postal_code: '8002', country: 'CH' },
      qr_iban: 'CH4431999123000889012',
    },
    { ...sum, debtor: { ...debtor, ...long } },
  ) as SwissBill;
  const pdf = await printed({ swissBill: bill });

  expect(pdf.pages).toHaveLength(1);
  expect(await pdf.codeIn(1, CODE)).toBe(swissCode(bill));
  const inPart = pdf.pages[0]?.words.filter(({ y }) => y > TOP) ?? [];
  const ofReceipt = inPart.filter(({ x }) => x < 60);
  expect(ofReceipt.some(({ text }) => text.includes('Street'))).toBe(false);
  const currency = ofReceipt.find(({ text }) => text === 'Currency');
  const facts = ofReceipt.filter(({ text }) => /Namen|Llanfair/.test(text));
  expect(Math.max(...facts.map(({ y }) => y))).toBeLessThan((currency?.y ?? 0) - 2);
  expect(Math.max(...facts.map(({ x, width }) => x + width))).toBeLessThan(58);
  const ofPart = inPart.filter(({ x }) => x > 117);
  expect(Math.max(...ofPart.map(({ y }) => y))).toBeLessThan(295);
  expect(Math.max(...ofPart.map(({ x, width }) => x + width))).toBeLessThan(206);
});

test('when the file is accessible, then the code has a text for screen readers', async () => {
  const bytes = await printer.print(
    aRecord({ locale: 'en-GB', currency: 'CHF', accessible: true, swissBill: withDebtor }),
  );
  const pdf = await readPdf(bytes);

  expect(pdf.isTagged).toBe(true);
  expect(bytes.toString('latin1')).toContain('/Alt (Scan to pay)');
});
