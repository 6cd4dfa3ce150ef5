// Typography, measured on the printed pages of every style: edges, columns of figures, page breaks, contrast and fonts.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { anInvoice, aQuote, LAYOUTS, STYLES } from '../../support/renderer/documents.ts';
import type { ReadPdf, Word } from '../../support/renderer/read-pdf.ts';
import { startRenderer, type TestRenderer } from '../../support/renderer/renderer.ts';

/** The text on A4, between its margins. */
const LEFT_MM = 18;
const RIGHT_MM = 192;
/** Less than is visible: side bearings of glyphs. */
const NEARLY_MM = 0.4;

const VARIANTS = STYLES.flatMap((fontStyle) => LAYOUTS.map((layoutType) => ({ fontStyle, layoutType })));

let renderer: TestRenderer;
beforeAll(async () => {
  renderer = await startRenderer();
});
afterAll(() => renderer.close());

describe('the grid', () => {
  const amounts = [1_111.11, 88.88, 7_400, 0.5];
  const lineItems = amounts.map((rate, index) => ({ description: `Line ${index}`, qty: 1, rate }));
  const printed = ['$1,111.11', '$88.88', '$7,400.00', '$0.50'];

  test.each(VARIANTS)('when it is $fontStyle and $layoutType, then all amounts end at one edge', async (variant) => {
    const pdf = await renderer.read(anInvoice({ ...variant, lineItems, amount: 10_320.59 }));
    const ends = [...printed, '$8,600.49', '$1,720.10', '$10,320.59'].map((text) => endOf(lastOf(pdf, text)));

    for (const end of ends) expect(Math.abs(end - RIGHT_MM)).toBeLessThan(NEARLY_MM);
  });

  test.each(VARIANTS)('when it is $fontStyle and $layoutType, then all text begins at one edge', async (variant) => {
    const pdf = await renderer.read(
      anInvoice({ ...variant, clientCompany: 'Engines', notes: 'Hello', terms: 'Net 14' }),
    );
    const starts = ['Bill to', 'Engines', 'Description', 'Design', 'Notes', 'Hello'].map((text) => lastOf(pdf, text).x);

    for (const start of starts) expect(Math.abs(start - LEFT_MM)).toBeLessThan(NEARLY_MM);
    // The second of two remarks is aligned with the totals.
    expect(Math.abs(lastOf(pdf, 'Net 14').x - lastOf(pdf, 'Subtotal').x)).toBeLessThan(NEARLY_MM);
  });

  test.each(STYLES)('when %s prints figures, then all of them are equally wide', async (fontStyle) => {
    const pdf = await renderer.read(anInvoice({ fontStyle, lineItems: [{ rate: 1_111.11 }, { rate: 8_000.88 }] }));
    const [narrow, wide] = ['$1,111.11', '$8,000.88'].map((text) => lastOf(pdf, text).width);

    expect(Math.abs((narrow ?? 0) - (wide ?? 0))).toBeLessThan(0.05);
  });

  test.each(STYLES)('when %s is Arabic, then amounts are aligned, up to the left edge', async (fontStyle) => {
    const lines = [12_345.67, 8.5].map((amount) => ({ description: 'عمل', qty: '1', rate: String(amount), amount }));
    const pdf = await renderer.read({
      ...anInvoice({ fontStyle, amount: 12_354.17, subtotal: 12_354.17 }),
      lineItems: lines,
      taxAmount: 0,
      locale: 'ar-AE',
      currency: 'AED',
    } as PrintableDocument);
    const ends = ['12,345.67', '8.50'].map((text) => endOf(lastOf(pdf, text)));

    expect(Math.abs((ends[0] ?? 0) - (ends[1] ?? 0))).toBeLessThan(NEARLY_MM);
    const first = Math.min(...(pdf.pages[0]?.words ?? []).map(({ x }) => x));
    expect(Math.abs(first - LEFT_MM)).toBeLessThan(1);
  });

  test.each(STYLES)('when textScale is 1.2 in %s, then dates and amounts are not broken', async (fontStyle) => {
    const { pages } = await renderer.read(
      anInvoice({ fontStyle, textScale: 1.2, date: '2026-09-28', amount: 123_456_789.5, poNumber: 'PO-7781' }),
    );
    const words = (pages[0]?.words ?? []).map(({ text }) => text);

    expect(words).toEqual(expect.arrayContaining(['28 September 2026', '5 December 2026', '$123,456,789.50']));
  });
});

