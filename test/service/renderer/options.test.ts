// Every option of the PDF tool on the printed page, with its edge cases.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anInvoice, aQuote, aRecord, LAYOUTS, STYLES } from '../../support/renderer/documents.ts';
import { startRenderer, type TestRenderer } from '../../support/renderer/renderer.ts';

/** A4 without its margins. */
const TEXT_RIGHT_MM = 192;

let renderer: TestRenderer;
beforeAll(async () => {
  renderer = await startRenderer();
});
afterAll(() => renderer.close());

const textOf = async (given: Parameters<typeof anInvoice>[0]) => (await renderer.read(anInvoice(given))).text;

describe('every style in every layout', () => {
  const variants = STYLES.flatMap((fontStyle) => LAYOUTS.map((layoutType) => ({ fontStyle, layoutType })));

  test.each(variants)(
    'when it is $fontStyle and $layoutType, then all given values are on one A4 page',
    async (variant) => {
      const pdf = await renderer.read(anInvoice({ ...variant, notes: 'Thank you', terms: 'Net 14', poNumber: 'PO-7' }));

      expect(pdf.pages).toHaveLength(1);
      expect(pdf.size.width).toBeCloseTo(210, 0);
      expect(pdf.size.height).toBeCloseTo(297, 0);
      for (const text of [
        /invoice/i,
        'INV-0042',
        '21 November 2026',
        '5 December 2026',
        'Ada Lovelace',
        'ada@client.example',
        'Grace Hopper',
        'grace@issuer.example',
        'Design',
        'Build',
        '$240.00',
        'Thank you',
        'Net 14',
        'PO-7',
      ]) {
        expect(pdf.text).toMatch(text);
      }
      expect(pdf.warnings).toEqual([]);
      expect(pdf.bytes.length).toBeLessThan(60 * 1024);
    },
  );

  test('when the style differs, then other faces are embedded', async () => {
    const faces = await Promise.all(
      STYLES.map(async (fontStyle) => {
        const { bytes } = await renderer.print(anInvoice({ fontStyle }));
        return [...bytes.toString('latin1').matchAll(/\/FontName \/\w+\+(\w+)/g)].map(([, name]) => name);
      }),
    );

    expect(faces[0]).toEqual(expect.arrayContaining(['CormorantGaramond', 'SourceSerif4'].map(starting)));
    expect(faces[1]).toEqual(expect.arrayContaining([starting('IBMPlexSans')]));
    expect(faces[2]).toEqual(expect.arrayContaining([starting('EBGaramond')]));
  });

  const starting = (name: string) => expect.stringMatching(new RegExp(`^${name}`));
});

describe('metadata', () => {
  test('when a document is printed, then it has a title, and neither tags nor an outline', async () => {
    const pdf = await renderer.read(anInvoice({ partnerCompany: 'Compilers & Co' }));

    expect(pdf.info).toMatchObject({ Title: 'Invoice INV-0042' });
    expect(pdf.isTagged).toBe(false);
    expect(pdf.outline).toBeNull();
  });

  test('when a document is printed, then it is an archive file, and an accessible one claims that, too', async () => {
    const documents = [anInvoice(), aRecord(), aRecord({ accessible: true })];
    const files = await Promise.all(documents.map(async (document) => (await renderer.read(document)).metadata));

    const claims = ['pdfaid:part', 'pdfaid:conformance', 'pdfuaid:part'];
    expect(files.map((metadata) => claims.map((name) => metadata?.get(name) as unknown))).toEqual([
      ['3', 'B', null],
      ['3', 'B', null],
      ['3', 'A', '1'],
    ]);
  });
});

