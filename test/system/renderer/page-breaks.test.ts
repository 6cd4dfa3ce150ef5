// Where pages break, at the lengths around the end of a page.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BREAK_CASES, breakFaults, documentOf } from '../../support/renderer/page-breaks.ts';
import { openPrinter, type Printer } from '../../support/renderer/print-directly.ts';
import { readPdfTexts } from '../../support/renderer/read-pdf-texts.ts';

/** One line, a few, and every length at which the totals of a style and layout come to the end of a page. */
const LENGTHS = {
  plain: [1, 2, 3, 4, 36, 38, 39, 40, 41, 42, 43],
  details: [2, 25, 26, 27, 28],
  discounted: [3, 37, 38, 39, 40, 41],
  'long line last': [1, 2, 3, 9, 30],
  signed: [4, 12, 34, 36, 38],
};

let printer: Printer;
beforeAll(async () => {
  printer = await openPrinter(process.env['TEST_CHROMIUM_PATH'] ?? '');
});
afterAll(() => printer.close());

describe('page breaks', () => {
  test.each(BREAK_CASES)(
    'when lines are $kind in $fontStyle, $layoutType, on $size, then the totals are on one page, below a line',
    async (one) => {
      for (const length of LENGTHS[one.kind]) {
        const { pages } = await readPdfTexts(await printer.print(documentOf(length, one)));
        expect({ length, faults: breakFaults(pages) }).toEqual({ length, faults: [] });
      }
    },
  );
});
