// Design rules, measured on printed pages: order, repetition, edges, baselines and the banner.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { anInvoice, LAYOUTS, STYLES } from '../../support/renderer/documents.ts';
import { openPrinter, type Printer } from '../../support/renderer/print-directly.ts';
import { type ReadPdf, readPdf, type Word } from '../../support/renderer/read-pdf.ts';

const VARIANTS = STYLES.flatMap((fontStyle) => LAYOUTS.map((layoutType) => ({ fontStyle, layoutType })));
const BRAND = [18, 52, 86];
const LINES = Array.from({ length: 50 }, (_none, index) => ({ description: `Line ${index}.`, rate: 1 }));

let printer: Printer;
beforeAll(async () => {
  printer = await openPrinter(process.env['TEST_CHROMIUM_PATH'] ?? '');
});
afterAll(() => printer.close());

const read = async (given: Partial<PrintableDocument>) =>
  readPdf(await printer.print({ ...anInvoice({ brandColor: '#123456' }), ...given } as PrintableDocument));

describe('content', () => {
  test.each(VARIANTS)(
    'when it is $fontStyle and $layoutType, then the total and its due date are the largest words',
    async (variant) => {
      const words = wordsOf(await read(variant));
      const [largest, second] = words.toSorted((one, other) => other.height - one.height);
      const isField = variant.layoutType === 'overlay';

      // On the field the sum alone is loud.
      expect(largest?.text.trim()).toBe(isField ? '$240.00' : '$240.00 due 5 December 2026');
      if (isField) expect(second?.height).toBeLessThan((largest?.height ?? 0) * 0.75);
    },
  );

  test.each(VARIANTS)('when it is $fontStyle and $layoutType, then no text is printed three times', async (variant) => {
    const [page = ''] = (await read({ ...variant, partnerCompany: 'Compilers & Co' })).pages.map(({ text }) => text);

    for (const text of ['INV-0042', 'Compilers & Co', '$240.00', '5 December 2026', 'Ada Lovelace']) {
      const times = page.split(text).length - 1;
      expect([text, times]).toEqual([text, Math.min(Math.max(times, 1), 2)]);
    }
  });

  test('when there is a discount, then the taxable amount is shown', async () => {
    const { text } = await read({ discountAmount: 50, amount: 180 });

    expect(text).toMatch(/Discount −\$50\.00 Taxable amount \$150\.00 Tax \(20%\) \$30\.00/);
    expect((await read({})).text).not.toContain('Taxable amount');
  });

  test('when a record has a tax number and an account, then each is printed once: one in the footer, one in the document', async () => {
    const pdf = await read({
      locale: 'de-DE',
      currency: 'EUR',
      subtotal: 200,
      taxAmount: 40,
      lineItems: [{ description: 'Arbeit', amount: 200 }],
      partnerTaxId: 'DE123456789',
      bankDetails: 'IBAN DE02 1203 0000 0000 2020 51\nBIC BYLADEM1001',
    });
    const footer = wordsOf(pdf).filter(({ y }) => y > 277);

    expect(plain(footer.map(({ text }) => text).join(''))).toMatch(/USt-IdNr\. ?DE123456789/);
    for (const text of ['DE123456789', 'IBAN DE02 1203', 'BYLADEM1001'])
      expect(plain(pdf.text).split(text)).toHaveLength(2);
  });

  test.each(VARIANTS)(
    'when $fontStyle and $layoutType print an invoice with an account, then how to pay is one block between total and notes',
    async (variant) => {
      for (const [locale, ...parts] of [
        [
          'de-DE',
          'Gesamtbetrag',
          'Bankverbindung',
          'IBAN DE02',
          '240,00',
          'Verwendungszweck',
          'INV-0042',
          'Anmerkungen',
        ],
        ['ar-AE', 'الإجمالي', 'الدفع', 'IBAN DE02', '240.00', 'المرجع', 'INV-0042', 'ملاحظات'],
      ] as const) {
        const pdf = await read({
          ...variant,
          locale,
          currency: 'EUR',
          subtotal: 200,
          taxAmount: 40,
          bankDetails: 'IBAN DE02 1203 0000 0000 2020 51',
          notes: 'Danke',
        });
        const text = plain(pdf.text);
        let at = 0;
        for (const part of parts) {
          const next = text.indexOf(part, at);
          expect([part, next]).toEqual([part, Math.max(next, at)]);
          at = next;
        }
        expect(pdf.pages).toHaveLength(1);
      }
    },
  );

  test('when the issuer has legal fields, then the footer of every page has all of them, below all lines', async () => {
    const note = 'Geschäftsführerin: Ada North. Aufsichtsrat: Konrad Zuse. '.repeat(8).trim();
    const pdf = await read({
      locale: 'de-DE',
      currency: 'EUR',
      subtotal: 600,
      taxAmount: 120,
      amount: 720,
      lineItems: Array.from({ length: 60 }, (_, index) => ({ description: `Arbeit ${index + 1}`, amount: 10 })),
      partnerLegalName: 'Studio North GmbH',
      partnerLegalId: 'HRB 1234 Kiel',
      partnerVatId: 'DE136695976',
      partnerTaxNumber: '20/123/45678',
      legalNote: note,
      bankDetails: 'IBAN DE89 3704 0044 0532 0130 00\nBIC COBADEFFXXX',
    });

    expect(pdf.pages.length).toBeGreaterThan(1);
    for (const { words } of pdf.pages) {
      const top = Math.max(...words.filter(({ text }) => text.includes('Rechnung INV-0042')).map(({ y }) => y));
      const footer = words.filter(({ y }) => y >= top - 0.5);
      const text = footer.map((word) => word.text).join('');
      const ours = ['Studio North GmbH · HRB 1234 Kiel', 'DE136695976 · Steuernummer 20/123/45678'];
      for (const part of ours) expect(text.replaceAll(/[ \u00a0]/g, '')).toContain(part.replaceAll(' ', ''));
      expect(text.match(/Konrad Zuse\./g)).toHaveLength(8);
      // Nothing is cut off at the edge, and no line of the document runs into the footer.
      expect(Math.max(...footer.map(({ y }) => y))).toBeLessThan(294);
      expect(footer.filter((word) => /Arbeit|Gesamtbetrag/.test(word.text))).toEqual([]);
    }
  });

  test('when a name has several lines, then the masthead has it on one line, with commas', async () => {
    const pdf = await read({ partnerCompany: 'Compilers & Co\nBranch North,\n' });

    expect(pdf.text).toMatch(/^Compilers & Co, Branch North Invoice/);
  });
});

