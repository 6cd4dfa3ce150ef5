// Documents of our own records in their account's language: words, numbers, days and paper of a locale, on real PDFs.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import Big from 'big.js';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { currencyCodes } from '#libs/rules/money/money.ts';
import { documentView } from '../../../services/renderer/document/document-view.ts';
import { documentLocaleOf, writtenLocale } from '../../../services/renderer/document/locale.ts';
import { canDraw } from '../../../services/renderer/fonts/glyphs.ts';
import { sampled } from '../../support/form.ts';
import { aRecord, STYLES } from '../../support/renderer/documents.ts';
import type { ReadPdf, Word } from '../../support/renderer/read-pdf.ts';
import { startRenderer, type TestRenderer } from '../../support/renderer/renderer.ts';

let renderer: TestRenderer;
beforeAll(async () => {
  renderer = await startRenderer();
});
afterAll(() => renderer.close());

const read = (given: Partial<PrintableDocument>) => renderer.read(aRecord(given));

describe('the language of the account', () => {
  test.each([
    ['en-US', 'Invoice', 'Total €1,481.40', 'December 5, 2026'],
    ['de-DE', 'Rechnung', 'Gesamtbetrag 1.481,40 €', '5. Dezember 2026'],
    ['fr-FR', 'Facture', 'Total 1 481,40 €', '5 décembre 2026'],
    ['es-ES', 'Factura', 'Total 1.481,40 €', '5 de diciembre de 2026'],
    ['nl-NL', 'Factuur', 'Totaal € 1.481,40', '5 december 2026'],
    ['pt-PT', 'Fatura', 'Total 1 481,40 €', '5 de dezembro de 2026'],
    ['it-IT', 'Fattura', 'Totale 1.481,40 €', '5 dicembre 2026'],
    ['ja-JP', '請求書', '合計 €1,481.40', '2026年12月5日'],
  ])(
    'when it is %s, then heading, amounts and dates are written in that language',
    async (locale, heading, total, day) => {
      for (const fontStyle of STYLES) {
        const { text, info, warnings } = await read({ locale, fontStyle });
        expect(text).toContain(`${heading} INV-0042`);
        expect(text).toContain(total);
        expect(text).toContain(day);
        expect(info).toMatchObject({ Title: `${heading} INV-0042`, Author: 'Grace Hopper', Language: locale });
        expect(warnings).toEqual([]);
      }
    },
  );

  test.each([
    ['en-US', 'Service date October 31, 2026', 'Service period October 1 – November 30, 2026'],
    ['de-DE', 'Leistungsdatum 31. Oktober 2026', 'Leistungszeitraum 1. Oktober – 30. November 2026'],
    ['fr-FR', 'Date de la prestation 31 octobre 2026', 'Période de la prestation 1 octobre – 30 novembre 2026'],
    ['es-ES', 'Fecha de la prestación 31 de octubre', 'Periodo de la prestación 1 de octubre – 30 de noviembre'],
    ['nl-NL', 'Leverdatum 31 oktober 2026', 'Leveringsperiode 1 oktober – 30 november 2026'],
    ['pt-PT', 'Data da prestação 31 de outubro de 2026', 'Período da prestação 1 de outubro – 30 de novembro'],
    ['it-IT', 'Data della prestazione 31 ottobre 2026', 'Periodo della prestazione 01 ottobre – 30 novembre 2026'],
    ['ja-JP', '取引年月日 2026年10月31日', '取引期間 2026/10/01～2026/11/30'],
  ])('when it is %s, then the day or the period of the service is printed', async (locale, one, several) => {
    const servicePeriod = { from: '2026-10-01', to: '2026-11-30' };
    const [day, period, neither] = [
      await read({ locale, serviceDate: '2026-10-31' }),
      await read({ locale, servicePeriod }),
      await read({ locale }),
    ];
    const words = (text: string) => text.normalize('NFKC').replaceAll(/\s+/g, ' ');

    expect(words(day.text)).toContain(words(one));
    expect(words(period.text)).toContain(words(several));
    expect(words(neither.text)).not.toContain(words(one.split(' 3')[0] as string));
    expect([...day.warnings, ...period.warnings]).toEqual([]);
  });

  test.each(sampled(['en-US', 'de-DE', 'fr-FR', 'es-ES', 'nl-NL', 'pt-PT', 'it-IT', 'ja-JP', 'ar-AE'], 4))(
    'when the period of the service is a single day in %s, then that day is printed, and no day wraps',
    async (locale) => {
      for (const fontStyle of STYLES) {
        const day = '2026-11-21';
        const one = await read({ locale, fontStyle, serviceDate: day });
        const period = await read({ locale, fontStyle, servicePeriod: { from: day, to: day } });

        expect(period.text).toBe(one.text);
        const lines = FACTS + (locale.startsWith('ar') ? OTHER_LINES.ar : OTHER_LINES.others);
        expect([locale, fontStyle, linesAtEdge(one, locale)]).toEqual([locale, fontStyle, lines]);
      }
    },
  );

  // The letters of a PDF in Arabic are joined shapes, which a reader of its text does not take apart again.
  test('when it is Arabic, then the date, the period and an adjustment have Arabic labels', () => {
    const rowsOf = (given: Partial<PrintableDocument>) => {
      const document = aRecord({ locale: 'ar-AE', ...given });
      const { facts, totals } = documentView(document, {
        logo: undefined,
        banner: undefined,
        bodyHtml: undefined,
      }).view;
      return [...facts, ...totals].map((row) => [row.label, 'value' in row ? row.value : row.amount.after.trim()]);
    };

    expect(rowsOf({ serviceDate: '2026-10-31' })).toContainEqual(['تاريخ التوريد', '31 أكتوبر 2026']);
    const servicePeriod = { from: '2026-10-01', to: '2026-11-30' };
    expect(rowsOf({ servicePeriod })).toContainEqual(['فترة التوريد', '1 أكتوبر – 30 نوفمبر 2026']);
    expect(rowsOf({ adjustment: 5 }).map(([label]) => label)).toContain('تسوية');
  });

  test.each(sampled(['en-US', 'de-DE', 'fr-FR', 'es-ES', 'nl-NL', 'pt-PT', 'it-IT', 'ja-JP'], 4))(
    'when a quoted amount differs from its lines in %s, then an adjustment makes up the difference',
    async (locale) => {
      const { labels, money } = documentLocaleOf(aRecord({ locale }));
      const quoted = { isQuote: true, adjustment: -234.5, taxAmount: 200, amount: 1200 };
      const { text, warnings } = await read({ locale, ...quoted });
      const { before, after } = money(new Big(-234.5));

      expect(text.normalize('NFKC')).toContain(labels.adjustment);
      expect(text).toContain(`${before}${after}`.replaceAll(/[^\d.,]/g, ''));
      expect(warnings).toEqual([]);
    },
  );

  test('when it is Arabic, then the page runs from right to left', async () => {
    const { pages, fontNames } = await readWithFonts({ locale: 'ar-AE', currency: 'AED', clientName: 'ليلى حداد' });
    const words = pages[0]?.words ?? [];
    const xOf = (part: string) => words.findLast(({ text }) => text.includes(part))?.x ?? Number.NaN;
    const [topmost] = words.filter(({ text }) => text === 'Grace Hopper').toSorted((one, other) => one.y - other.y);

    // The issuer, whatever its letters, and descriptions begin at the right edge of the paper, amounts end at the left.
    expect(topmost?.x).toBeGreaterThan(140);
    expect(xOf('Work')).toBeGreaterThan(150);
    expect(xOf('1,481.40')).toBeLessThan(60);
    expect(fontNames).toContain('Amiri');
  });

  test.each(['ar-EG', 'ar-AE'])('when %s prints dollars, then every amount has the whole sign', async (locale) => {
    for (const [currency, sign] of [
      ['USD', 'US$'],
      ['CAD', 'CA$'],
    ] as const) {
      const { pages } = await read({ locale, currency });
      const words = pages[0]?.words ?? [];
      const signs = words.filter(({ text }) => text.includes(sign));
      // Price and amount of the line, the rows before the total, and the total twice.
      expect(signs.length).toBeGreaterThanOrEqual(6);
    }
  });

  test('when a language has no translation, then its words are English and its numbers its own', async () => {
    const { text, info } = await read({ locale: 'sv-SE', currency: 'SEK' });

    expect(text).toContain('Issue date 21 November 2026');
    expect(text).toContain('Total 1 481,40 kr');
    expect(info['Language']).toBe('en-SE');
    expect(writtenLocale('ko')).toEqual({ language: 'en', region: 'KR', format: 'en-001', numbers: 'ko-u-nu-latn' });
  });

  test('when a locale is as long as an account may have, then the document is printed', async () => {
    const locale = `de-DE-u-ca-islamicc-x${'-abcdefgh'.repeat(220)}`;
    expect(locale.length).toBeGreaterThan(1_990);

    const { text, warnings } = await read({ locale: Intl.getCanonicalLocales(locale)[0] as string });

    expect(text).toContain('Gesamtbetrag 1.481,40 €');
    expect(warnings).toEqual([]);
  });

  test('when it is no language tag, as accounts once accepted, then the document is printed in English with a warning', async () => {
    const { text, info, warnings } = await read({ locale: 'de_DE' });

    expect(text).toContain('Total €1,481.40');
    expect(info['Language']).toBe('en');
    expect(warnings).toEqual(['locale: is no language tag']);
  });

  test.each([
    ['de-DE-u-nu-cham', 'Gesamtbetrag 1.481,40 €'],
    ['de-DE-u-nu-khmr', 'Gesamtbetrag ១.៤៨១,៤០ €'],
    ['de-DE-u-nu-deva', 'Gesamtbetrag १.४८१,४० €'],
  ])('when it is %s, then its digits are those that a font has', async (locale, total) => {
    const { text, warnings } = await read({ locale });

    expect(text).toContain(total);
    expect(warnings).toEqual([]);
  });

  test.each([
    ['DE123456789', 'USt-IdNr. DE123456789'],
    ['el 123456789', 'USt-IdNr. el 123456789'],
    ['FRXX999999999', 'USt-IdNr. FRXX999999999'],
    ['XI123456789', 'USt-IdNr. XI123456789'],
    ['CHE-123.456.789 MWST', 'Steuernummer CHE-123.456.789 MWST'],
    ['GB123456789', 'Steuernummer GB123456789'],
    ['NO123456789MVA', 'Steuernummer NO123456789MVA'],
    ['21/815/08150', 'Steuernummer 21/815/08150'],
  ])('when the tax number is %s, then its German label is correct', (id, printed) => {
    expect(documentLocaleOf(aRecord({ locale: 'de-CH' })).labels.taxId(id)).toBe(printed);
  });

  test('when a document has no locale, then it is rejected with the other fields of a record', async () => {
    const { locale: _locale, ...foreign } = aRecord();

    await expect(renderer.print(foreign)).rejects.toMatchObject({ status: 422 });
  });

  test('when a label exists in English, then it exists in every other language', () => {
    const english = shapeOf(documentLocaleOf(aRecord()).labels);
    for (const locale of ['ar', 'de', 'es', 'fr', 'it', 'ja', 'nl', 'pt']) {
      for (const isQuote of [true, false]) {
        const { labels } = documentLocaleOf(aRecord({ locale, isQuote }));
        expect(shapeOf(labels)).toEqual(english);
      }
    }
  });
});