describe('labels', () => {
  test('when it is a quote, then it has an expiry date; when it is an invoice, then a due date', async () => {
    const quote = await renderer.read(aQuote());
    const invoice = await renderer.read(anInvoice());

    expect(quote.text).toMatch(/valid until.*21 December 2026/i);
    expect(quote.text).not.toMatch(/due date/i);
    expect(invoice.text).toMatch(/due date.*5 December 2026/i);
    expect(invoice.text).not.toMatch(/valid until/i);
  });

  test('when title and isQuote disagree, then the heading follows the title and the labels follow isQuote', async () => {
    const text = await textOf({ title: 'Invoice', isQuote: true, expiryDate: '2027-01-02' });

    expect(text).toMatch(/Invoice/);
    expect(text).toMatch(/valid until.*2 January 2027/i);
  });

  test('when there is no second date, then there is no label for it', async () => {
    const { dueDate: _dueDate, ...withoutDueDate } = anInvoice();

    expect((await renderer.read(withoutDueDate)).text).not.toMatch(/due date/i);
  });

  test('when a company is given, then it is printed above the person', async () => {
    const text = await textOf({ clientCompany: 'Engines Ltd', partnerCompany: 'Compilers & Co' });

    expect(text).toMatch(/Engines Ltd Ada Lovelace ada@client\.example/);
    expect(text).toMatch(/Compilers & Co Grace Hopper grace@issuer\.example/);
  });

  test('when it is an invoice, then quoteIntro and paymentDueDays are not printed', async () => {
    const given = { quoteIntro: 'Dear Ada', paymentDueDays: 14 };

    expect(await textOf(given)).not.toMatch(/Dear Ada|of signing/);
    expect((await renderer.read(aQuote(given))).text).toMatch(/Dear Ada.*within 14 days of signing/);
  });

  test.each([
    [0, 'due on signing.'],
    [1, 'within 1 day of signing.'],
  ])('when paymentDueDays is %d, then payment is %s', async (paymentDueDays, words) => {
    expect((await renderer.read(aQuote({ paymentDueDays }))).text).toContain(words);
  });

  test('when texts have line breaks, then the lines stay apart', async () => {
    const pdf = await renderer.read(anInvoice({ notes: 'Above\nBelow' }));
    const [first, second] = ['Above', 'Below'].map((line) => wordOf(pdf, line));

    expect(second?.y).toBeGreaterThan(first?.y ?? Number.NaN);
  });
});

