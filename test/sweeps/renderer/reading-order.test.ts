// The order of the text that is copied from a document: as it is painted.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sampled } from '../../support/form.ts';
import { anInvoice, LAYOUTS, STYLES } from '../../support/renderer/documents.ts';
import { openPrinter, type Printer } from '../../support/renderer/print-directly.ts';
import { readPdfTexts } from '../../support/renderer/read-pdf-texts.ts';

const VARIANTS = STYLES.flatMap((fontStyle) =>
  LAYOUTS.flatMap((layoutType) =>
    [true, false].flatMap((showBanner) =>
      [true, false].map((accessible) => ({ fontStyle, layoutType, showBanner, accessible })),
    ),
  ),
);

let printer: Printer;
beforeAll(async () => {
  printer = await openPrinter(process.env['TEST_CHROMIUM_PATH'] ?? '');
});
afterAll(() => printer.close());

describe('copied text', () => {
  test.each(sampled(VARIANTS))(
    'when it is $fontStyle, $layoutType, banner $showBanner, accessible $accessible, then it runs from the issuer to the number of the page',
    async (variant) => {
      const lineItems = Array.from({ length: 45 }, (_none, index) => ({ description: `Line ${index}.`, rate: 1 }));
      const document = { ...anInvoice({ lineItems, amount: 54, notes: 'Thank you' }), ...variant };
      const { pages } = await readPdfTexts(await printer.print(document));

      expect(pages.length).toBeGreaterThan(1);
      const inOrder = ['Grace Hopper', 'Invoice', 'INV-0042', 'Bill to', 'Description', 'Line 0.', 'Line 10.'];
      expect(placesOf(inOrder, pages[0])).toEqual(placesOf(inOrder, pages[0]).toSorted((one, other) => one - other));
      expect(pages[0]).toMatch(/^\s*Grace Hopper/);
      for (const [index, text] of pages.entries()) {
        // The footer is the last text of the page.
        const footer = text.lastIndexOf(`${index + 1} / ${pages.length}`);
        expect(footer).toBeGreaterThan(text.lastIndexOf('Line '));
        expect(footer).toBeGreaterThan(text.lastIndexOf('Thank you'));
      }
    },
  );
});

function placesOf(texts: string[], page = ''): number[] {
  return texts.map((text) => page.indexOf(text));
}