describe('money', () => {
  const money = (locale: string, currency: string, amount: string) => {
    const { money: print, digits } = documentLocaleOf(aRecord({ locale, currency }));
    return [
      Object.values(print(new Big(amount)))
        .join('')
        .replaceAll('\u00a0', ' '),
      digits,
    ];
  };

  test.each([
    ['en-US', 'USD', '-0.5', '\u2212$0.50', 2],
    ['de-DE', 'EUR', '-49.5', '\u221249,50 €', 2],
    ['de-CH', 'CHF', '-1', 'CHF\u22121.00', 2],
    ['en-US', 'CAD', '1', 'CA$1.00', 2],
    ['en-CA', 'CAD', '1', '$1.00', 2],
    ['de-CH', 'CHF', '1234567.5', "CHF 1'234'567.50", 2],
    ['ja-JP', 'JPY', '1234', '¥1,234', 0],
    ['en-GB', 'ISK', '1234', 'ISK 1,234', 0],
    ['en-GB', 'AMD', '1', '֏1.00', 2],
    ['de-DE', 'GEL', '1', '1,00 ₾', 2],
    // Languages without a translation.
    ['fi-FI', 'EUR', '1234567.89', '1 234 567,89 €', 2],
    ['el-GR', 'EUR', '1234567.89', '1.234.567,89 €', 2],
    ['sk-SK', 'EUR', '1234567.89', '1 234 567,89 €', 2],
    ['hr-HR', 'EUR', '1234567.89', '1.234.567,89 €', 2],
    ['lt-LT', 'EUR', '1234567.89', '1 234 567,89 €', 2],
    ['tr-TR', 'TRY', '1234567.89', '₺1.234.567,89', 2],
    ['ru-RU', 'RUB', '1234567.89', '1 234 567,89 ₽', 2],
    ['vi-VN', 'EUR', '1234567.89', '1.234.567,89 €', 2],
    ['ca-ES', 'EUR', '1234567.89', '1.234.567,89 €', 2],
    ['pl-PL', 'PLN', '1234.5', '1 234,50 zł', 2],
    ['pl-PL', 'PLN', '1234567.89', '1 234 567,89 zł', 2],
    ['bn-BD', 'BDT', '1234567.89', '12,34,567.89৳', 2],
    ['hi-IN', 'INR', '1234567.89', '₹12,34,567.89', 2],
    ['ka-GE', 'GEL', '-1234567.89', '\u22121 234 567,89 ₾', 2],
    ['he-IL', 'ILS', '-1234567.89', '\u22121,234,567.89 ₪', 2],
    // Latin digits whatever the locale asks for, because the words around them are English.
    ['mr-IN', 'INR', '12345.5', '₹12,345.50', 2],
    ['gu-IN-u-nu-gujr', 'INR', '12345.5', '₹12,345.50', 2],
    ['en-IN', 'INR', '1', '₹1.00', 2],
    ['en-GB', 'IQD', '1.5', 'IQD 1.500', 3],
    ['de-DE', 'EUR', '0.0025', '0,0025 €', 2],
    ['en-US', 'USD', '0.0000025', '$0.0000025', 2],
    ['de-DE', 'EUR', '0.12345678', '0,12345678 €', 2],
    ['en-US', 'USD', '33.333333333333336', '$33.333333', 2],
    ['it-IT', 'EUR', '1069999999999.99', '1.069.999.999.999,99 €', 2],
  ])('when %s writes %s %s, then %s', (locale, currency, amount, printed, digits) => {
    expect(money(locale, currency, amount)).toEqual([printed, digits]);
  });
});

