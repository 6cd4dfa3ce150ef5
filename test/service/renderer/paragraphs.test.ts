// Where lines of running text begin and end, measured on printed pages.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { anInvoice, STYLES } from '../../support/renderer/documents.ts';
import { openPrinter, type Printer } from '../../support/renderer/print-directly.ts';
import { readPdf, type Word } from '../../support/renderer/read-pdf.ts';

const RIGHT_MM = 192;
const NEARLY_MM = 0.6;

let printer: Printer;
beforeAll(async () => {
  printer = await openPrinter(process.env['TEST_CHROMIUM_PATH'] ?? '');
});
afterAll(() => printer.close());

const pagesOf = async (given: Partial<PrintableDocument>) => {
  const { pages } = await readPdf(await printer.print({ ...anInvoice(), ...given } as PrintableDocument));
  return pages.map(({ words }) => words.filter(({ text }) => text.trim() !== ''));
};

/** The lines of a part of the page, each from its first word to its last. */
function linesOf(words: Word[]): string[] {
  const rows = Map.groupBy(words, ({ y }) => Math.round(y * 2));
  return [...rows].toSorted(([one], [other]) => one - other).map(([, row]) => row.map(({ text }) => text).join(''));
}

describe('paragraphs', () => {
  test.each(STYLES)(
    'when long terms of %s are set in two columns, then both begin at one height',
    async (fontStyle) => {
      for (const before of [0, 1, 2, 3]) {
        const clauses = Array.from(
          { length: 60 },
          (_none, index) => `Clause ${index}: the parties agree on it in writing.`,
        );
        const terms = ['First.\n'.repeat(before), ...clauses].join('\n\n');
        const all = await pagesOf({ fontStyle, terms, lineItems: [{ description: 'Work', rate: 200 }] });

        for (const words of all) {
          const clausesHere = words.filter(({ text }) => /^(?:Clause|First)/.test(text));
          if (clausesHere.length === 0) continue;
          const top = (isRight: boolean) =>
            Math.min(...clausesHere.filter(({ x }) => x > 100 === isRight).map(({ y }) => y));
          expect(Math.abs(top(true) - top(false))).toBeLessThan(0.1);
        }
      }
    },
  );

  test('when notes have blank lines, then they stay between the paragraphs', async () => {
    const [words = []] = await pagesOf({ notes: 'One.\nTwo.\n\nThree.' });
    const [one = 0, two = 0, three = 0] = ['One.', 'Two.', 'Three.'].map(
      (text) => words.find((word) => word.text === text)?.y,
    );

    expect(three - two).toBeGreaterThan((two - one) * 1.8);
  });

  test('when a text runs from right to left in a document from left to right, then it begins at the edge of the page', async () => {
    const hebrew =
      'התשלום יתבצע בהעברה בנקאית בתוך שלושים יום ממועד הנפקת החשבונית, ללא ניכויים כלשהם ובכפוף לתנאים. '.repeat(3);
    for (const given of [{ notes: hebrew }, { terms: `Net 30.\n\n${hebrew}` }, { isQuote: true, quoteIntro: hebrew }]) {
      const [words = []] = await pagesOf({ ...given, showBanner: false });
      const ends = words.filter(({ text }) => /[א-ת]/.test(text)).map(({ x, width }) => x + width);

      expect(Math.abs(Math.max(...ends) - RIGHT_MM)).toBeLessThan(NEARLY_MM);
    }
  });
});

describe('line breaks', () => {
  test.each(STYLES)(
    'when an address of mail is longer than a column of %s, then it breaks behind the @ or before a dot',
    async (fontStyle) => {
      const clientEmail = 'accounts-payable@department.lindqvist-daughters.example';
      const [words = []] = await pagesOf({ fontStyle, clientEmail, showBanner: false });
      const top = words.find(({ text }) => text === 'Bill to')?.y ?? 0;
      const lines = linesOf(words.filter(({ x, y }) => x < 70 && y > top && y < top + 32));
      const at = lines.findIndex((line) => line.startsWith('accounts'));
      const parts = lines.slice(at, lines.findIndex((line) => line.endsWith('example')) + 1);

      expect(parts.join('')).toBe(clientEmail);
      expect(parts.length).toBeGreaterThan(1);
      for (const [index, part] of parts.slice(1).entries())
        expect([part[0] === '.', parts[index]?.endsWith('@')]).toContain(true);
    },
  );

  test('when a text has dashes, then none begins a line', async () => {
    const lineItems = Array.from({ length: 30 }, (_none, index) => ({
      description: `${'m'.repeat(index)} wide and – narrow words – and many - more of them – until the end of it`,
      rate: 1,
    }));
    const notes =
      'Please pay – as agreed – until the end of the month, and name – if you can – the number of the invoice. '.repeat(
        4,
      );
    const lines = (await pagesOf({ lineItems, notes, textScale: 1.2 })).flatMap(linesOf);

    expect(lines.filter((line) => line.includes('–')).length).toBeGreaterThan(10);
    expect(lines.filter((line) => /^\s*[–-]/.test(line))).toEqual([]);
  });

  test.each(['en-GB', 'de-DE', 'ar-EG'])(
    'when a tax number in %s needs another line, then a word of its label comes with it',
    async (locale) => {
      for (const clientVatId of ['DE123456788', 'DE 123 456 788']) {
        const [words = []] = await pagesOf({
          locale,
          currency: 'EUR',
          subtotal: 200,
          taxAmount: 40,
          textScale: 1.2,
          clientVatId,
        });
        const line = linesOf(words).find((text) => text.includes('788')) ?? '';

        expect(line.replaceAll(/[\s\u00a0]/g, '')).toMatch(/DE123456788/);
        expect(line.replace(/DE.*788/, '').trim()).not.toBe('');
      }
    },
  );
});
