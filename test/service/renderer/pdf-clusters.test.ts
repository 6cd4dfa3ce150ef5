// Pages before and after their clusters became glyphs look the same.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ColorSpace, Document, Matrix } from 'mupdf';
import { fallbackOrder } from '../../../services/renderer/fonts/fonts.ts';
import { withFindableClusters } from '../../../services/renderer/pdf/pdf-clusters.ts';
import { openTestBrowser, type TestBrowser } from '../../support/renderer/browser.ts';

/** Dots for each point: 216 dots per inch. */
const SCALE = 3;
/** Edges of letters may differ by what one dot is covered: their places are rounded to a thousandth of their size. */
const SEEN = 160;
/** Of a page. The smallest mark has some fifty. */
const DOTS_MOST = 20;

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
    const findable = withFindableClusters(printed);
    const [before, after] = [dotsOf(printed), dotsOf(findable)];

    expect(findable.equals(printed)).toBe(false);
    expect(before.some((dot) => dot < 100)).toBe(true);
    expect(before.length).toBe(after.length);
    expect(before.filter((dot, index) => Math.abs(dot - (after[index] ?? 0)) > SEEN).length).toBeLessThan(DOTS_MOST);
  }
});

/** Copied: the library's memory moves as it grows. */
function dotsOf(pdf: Buffer): Uint8ClampedArray {
  const page = Document.openDocument(Uint8Array.from(pdf), 'application/pdf').loadPage(0);
  return page.toPixmap(Matrix.scale(SCALE, SCALE), ColorSpace.DeviceGray, false).getPixels().slice();
}