test.each([
  ['0.0000025', '0.0000025'],
  ['-12.12345678', '\u221212.12345678'],
  ['1069999999999.99', '1,069,999,999,999.99'],
  // Computed values, and as records store them.
  ['0.30000000000000004', '0.3'],
  ['0.333333333333', '0.333333'],
  ['133.333333333333', '133.333333'],
  ['1234567.3333333333', '1,234,567.333333'],
  ['-0.0000000000018189894035458565', '0'],
])('when a number is %s, then it is printed as %s, for a record and for the PDF tool', (given, printed) => {
  const { locale: _locale, ...withoutLocale } = aRecord();

  for (const document of [aRecord(), withoutLocale as PrintableDocument]) {
    expect(documentLocaleOf(document).number(new Big(given))).toBe(printed);
  }
});

test('when a language has no translation, then a font has every character of its amounts', () => {
  const undrawn: string[] = [];
  for (const locale of twoLetters('a').filter(
    (language) => Intl.NumberFormat.supportedLocalesOf(language).length > 0,
  )) {
    for (const currency of ['EUR', 'USD', 'IRR', 'BDT', 'GEL', 'AFN', 'ETB', 'KHR']) {
      const text = Object.values(documentLocaleOf(aRecord({ locale, currency })).money(new Big('-1234567.89'))).join(
        '',
      );
      if (!canDraw(text)) undrawn.push(`${locale} ${currency}: ${text}`);
    }
  }
  expect(undrawn).toEqual([]);
});