describe('amounts', () => {
  const money = { discountAmount: 50, shippingAmount: 12.5, amount: 192.5 };

  test('when all rows are given, then their order is subtotal, discount, taxable amount, tax, shipping, total', async () => {
    expect(await textOf(money)).toMatch(
      /Subtotal \$ ?200\.00 Discount − ?\$ ?50\.00 Taxable amount \$ ?150\.00 Tax \(20%\) \$ ?30\.00 Shipping \$ ?12\.50 Total \$ ?192\.50/,
    );
  });

  test('when the total differs from the lines, then it is printed as given, with a warning', async () => {
    const pdf = await renderer.read(anInvoice({ amount: 999 }));

    expect(pdf.text).toMatch(/Total \$ ?999\.00/);
    expect(pdf.warnings).toEqual(['amount: differs from the lines']);
  });

  test('when values are zero, then they are printed and not replaced', async () => {
    const text = await textOf({ taxRate: 0, subtotal: 0, discountAmount: 0, shippingAmount: 0, amount: 0 });

    expect(text).toMatch(
      /Subtotal \$ ?0\.00 Discount \$ ?0\.00 Tax \(0%\) \$ ?0\.00 Shipping \$ ?0\.00 Total \$ ?0\.00/,
    );
  });

  test('when an amount in euros is negative in the classic style, then both signs can be told apart', async () => {
    const lineItems = [{ description: 'Refund', qty: 1, rate: -49.5 }];
    const pdf = await renderer.read(anInvoice({ fontStyle: 'classic', currencySymbol: '€', amount: -49.5, lineItems }));

    expect(pdf.text).toMatch(/Refund 1 − ?€49\.50 − ?€49\.50/);
  });

  test('when the amount is negative, then the minus is before the symbol', async () => {
    const text = await textOf({ amount: -240, lineItems: [{ description: 'Refund', qty: -2, rate: 100 }] });

    expect(text).toMatch(/Refund −2 \$ ?100\.00 − ?\$ ?200\.00/);
    expect(text).toMatch(/Total − ?\$ ?240\.00/);
  });

  test.each([
    ['CHF', /Total CHF\s*240\.00/],
    ['kr', /Total kr\s*240\.00/],
    ['R$', /Total R\$ ?240\.00/],
    ['¥', /Total ¥ ?240(?!\.)/],
    ['د.إ', /240\.00/],
    ['د.ك.', /240\.000/],
    ['kwd', /240\.000/],
    ['KD', /240\.000/],
    ['RWF', /Total RWF\s*240(?!\.)/],
    ['JP¥', /Total JP¥ ?240(?!\.)/],
    ['F CFA', /Total F CFA\s*240(?!\.)/],
  ])('when the symbol is %s, then amounts are written as %s', async (currencySymbol, written) => {
    expect(await textOf({ currencySymbol })).toMatch(written);
  });

  test.each(['₩', 'JPY', 'JP¥', 'F CFA', '円'])(
    'when %s has no cents and the price of a piece has decimals, then no amount has any',
    async (currencySymbol) => {
      const lineItems = [
        { description: 'Stickers', qty: 1000, rate: 4.5 },
        { description: 'Samples', qty: 3, rate: '0.25' },
      ];
      const pdf = await renderer.read(anInvoice({ currencySymbol, lineItems, taxRate: 10, amount: 4_951 }));
      const text = pdf.text.replaceAll('\u00a0', ' ').replaceAll(`${currencySymbol} `, currencySymbol);

      expect(text.match(/\d+\.\d+/g)).toEqual(['4.5', '0.25']);
      expect(text).toContain(`Samples 3 ${currencySymbol}0.25 ${currencySymbol}1 Subtotal ${currencySymbol}4,501`);
      expect(pdf.warnings).toEqual([]);
    },
  );

  test.each([
    ['is whole', 1000, 4_500, '4,500'],
    ['has a fraction, as yuan have', 3, 13.5, '13.50'],
  ])('when the symbol is ¥ and what a line costs %s, then amounts follow that', async (_how, qty, amount, written) => {
    const lineItems = [{ description: 'Stickers', qty, rate: 4.5 }];
    const text = await textOf({ currencySymbol: '¥', lineItems, taxRate: 0, amount });

    expect(text).toMatch(
      new RegExp(`Stickers ${qty.toLocaleString('en')} ¥4\\.50? ¥${written} .*Total ¥${written}(?![.\\d])`),
    );
  });

  test('when the symbol runs from right to left, then it is still before the number', async () => {
    const pdf = await renderer.read(anInvoice({ currencySymbol: '₪ש' }));
    const number = pdf.pages[0]?.words.filter(({ text }) => text.includes('240.00')).at(-1);
    const symbol = pdf.pages[0]?.words.filter(({ text }) => text.includes('ש')).at(-1);

    expect(symbol?.x).toBeLessThan(number?.x ?? 0);
  });

  test('when a price has thousandths, then none is lost', async () => {
    const text = await textOf({ lineItems: [{ description: 'Calls', qty: '12000', rate: '0.0015' }], amount: 21.6 });

    expect(text).toMatch(/Calls 12,000 \$ ?0\.0015 \$ ?18\.00/);
  });

  test.each(['elegant', 'modern', 'classic'] as const)(
    'when prices are as long as they may be in %s, then no number is broken, and none leaves the page',
    async (fontStyle) => {
      for (const textScale of [0.8, 1, 1.2]) {
        const lineItems = [{ description: 'The northern wing', qty: 1, rate: '888888888888.88' }];
        const longest = {
          fontStyle,
          textScale,
          currencySymbol: 'IDRp',
          lineItems,
          taxRate: 0,
          amount: 888_888_888_888.88,
        };
        const { pages, size } = await renderer.read(anInvoice(longest));
        const words = pages[0]?.words.filter(({ text }) => text.includes('888')) ?? [];

        // The headline, rate, amount, subtotal and total.
        expect(words.map(({ text }) => text.replace(/^.*?(?=8)| due .*$/g, ''))).toEqual(
          Array(5).fill('888,888,888,888.88'),
        );
        for (const { x, width } of words) expect(x + width).toBeLessThan(size.width - 10);
      }
    },
  );

  test('when half a cent is to be rounded, then it is rounded away from zero', async () => {
    const text = await textOf({ lineItems: [{ qty: 1, rate: 1.005 }], taxRate: 0, amount: 1.01 });

    expect(text).toMatch(/Subtotal \$ ?1\.01/);
  });

  test('when the discount is larger than the subtotal, then what is left is negative, and so is its tax', async () => {
    const text = await textOf({ discountAmount: 250, amount: -60 });

    expect(text).toMatch(
      /Subtotal \$200\.00 Discount −\$250\.00 Taxable amount −\$50\.00 Tax \(20%\) −\$10\.00 Total −\$60\.00/,
    );
  });

  test('when every key of a line is missing, then the line is accepted, and it costs nothing', async () => {
    const pdf = await renderer.read(anInvoice({ lineItems: [{}, { id: 'only-an-id' }, { rate: 100 }], amount: 120 }));

    expect(pdf.text).toMatch(/Amount \$100\.00 \$100\.00 Subtotal \$100\.00/);
    expect(pdf.warnings).toEqual([]);
  });

  test('when a line has no price, then it is printed as a remark and counts nothing', async () => {
    const lineItems = [{ description: 'As agreed by phone' }, { description: 'Flat fee', rate: 100 }];

    expect(await textOf({ lineItems, amount: 120 })).toMatch(
      /As agreed by phone Flat fee \$ ?100\.00 \$ ?100\.00 Subtotal \$ ?100\.00/,
    );
  });
});