describe('columns', () => {
  test.each(STYLES)(
    'when %s has every column, then the description has half of the table, and numbers take what they need',
    async (fontStyle) => {
      const lineItems = ['40800', '162.45', '3762'].map((rate, index) => ({
        description: 'Programming of the interfaces to the warehouse, with tests, acceptance and documents',
        qty: '1',
        unit: 'hour',
        rate,
        discount: '10',
        taxRate: index === 0 ? 7 : 19,
        amount: Number(rate),
      }));
      const pdf = await read({
        fontStyle,
        showBanner: false,
        lineItems,
        locale: 'de-DE',
        currency: 'EUR',
        subtotal: 1,
        taxAmount: 1,
      });
      const words = wordsOf(pdf);
      const head = find(pdf, 'Menge').y;
      const columns = ['Menge', 'Einzelpreis', 'Rabatt', 'MwSt.', 'Betrag'].map((label) => {
        const { x, width } = find(pdf, label);
        const end = x + width;
        const below = words.filter(
          (word) => word.y > head - 1 && word.y < head + 40 && Math.abs(word.x + word.width - end) < 3,
        );
        return { begin: Math.min(...below.map((word) => word.x)), end };
      });

      expect(columns[0]?.begin).toBeGreaterThan(18 + 174 / 2);
      for (const [index, { begin }] of columns.slice(1).entries()) {
        const gap = begin - (columns[index]?.end ?? 0);
        expect(gap).toBeGreaterThan(2);
        expect(gap).toBeLessThan(9);
      }
    },
  );
});