describe('emphasis', () => {
  test.each(VARIANTS)(
    'when it is $fontStyle and $layoutType, then the amount due is above the lines, and again, larger, below them',
    async (variant) => {
      const { pages } = await renderer.read(
        anInvoice({ ...variant, lineItems: [{ description: 'Flat fee', rate: 200 }] }),
      );
      const words = pages[0]?.words ?? [];
      const [above, below] = words.filter(({ text }) => text.startsWith('$240.00'));
      const line = words.find(({ text }) => text === 'Flat fee');

      expect(above?.y).toBeLessThan(line?.y ?? 0);
      expect(below?.y).toBeGreaterThan(line?.y ?? Number.POSITIVE_INFINITY);
      expect(below?.height).toBeGreaterThan((line?.height ?? 0) * 1.3);
    },
  );

  test('when the overlay has no banner, then its heading and total are those of the standard layout', async () => {
    const [overlay, standard] = await Promise.all(
      LAYOUTS.toReversed().map((layoutType) => renderer.read(anInvoice({ layoutType, showBanner: false }))),
    );

    expect(overlay?.text).toBe(standard?.text);
  });

  test('when a description has several lines, then the first is the item and the others are smaller', async () => {
    const lineItems = [{ description: 'Travel\nTwo nights\n\nBy rail', rate: 200 }];
    const pdf = await renderer.read(anInvoice({ lineItems }));
    const [item, details, last] = ['Travel', 'Two nights', 'By rail'].map((text) => lastOf(pdf, text));

    expect(details?.height).toBeLessThan(item?.height ?? 0);
    // The empty line between them stays.
    expect((last?.y ?? 0) - (details?.y ?? 0)).toBeGreaterThan(((details?.y ?? 0) - (item?.y ?? 0)) * 1.7);
  });

  test.each([
    ['of Windows', '\r\n'],
    ['of old Macs', '\r'],
  ])(
    'when a description has the line breaks %s, then it is printed like one with those of Unix',
    async (_whose, lineBreak) => {
      const wordsOf = async (separator: string) => {
        const description = ['Travel', 'Two nights', '', 'By rail'].join(separator);
        const { pages } = await renderer.read(anInvoice({ lineItems: [{ description, rate: 200 }] }));
        return pages[0]?.words;
      };

      expect(await wordsOf(lineBreak)).toEqual(await wordsOf('\n'));
    },
  );

  test('when a markdown table aligns a column to the right, then its figures are right-aligned', async () => {
    const bodyMarkdown = '| Phase | Weeks |\n|---|---:|\n| Discover | 1200 |\n| Design | 4 |';
    const pdf = await renderer.read(aQuote({ bodyMarkdown }));

    expect(Math.abs(endOf(lastOf(pdf, '1200')) - endOf(lastOf(pdf, '4')))).toBeLessThan(NEARLY_MM);
  });
});

describe('page breaks', () => {
  test.each(Array.from({ length: 8 }, (_none, index) => 12 + index))(
    'when there are %d lines, then at least two are on the page of the totals',
    async (count) => {
      const lineItems = Array.from({ length: count }, (_none, index) => ({ description: `Item ${index}.`, rate: 1 }));
      const { pages } = await renderer.read(anInvoice({ lineItems, amount: count * 1.2 }));

      const sums = pages.filter(({ text }) => text.includes('Subtotal'));
      expect(sums).toHaveLength(1);
      expect(sums[0]?.text).toMatch(/Item \d+\..*Item \d+\..*Subtotal.*Total/);
    },
  );

  test.each(STYLES)(
    'when the table of %s begins low on a page, then two lines are on the page of its header',
    async (fontStyle) => {
      const lineItems = Array.from({ length: 8 }, (_none, index) => ({ description: `Item ${index}.`, rate: 1 }));
      for (const paragraphs of [10, 12, 14, 16, 18]) {
        const bodyMarkdown = 'A paragraph.\n\n'.repeat(paragraphs);
        const { pages } = await renderer.read(aQuote({ fontStyle, lineItems, amount: 9.6, bodyMarkdown }));

        const first = pages.find(({ text }) => text.includes('Description'));
        expect(first?.text).toMatch(/Item 0\..*Item 1\./);
      }
    },
  );
});