describe('pages', () => {
  test('when there are no lines, then there is a total and no table', async () => {
    const pdf = await renderer.read(anInvoice({ lineItems: [], amount: 10 }));

    expect(pdf.text).not.toMatch(/description/i);
    // Its parts are unknown, so there are no rows for them.
    expect(pdf.text).not.toMatch(/subtotal|tax \(/i);
    expect(pdf.text).toMatch(/Total \$ ?10\.00/);
    expect(pdf.warnings).toEqual([]);
  });

  test('when no line has a price, then discount and shipping are printed as given, and no subtotal', async () => {
    const lineItems = [{ description: 'Design of the site' }, { description: 'Hosting for a year' }];
    const pdf = await renderer.read(anInvoice({ lineItems, amount: 950, discountAmount: 60, shippingAmount: 10 }));

    expect(pdf.text).not.toMatch(/subtotal|tax \(/i);
    expect(pdf.text).toMatch(/Discount .*60\.00[\s\S]*Shipping .*10\.00[\s\S]*Total .*950\.00/);
    expect(pdf.warnings).toEqual([]);
  });

  test('when there are 500 lines, then none is lost, headers are repeated and each page has its number', async () => {
    const lineItems = Array.from({ length: 500 }, (_none, index) => ({
      description: `Line ${index}.`,
      qty: 1,
      rate: 1,
    }));
    const pdf = await renderer.read(anInvoice({ lineItems, amount: 600, notes: 'The end' }));

    for (const { description } of lineItems) expect(pdf.text).toContain(description);
    const count = pdf.pages.length;
    for (const [index, page] of pdf.pages.entries()) {
      expect(page.text).toContain(`${index + 1} / ${count}`);
      if (page.text.includes('Line ')) expect(page.text).toMatch(/description qty rate amount/i);
    }
  });

  test('when descriptions are long, then no row is split over two pages', async () => {
    const lineItems = Array.from({ length: 40 }, (_none, index) => ({
      description: `begin${index} ${'word '.repeat(60)} end${index}`,
      qty: 1,
      rate: 1,
    }));
    const pdf = await renderer.read(anInvoice({ lineItems, amount: 48 }));

    const pageOf = (word: string) => pdf.pages.findIndex(({ text }) => text.split(' ').includes(word));
    expect(pdf.pages.length).toBeGreaterThan(2);
    for (const index of lineItems.keys()) expect(pageOf(`end${index}`)).toBe(pageOf(`begin${index}`));
  });

  test.each(Array.from({ length: 12 }, (_none, index) => 14 + index))(
    'when a signature follows %d lines, then its block is on one page',
    async (count) => {
      const lineItems = Array.from({ length: count }, () => ({ description: 'Work', qty: 1, rate: 1 }));
      const pdf = await renderer.read(anInvoice({ lineItems, amount: 1.2 * count, requiresSignature: true }));

      const block = ['accepted by', 'signature', 'name', 'date'];
      const pages = pdf.pages.filter(({ text }) => /accepted by|Signature/i.test(text));
      expect(pages).toHaveLength(1);
      for (const word of block) expect(pages[0]?.text.toLowerCase()).toContain(word);
    },
  );

  test('when no signature is asked for, then there is no block', async () => {
    expect(await textOf({ requiresSignature: false })).not.toMatch(/signature/i);
  });

  test.each(STYLES)('when a word of 2,000 letters is given in %s, then it wraps inside the page', async (fontStyle) => {
    const long = 'W'.repeat(2_000);
    const pdf = await renderer.read(
      anInvoice({ fontStyle, clientName: long, notes: long, poNumber: long, lineItems: [{ description: long }] }),
    );

    // The reader makes up spaces between columns, as wide as the gap.
    const words = pdf.pages.flatMap((page) => page.words).filter(({ text }) => text.trim() !== '');
    expect(Math.max(...words.map(({ x, width }) => x + width))).toBeLessThan(TEXT_RIGHT_MM + 0.5);
    // Beyond the text there is at most a fill, and beyond that there is paper.
    const margin = { x: 199, y: 40, width: 10, height: 250 };
    for (const index of pdf.pages.keys()) expect(await pdf.isBlank(index + 1, margin)).toBe(true);
  });
});

describe('appearance', () => {
  test('when textScale goes from 0.8 to 1.2, then the text grows by half', async () => {
    // The type of a document of four lines at most is larger by itself, up to a bound.
    const lineItems = Array.from({ length: 8 }, (_none, index) => ({ description: `Design ${index}`, rate: 1 }));
    const [small, large] = await Promise.all(
      [0.8, 1.2].map(
        async (textScale) => wordOf(await renderer.read(anInvoice({ textScale, lineItems })), 'Design')?.height ?? 0,
      ),
    );

    expect((large ?? 0) / (small ?? 1)).toBeCloseTo(1.5, 1);
  });

  test.each(LAYOUTS)(
    'when %s shows the built-in banner, then it has the brand colour; without, the paper is white',
    async (layoutType) => {
      const given = { layoutType, brandColor: '#0a7' };
      const shown = await renderer.read(anInvoice(given));
      const hidden = await renderer.read(anInvoice({ ...given, showBanner: false }));

      expect(await shown.colourAt(1, 4, 4)).toEqual([0, 170, 119]);
      expect(await hidden.colourAt(1, 4, 4)).toEqual([255, 255, 255]);
    },
  );

  test.each([
    ['#000', 'white'],
    ['#ffee00', 'black'],
    ['#ffffff', 'black'],
    ['#f4c542', 'black'],
    // By lightness contrast, where WCAG 2 would have black.
    ['#808080', 'white'],
    ['#ff0000', 'white'],
    ['#ff5a5f', 'white'],
    ['#2b46e0', 'white'],
  ])('when the brand colour is %s, then text on it is %s', async (brandColor, expected) => {
    const pdf = await renderer.read(anInvoice({ brandColor, fontStyle: 'modern', layoutType: 'overlay' }));
    const heading = pdf.pages[0]?.words.find(({ text }) => text === 'Invoice');
    const colours = await Promise.all(
      // Across the stem of the capital I.
      Array.from({ length: 24 }, (_none, step) =>
        pdf.colourAt(1, (heading?.x ?? 0) + step / 8, (heading?.y ?? 0) - 1.5),
      ),
    );

    const wanted = expected === 'white' ? 255 : 0;
    expect(colours.some((colour) => colour.every((part) => part === wanted))).toBe(true);
  });

  test('when one text has lines in both directions, then each line is printed in its own direction', async () => {
    const both = 'תודה רבה.\n\nPay within 14 days (net).';
    const pdf = await renderer.read(
      anInvoice({ notes: both, lineItems: [{ description: both, rate: 10 }], amount: 12 }),
    );
    const quote = await renderer.read(aQuote({ bodyMarkdown: both }));

    const inOnePiece = ({ pages }: typeof pdf) =>
      pages.flatMap(({ words }) => words).filter(({ text }) => text === 'Pay within 14 days (net).').length;
    expect([inOnePiece(pdf), inOnePiece(quote)]).toEqual([2, 1]);
  });

  test('when the caller writes from right to left, then Arabic and Hebrew are printed whole, with their own faces', async () => {
    const { bytes, warnings } = await renderer.print(anInvoice({ clientName: 'أحمد محمود', notes: 'תודה רבה' }));
    const fonts = bytes.toString('latin1');

    expect(fonts).toContain('Amiri');
    expect(fonts).toContain('NotoSansHebrew');
    expect(warnings).toEqual([]);
  });

  test.each([
    ['Greek', 'Ευχαριστούμε'],
    ['Cyrillic', 'Спасибо за заказ'],
    ['Chinese', '谢谢惠顾 請付款'],
    ['Japanese', 'ありがとうございます 直骨'],
    ['Korean', '감사합니다'],
    ['Devanagari', 'धन्यवाद'],
    ['Thai', 'ขอบคุณมาก'],
    ['Vietnamese', 'Cảm ơn bạn rất nhiều'],
    ['emoji', '🎉✅🚀'],
  ])('when %s is printed in any style, then no character is without a face', async (_script, notes) => {
    for (const fontStyle of STYLES) {
      expect((await renderer.print(anInvoice({ fontStyle, notes }))).warnings).toEqual([]);
    }
  });

  test('when no font has a character, then the warning names field and character', async () => {
    const lineItems = [{ description: 'Tablet 𒀀', rate: 200 }];

    expect((await renderer.print(anInvoice({ lineItems }))).warnings).toEqual([
      'lineItems.0.description: no glyph for U+12000',
    ]);
  });

  test('when several lines have such characters, then there is one warning, which names the first line and the first characters', async () => {
    const tablets = ['𒀀', '𒀁𒀂', '𒀀𒀃', '𒀄𒀅'].map((description) => ({ description, rate: 60 }));
    const lineItems = [{ description: 'Plain', rate: 0 }, ...tablets];

    expect((await renderer.print(anInvoice({ lineItems, amount: 288, notes: '𒀀' }))).warnings).toEqual([
      'notes: no glyph for U+12000',
      'lineItems.1.description and 3 more: no glyph for U+12000 U+12001 U+12002 U+12003 U+12004 and more',
    ]);
  });
});

function wordOf(pdf: { pages: { words: { text: string; x: number; y: number; height: number }[] }[] }, text: string) {
  return pdf.pages.flatMap(({ words }) => words).find((word) => word.text.includes(text));
}