describe('short documents', () => {
  const withLines = (count: number, given: Partial<PrintableDocument>) =>
    read({
      locale: 'en-GB',
      currency: 'EUR',
      subtotal: count * 100,
      taxAmount: count * 20,
      amount: count * 120,
      lineItems: Array.from({ length: count }, (_, index) => ({ description: `Line ${index + 1}`, amount: 100 })),
      bankDetails: 'IBAN DE02 1203 0000 0000 2020 51',
      ...given,
    });
  /** Millimetres from the end of the totals to the payment block. */
  const gapOf = (pdf: ReadPdf) => find(pdf, 'Payment details').y - find(pdf, 'Total', 'last').y;
  const heightOf = (pdf: ReadPdf, text: string) => find(pdf, text, 'last').height;

  test.each(VARIANTS)(
    'when $fontStyle and $layoutType have one to four lines, then their type is larger and the payment block is at the foot of the page',
    async (variant) => {
      for (const pageSize of ['a4', 'letter'] as const) {
        const long = await withLines(9, { ...variant, pageSize });
        for (const count of [1, 4]) {
          const short = await withLines(count, { ...variant, pageSize });
          const foot = short.size.height - find(short, 'IBAN').y;

          expect(short.pages).toHaveLength(1);
          expect([foot > 22, foot < 45]).toEqual([true, true]);
          expect(gapOf(long)).toBeLessThan(25);
          for (const text of ['Line 1', 'IBAN', 'Invoice INV-0042'])
            expect(heightOf(short, text)).toBeGreaterThan(heightOf(long, text) * 1.05);
        }
      }
    },
  );

  test.each(STYLES)(
    'when %s runs from right to left and has one line, then its payment block is at the foot of the page, too',
    async (fontStyle) => {
      const pdf = await withLines(1, { fontStyle, locale: 'ar-AE' });

      expect(pdf.pages).toHaveLength(1);
      expect(pdf.size.height - find(pdf, 'IBAN').y).toBeLessThan(45);
    },
  );

  test('when a short invoice has a time sheet, then its payment block is at the foot of the first page', async () => {
    const entries = [{ date: '2026-11-02', description: 'Sketch', hours: '2' }];
    const pdf = await withLines(1, { time: [{ description: 'Line 1', hours: '2', billed: '2', entries }] });

    expect(pdf.pages).toHaveLength(2);
    expect(pdf.size.height - find(pdf, 'IBAN').y).toBeLessThan(45);
  });

  test.each(VARIANTS)(
    'when $fontStyle and $layoutType have texts of any length around one line, then larger type never makes a second page',
    async (variant) => {
      const usual = heightOf(await withLines(9, variant), 'Line 1');
      const larger: boolean[] = [];
      for (let length = 0; length <= 18; length += 2) {
        const texts = { notes: 'Line of its own.\n'.repeat(length), terms: 'Word. '.repeat(length * 5) };
        const pdf = await withLines(1, { ...variant, ...texts });
        const isLarger = heightOf(pdf, 'Line 1') > usual * 1.05;

        larger.push(isLarger);
        if (isLarger) expect([length, pdf.pages.length]).toEqual([length, 1]);
      }

      expect([larger[0], larger.at(-1)]).toEqual([true, false]);
    },
  );
});

describe('edges and baselines', () => {
  test.each(STYLES)('when %s is printed, then nothing but a banner leaves the edges of the text', async (fontStyle) => {
    const pdf = await read({ fontStyle, showBanner: false });

    for (const y of [find(pdf, 'Bill to').y, find(pdf, 'Total').y]) {
      expect(await edgeOf(pdf, y, 1, 0.1)).toBeGreaterThan(17.5);
      expect(await edgeOf(pdf, y, 209, -0.1)).toBeLessThan(192.5);
    }
  });

  test.each(STYLES)('when %s prints the parties and the facts, then they share their baselines', async (fontStyle) => {
    const pdf = await read({ fontStyle, clientCompany: 'Engines', partnerCompany: 'Compilers' });
    const rows = [
      ['Bill to', 'From', 'Issue date', '21 November 2026'],
      ['Engines', 'Compilers', 'Due date'],
      ['ada@client.example', 'grace@issuer.example'],
    ].map((texts) => texts.map((text) => find(pdf, text, 'last').y));

    for (const [first = 0, ...others] of rows) for (const y of others) expect(Math.abs(y - first)).toBeLessThan(0.05);
  });

  test.each(STYLES)('when %s prints a table, then amounts are darker than rates', async (fontStyle) => {
    const pdf = await read({ fontStyle, lineItems: [{ description: 'Work', qty: 1, rate: 8_888 }], amount: 10_665.6 });
    const [rate, amount] = wordsOf(pdf).filter(({ text }) => text === '$8,888.00');

    expect(await darkest(pdf, amount)).toBeLessThan((await darkest(pdf, rate)) - 20);
  });

  test('when an amount in Arabic digits is negative, then the amounts stay aligned', async () => {
    const amounts = [1_234.5, -300.5];
    const pdf = await read({
      locale: 'ar-EG',
      currency: 'EGP',
      subtotal: 934,
      taxAmount: 0,
      amount: 934,
      lineItems: amounts.map((amount) => ({ description: 'عمل', qty: '1', rate: String(amount), amount })),
    });
    const ends = ['١٬٢٣٤', '٣٠٠'].map((digits) => {
      const word = wordsOf(pdf).filter(
        ({ text }) => text.includes(digits) || text.includes([...digits].toReversed().join('')),
      );
      return Math.min(...word.map(({ x, width }) => x + width));
    });

    expect(Math.abs((ends[0] ?? 0) - (ends[1] ?? 99))).toBeLessThan(0.4);
  });
});

