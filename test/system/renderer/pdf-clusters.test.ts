// Pages look the same before and after their clusters became glyphs.
import { PDFiumLibrary } from '@hyzyla/pdfium';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fallbackOrder } from '../../../services/renderer/fonts/fonts.ts';
import { withFindableClusters } from '../../../services/renderer/pdf/pdf-clusters.ts';
import { openTestBrowser, type TestBrowser } from '../../support/renderer/browser.ts';

/** A global is looked up slowly in the context of a test, eight million times a page. */
const { abs } = Math;
/** Pixels for each point: 288 pixels per inch. */
const SCALE = 4;
/** Edges of letters may differ by the coverage of a pixel: positions are rounded to a thousandth of the size. */
const VISIBLE_DIFFERENCE = 160;
/** Per page. The smallest mark has about fifty pixels. */
const PIXELS_MAX = 20;

let browser: TestBrowser;
beforeAll(async () => {
  browser = await openTestBrowser({ pages: 1 });
});
afterAll(() => browser.close());

const TEXTS = [
  'कुल राशि श्री हिन्दी क्षत्रिय',
  'বাংলা কর্ম শিক্ষা',
  'கொடுப்பனவு விலைப்பட்டியல்',
  'ඉන්වොයිසිය ශ්‍රී',
  'វិក្កយបត្រ ការពិពណ៌នា',
  'ငွေတောင်းခံလွှာ',
  'བསྒྲུབས འགྲེལ་བཤད་',
  'ใบแจ้งหนี้ น้ำ ที่',
  'שָׁלוֹם סֵפֶר',
  'مُحَمَّد می‌شود نمی‌خواهم شكرًا الإجمالي',
];

test('when clusters become glyphs, then each letter and mark stays where it was', async () => {
  for (const style of ['', 'font-size: 7.3pt; letter-spacing: .3pt', 'font-style: italic; font-weight: 600']) {
    const family = fallbackOrder('Source Serif 4', 'simplified').map((name) => `'${name}'`);
    const paragraphs = TEXTS.map((text) => `<p dir="auto">${text} abc ${text}</p>`).join('');
    const html = `<!doctype html><style>body { font-family: ${family}; ${style} }</style>${paragraphs}`;
    const options = { deadlineAt: Date.now() + 20_000, signal: new AbortController().signal };
    const printed = await browser.print(html, options);
    const findable = await withFindableClusters(printed);
    const [before, after] = [await pixelsOf(printed), await pixelsOf(findable)];

    expect(findable.equals(printed)).toBe(false);
    expect(before.some((pixel) => pixel < 100)).toBe(true);
    expect(before.length).toBe(after.length);
    expect(before.filter((pixel, index) => abs(pixel - (after[index] ?? 0)) > VISIBLE_DIFFERENCE).length).toBeLessThan(
      PIXELS_MAX,
    );
  }
});

/** The pixels of the first page in grey, copied because the library frees its memory. */
async function pixelsOf(pdf: Buffer): Promise<Uint8Array> {
  const library = await PDFiumLibrary.init();
  const document = await library.loadDocument(Uint8Array.from(pdf));
  try {
    const { data } = await document.getPage(0).render({ scale: SCALE, render: 'bitmap', colorSpace: 'Gray' });
    return data.slice();
  } finally {
    document.destroy();
    library.destroy();
  }
}