test('when any currency is written in any locale, then a font has every character of it', () => {
  const undrawn: string[] = [];
  for (const locale of sampled(knownLocales())) {
    const { moneyIn } = documentLocaleOf(aRecord({ locale }));
    for (const currency of currencyCodes) {
      const text = Object.values(moneyIn(currency)(new Big('-1234567.89'))).join('');
      if (!canDraw(text)) undrawn.push(`${locale} ${currency}: ${text}`);
    }
  }
  expect(undrawn).toEqual([]);
});

/** Combinations of our languages and all regions that Intl has data for. */
function knownLocales(): string[] {
  const regions = twoLetters('A');
  const languages = ['ar', 'de', 'en', 'es', 'fr', 'it', 'ja', 'nl', 'pt'];
  const locales = languages.flatMap((language) => [language, ...regions.map((region) => `${language}-${region}`)]);
  return locales.filter((locale) => new Intl.NumberFormat(locale).resolvedOptions().locale === locale);
}

function twoLetters(from: 'a' | 'A'): string[] {
  const letters = Array.from({ length: 26 }, (_none, index) => String.fromCharCode(from.charCodeAt(0) + index));
  return letters.flatMap((first) => letters.map((second) => first + second));
}

describe('the file', () => {
  test('when the same content is printed on a page that has printed others, then the bytes are the same', async () => {
    for (const accessible of [false, true]) {
      const first = await renderer.print(aRecord({ accessible }));
      await renderer.print(aRecord({ accessible: true, locale: 'ja-JP' }));
      const second = await renderer.print(aRecord({ accessible }));
      expect(second.bytes.equals(first.bytes)).toBe(true);
    }
  });

  test('when a document has a creation time, then the file has the same one', async () => {
    const { info } = await read({});

    expect([info['CreationDate'], info['ModDate']]).toEqual(["D:20261121093000+00'00'", "D:20261121093000+00'00'"]);
  });

  test('when names contain brackets, backslashes or other scripts, then the author has them unchanged', async () => {
    for (const partnerName of ['A) /Evil (B\\', '株式会社 北山 😀', 'Łódź']) {
      expect((await read({ partnerName })).info['Author']).toBe(partnerName);
    }
  });

  test('when a name looks like a node of a tagged file, then it stays unchanged', async () => {
    const { text, info } = await read({ accessible: true, partnerName: '(node00000001)' });

    expect(text).toContain('(node00000001)');
    expect(info['Author']).toBe('(node00000001)');
  });

  test('when accessible is set, then the file is tagged; it never has an outline', async () => {
    const [plain, tagged] = [await read({}), await read({ accessible: true })];

    expect([plain.isTagged, plain.outline, tagged.isTagged, tagged.outline]).toEqual([false, null, true, null]);
  });
});

