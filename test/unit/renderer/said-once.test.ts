// Facts of a document about its parties and taxes: each is printed once, and an empty one is not printed.
import { describe, expect, test } from '@jest/globals';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { documentView } from '../../../services/renderer/document/document-view.ts';
import { anInvoice, aRecord } from '../../support/renderer/documents.ts';

function viewOf(document: PrintableDocument) {
  return documentView(document, { logo: undefined, banner: undefined, bodyHtml: undefined }).view;
}

const rowsOf = (given: Partial<PrintableDocument>) => viewOf(aRecord(given)).totals.map(({ label }) => label);

describe('the parties', () => {
  test('when a person trades under the own name, then it is printed once', () => {
    const { issuer, client } = viewOf(
      aRecord({
        partnerName: 'Ada North',
        partnerCompany: 'ADA  NORTH'.replace('  ', ' '),
        clientName: 'Kim',
        clientCompany: 'Kim & Co',
      }),
    );

    expect([issuer.name, issuer.lines]).toEqual(['ADA NORTH', ['grace@issuer.example']]);
    expect([client.name, client.lines[0]]).toEqual(['Kim & Co', 'Kim']);
  });

  test('when the issuer has tax numbers, then they are in the foot and not beside its address', () => {
    const { issuer, legal } = viewOf(
      aRecord({ partnerVatId: 'DE136695976', partnerLegalId: 'HRB 1', bankDetails: 'IBAN DE1' }),
    );

    expect(issuer.lines).toEqual(['grace@issuer.example']);
    expect(legal.map((line) => line.replaceAll('\u00a0', ' '))).toEqual(['HRB 1', 'VAT ID DE136695976']);
  });

  test.each([
    ['株式会社リンド', '岡田 真理', '株式会社リンド', '岡田 真理 様'],
    ['株式会社リンド', '株式会社リンド', '株式会社リンド 御中', 'ada@client.example'],
    ['株式会社リンド御中', '株式会社リンド御中', '株式会社リンド御中', 'ada@client.example'],
    [undefined, '岡田 真理', '岡田 真理 様', 'ada@client.example'],
  ])(
    'when the client of a Japanese document is %s and %s, then it is addressed with its title',
    (clientCompany, clientName, name, first) => {
      const given = { clientName, ...(clientCompany ? { clientCompany } : {}), locale: 'ja-JP', currency: 'JPY' };
      const { client } = viewOf(aRecord(given));

      expect([client.name, client.lines[0]]).toEqual([name, first]);
      expect(viewOf(aRecord({ ...given, locale: 'en-GB' })).client.name).toBe(clientCompany ?? clientName);
    },
  );

  test.each([
    ['ja-JP', 'T1234567890123', '登録番号 T1234567890123'],
    ['en-GB', 'T1234567890123', 'Registration number T1234567890123'],
    ['ar-SA', '310122393500003', 'رقم ضريبة القيمة المضافة 310122393500003'],
    ['en-GB', '310122393500003', 'VAT number 310122393500003'],
  ])(
    'when a document in %s has the number %s, then it is called what it is, in whichever field it came',
    (locale, number, label) => {
      for (const field of ['partnerVatId', 'partnerTaxNumber', 'partnerTaxId'] as const)
        expect(
          viewOf(aRecord({ locale, [field]: number })).legal.map((line) => line.replaceAll('\u00a0', ' ')),
        ).toEqual([label]);
    },
  );
});

describe('the sums', () => {
  test('when a stored document has no tax, then it has no row for it; with a note it has the note', () => {
    const untaxed = { taxRate: 0, taxAmount: 0, subtotal: 1234.5, amount: 1234.5 };

    expect(rowsOf(untaxed)).toEqual(['Subtotal']);
    const exempt = { ...untaxed, taxes: [{ rate: 0, category: 'AE' as const, taxable: 1234.5, tax: 0 }] };
    expect(rowsOf(exempt)).toEqual(['Subtotal']);
    expect(viewOf(aRecord(exempt)).taxNotes).toEqual(['Reverse charge: the recipient accounts for the VAT']);
  });

  test('when one of several rates is zero, then its row says what it is the tax of', () => {
    const taxes = [
      { rate: 20, category: 'S' as const, taxable: 1000, tax: 200 },
      { rate: 0, category: 'E' as const, taxable: 234.5, tax: 0 },
    ];

    expect(rowsOf({ taxes })).toEqual(['Subtotal', 'Tax (20%)', 'Tax (0%)']);
  });

  test('when a document of the PDF tool says a rate of zero, then the row is printed', () => {
    expect(viewOf(anInvoice({ taxRate: 0, amount: 200 })).totals.map(({ label }) => label)).toEqual([
      'Subtotal',
      'Tax (0%)',
    ]);
  });

  test('when a payment came without a method, then its receipt has no row for it', () => {
    const labelsWith = (method: 'other' | 'cash') =>
      viewOf(aRecord({ receipt: { method } })).facts.map(({ label }) => label);

    expect(labelsWith('cash')).toContain('Payment method');
    expect(labelsWith('other')).not.toContain('Payment method');
  });
});

describe('days', () => {
  test.each(['el-GR', 'tr-TR', 'ru-RU', 'vi-VN', 'zh-CN', 'zh-TW', 'ko-KR', 'pl-PL', 'zh', 'fi'])(
    'when a document in %s has English words, then its days are not American',
    (locale) => {
      expect(viewOf(aRecord({ locale })).facts[0]?.value).toBe('21 November 2026');
    },
  );

  test('when its region writes English, then its days are that of the region', () => {
    expect(viewOf(aRecord({ locale: 'es-US' })).facts[0]?.value).toBe('21 de noviembre de 2026');
    expect(viewOf(aRecord({ locale: 'vi-US' })).facts[0]?.value).toBe('November 21, 2026');
  });
});