describe('the banner', () => {
  test.each(VARIANTS)(
    'when it is $fontStyle and $layoutType, then it names the issuer and is at most 60 mm high',
    async (variant) => {
      const pdf = await read(variant);
      const issuer = find(pdf, 'Grace Hopper');

      expect(await pdf.colourAt(1, 60, issuer.y - 8)).toEqual(BRAND);
      expect(await pdf.colourAt(1, 60, 60.2)).toEqual([255, 255, 255]);
      const hasHeadline = (find(pdf, '$240.00').y ?? 99) < 60 && variant.layoutType === 'overlay';
      expect(hasHeadline).toBe(variant.layoutType === 'overlay');
    },
  );

  test.each(VARIANTS)(
    'when it is $fontStyle and $layoutType, then its drawing does not overlap the words',
    async (variant) => {
      const pdf = await read(variant);
      const onBanner = wordsOf(pdf).filter(({ y }) => y < (variant.layoutType === 'overlay' ? 59 : 15));

      expect(onBanner.length).toBeGreaterThan(0);
      for (const word of onBanner) {
        expect(word.x + word.width).toBeLessThan(148);
        for (const y of [word.y - word.height, word.y + word.height * 0.45]) {
          for (let x = word.x - 1; x < word.x + word.width + 1; x += 1.5)
            expect(await pdf.colourAt(1, x, y)).toEqual(BRAND);
        }
      }
    },
  );

  test.each(STYLES)('when %s has a second page, then it repeats the design and names the issuer', async (fontStyle) => {
    const shown = await read({ fontStyle, lineItems: LINES, amount: 60 });
    const hidden = await read({ fontStyle, lineItems: LINES, amount: 60, showBanner: false });

    expect(await shown.colourAt(2, 105, 1)).toEqual(BRAND);
    expect(await hidden.colourAt(2, 105, 1)).toEqual([255, 255, 255]);
    for (const { pages } of [shown, hidden]) expect(pages[1]?.text).toContain('Grace Hopper');
  });

  test('when a name is longer than the banner, then the banner grows', async () => {
    const pdf = await read({ partnerCompany: 'Compilers and Engines '.repeat(20), layoutType: 'overlay' });
    const headline = find(pdf, '$240.00');

    expect(headline.y).toBeGreaterThan(60);
    expect(await pdf.colourAt(1, 60, headline.y + 5)).toEqual(BRAND);
  });
});

const plain = (text: string) => text.replaceAll('\u00a0', ' ');

function wordsOf(pdf: ReadPdf): Word[] {
  return (pdf.pages[0]?.words ?? []).filter(({ text }) => text.trim() !== '');
}

function find(pdf: ReadPdf, text: string, which: 'first' | 'last' = 'first'): Word {
  const words = wordsOf(pdf).filter((word) => word.text.includes(text));
  const word = which === 'first' ? words[0] : words.at(-1);
  if (!word) throw new Error(`«${text}» is not on the page`);
  return word;
}

/** Where the fill begins, coming from the edge of the paper. */
async function edgeOf(pdf: ReadPdf, y: number, from: number, step: number): Promise<number> {
  for (let x = from; x > 0 && x < 210; x += step) {
    if ((await pdf.colourAt(1, x, y)).some((part) => part < 255)) return x;
  }
  return Number.NaN;
}

/** The darkest value in a word, 0 to 255. */
async function darkest(pdf: ReadPdf, word: Word | undefined): Promise<number> {
  if (!word) throw new Error('there is no such word');
  let least = 255;
  for (let x = word.x; x < word.x + word.width; x += 0.12) {
    for (let y = word.y - word.height * 0.6; y < word.y; y += 0.12) {
      least = Math.min(least, ...(await pdf.colourAt(1, x, y)));
    }
  }
  return least;
}