/** The dates of issue, service and payment. */
const FACTS = 3;
/** The head of the table, its line, the subtotal, the tax, the total and the page number. Arabic amounts align by their units, away from the edge. */
const OTHER_LINES = { others: 6, ar: 3 } as const;

/** @returns the number of lines that reach the outer edge of the text, where the facts and amounts are. */
function linesAtEdge({ pages, size }: ReadPdf, locale: string): number {
  const words = (pages[0]?.words ?? []).filter((word) => word.text.trim() !== '');
  const isRtl = locale.startsWith('ar');
  const isOuter = ({ x, width }: Word) => Math.abs(isRtl ? x - 18 : x + width - (size.width - 18)) < 1;
  const outer = words.filter(isOuter);
  return new Set(outer.map(({ y }) => y.toFixed(0))).size;
}

async function readWithFonts(given: Partial<PrintableDocument>) {
  const pdf = await read(given);
  return {
    ...pdf,
    fontNames:
      pdf.bytes
        .toString('latin1')
        .match(/\/FontName \/\S+/g)
        ?.join(' ') ?? '',
  };
}

/** Names and types of the labels of a language. */
function shapeOf(labels: object): Record<string, unknown> {
  const kind = (label: unknown) => (label !== null && typeof label === 'object' ? shapeOf(label) : typeof label);
  return Object.fromEntries(Object.entries(labels).map(([name, label]) => [name, kind(label)]));
}