describe('rules', () => {
  test.each(STYLES)('when the table header of %s is repeated, then so is the rule below it', async (fontStyle) => {
    const lineItems = Array.from({ length: 60 }, (_none, index) => ({ description: `Item ${index}.`, rate: 1 }));
    const pdf = await renderer.read(anInvoice({ fontStyle, lineItems, amount: 72 }));
    const rules: number[] = [];
    for (const page of [1, 2]) {
      const head = pdf.pages[page - 1]?.words.find(({ text }) => text === 'Description');
      let darkest = 1;
      // Where no words are, from below the header to the middle of the first line.
      for (let y = (head?.y ?? 0) + 0.3; y < (head?.y ?? 0) + 4; y += 0.15) {
        darkest = Math.min(darkest, luminance(await pdf.colourAt(page, 90, y)));
      }
      rules.push(darkest);
    }

    expect(rules[0]).toBeLessThan(0.5);
    expect(rules[1]).toBeLessThan(0.5);
  });
});

describe('colour', () => {
  test.each(VARIANTS)(
    'when it is $fontStyle and $layoutType, then the banner ends in a clean line',
    async ({ fontStyle, layoutType }) => {
      const pdf = await renderer.read(anInvoice({ fontStyle, layoutType, brandColor: '#123456' }));
      const heightMm = layoutType === 'standard' ? 15.88 : 59.8;

      expect(await pdf.isBlank(1, { x: 0, y: heightMm + 0.3, width: 209, height: 2 })).toBe(true);
      expect(await pdf.isBlank(1, { x: 0, y: heightMm - 2, width: 1, height: 1 })).toBe(false);
    },
  );

  test('when the brand colour is as light as paper, then text in it has enough contrast', async () => {
    const pdf = await renderer.read(anInvoice({ fontStyle: 'elegant', brandColor: '#ffee00', showBanner: false }));
    const heading = headingOf(pdf);
    let darkest = 1;
    for (let step = 0; step < 60; step += 1) {
      const x = heading.x + step / 6;
      darkest = Math.min(darkest, luminance(await pdf.colourAt(1, x, heading.y - heading.height * 0.3)));
    }

    // Somewhere it crosses a stem. 4.5 : 1 on white is a luminance below 0.19; the colour itself has 0.84.
    expect(darkest).toBeLessThan(0.19);
    expect(darkest).toBeGreaterThan(0.05);
  });
});

describe('faces', () => {
  test.each(VARIANTS)(
    'when a plain document is $fontStyle and $layoutType, then two faces are embedded',
    async (variant) => {
      const { bytes } = await renderer.print(
        anInvoice({ ...variant, notes: 'Thank you', terms: 'Net 14', poNumber: '7' }),
      );
      const names = bytes.toString('latin1').matchAll(/\/FontName \/\w+\+([\w-]+)/g);

      expect(new Set([...names].map(([, name]) => name)).size).toBe(2);
    },
  );
});

describe('the footer', () => {
  const footerOf = async (given: Parameters<typeof anInvoice>[0]) => {
    const { pages } = await renderer.read(anInvoice(given));
    const words = pages[0]?.words.filter(({ y }) => y > 277) ?? [];
    return words.map(({ text }) => text).join('');
  };

  test('when a document is printed, then the footer has kind and number, and the page at the end', async () => {
    expect(await footerOf({})).toBe('Invoice INV-0042 1 / 1');
  });

  test('when the number is long, then it is shortened', async () => {
    expect(await footerOf({ number: '0123456789'.repeat(20) })).toMatch(/^Invoice (?:0123456789){7}\d*… 1 \/ 1$/);
  });
});

function lastOf(pdf: ReadPdf, text: string): Word {
  const word = pdf.pages.flatMap(({ words }) => words).findLast((one) => one.text.includes(text));
  if (!word) throw new Error(`«${text}» is not on the page`);
  return word;
}

/** The largest word of the heading, which the footer repeats. */
function headingOf(pdf: ReadPdf): Word {
  const words = pdf.pages.flatMap((page) => page.words).filter(({ text }) => text.startsWith('Invoice'));
  const [largest] = words.toSorted((one, other) => other.height - one.height);
  if (!largest) throw new Error('there is no heading');
  return largest;
}

function endOf({ x, width }: Word) {
  return x + width;
}

function luminance(colour: readonly number[]) {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => ((part / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
