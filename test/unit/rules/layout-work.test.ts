// The bound on layout work before Chromium: ordinary documents pass, bodies made to be slow do not.
import { describe, expect, test } from '@jest/globals';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { estimatedPages, isSlow, requireBoundedWork, WORK_PAGES_MAX } from '#libs/rules/documents/layout-work.ts';
import { cuneiform, HOSTILE_DOCUMENTS, han } from '../../support/hostile-bodies.ts';
import { aCurrencyStatement, aStatement } from '../../support/renderer/documents.ts';

const movements = (count: number, text: string): Partial<PrintableDocument> => {
  const rows = Array.from({ length: count }, () => ({ amount: 1, text }));
  return aStatement([aCurrencyStatement('EUR', rows)]);
};

const lines = (count: number, description: string) => ({
  lineItems: Array.from({ length: count }, () => ({ description, qty: 1, rate: 10 })),
});

describe('when a document is as large as a realistic one may be, then it is printed', () => {
  test.each<[string, Partial<PrintableDocument>]>([
    ['five hundred lines', lines(500, 'Consulting on site, half a day, with travel')],
    ['a hundred lines of many words', lines(100, 'Work package with details. '.repeat(70))],
    [
      'a scope of work of a hundred thousand characters',
      { bodyMarkdown: `${'Words and more words. '.repeat(30)}\n\n`.repeat(150) },
    ],
    ['a long list with emphasis', { bodyMarkdown: '- **Item** of the list with words\n'.repeat(2_500) }],
    ['a table of a thousand cells', { bodyMarkdown: `|a|b|c|d|\n|-|-|-|-|\n${'|one|two|three|four|\n'.repeat(250)}` }],
    ['a rule of many dashes', { bodyMarkdown: `${'- '.repeat(500)}\n\n${'> '.repeat(20)}Quoted` }],
    ['five hundred lines of Thai', lines(500, 'ออกแบบเว็บไซต์และพัฒนาระบบหลังบ้านสำหรับลูกค้า')],
    ['Persian terms with joiners', { terms: 'می\u200cخواهم نمی\u200cشود '.repeat(700) }],
    ['terms at their longest', { terms: 'The parties agree. '.repeat(1_000) }],
    ['fifty lines of Han', lines(50, han(300))],
    ['three thousand movements', movements(3_000, 'RF18 5390 0754 7034')],
  ])('%s', (_what, document) => {
    expect(requireBoundedWork(document)).toBeLessThanOrEqual(WORK_PAGES_MAX);
  });
});

describe('when a document is made to be slow, then 422 names the estimate and the bound', () => {
  test.each<[string, Partial<PrintableDocument>]>([
    ['Markdown of line breaks', { bodyMarkdown: 'a\n'.repeat(50_000) }],
    ['a hundred lines of line breaks', lines(100, `${'\n'.repeat(1_999)}a`)],
    ['three thousand movements with long texts', movements(3_000, 'Invoice of November. '.repeat(10))],
    ['five hundred lines of short lines', lines(500, 'a\n'.repeat(1_000))],
    ['a hundred thousand characters that no font has', lines(100, cuneiform(1_000))],
    ['a million Han characters', lines(500, han(2_000))],
    ['scripts that change with each letter', lines(100, 'a字ب'.repeat(650))],
    ['one paragraph of emphases', { bodyMarkdown: '*a* '.repeat(25_000) }],
    [
      'a table of three thousand columns',
      { bodyMarkdown: `${'|a'.repeat(3_000)}|\n${'|-'.repeat(3_000)}|\n${'|1'.repeat(3_000)}|` },
    ],
    ['quotations within each other', { bodyMarkdown: '>'.repeat(50_000) }],
    ['lists within each other', { bodyMarkdown: `Text\n\n${'1. + '.repeat(2_500)}a` }],
    ['Markdown of the line breaks of HTML', { bodyMarkdown: 'a<br>'.repeat(18_000) }],
    ['Markdown of the paragraphs of HTML', { bodyMarkdown: '<P>a'.repeat(22_000) }],
    ['Markdown of the line breaks of old Macs', { bodyMarkdown: 'a\r'.repeat(45_000) }],
    ['lines with the line breaks of old Macs', lines(100, 'a\r'.repeat(1_000))],
    ...['\u200c', '\u061c', '\u2060', '\ufeff'].map((character): [string, Partial<PrintableDocument>] => [
      `a paragraph of ${JSON.stringify(character)}`,
      { bodyMarkdown: character.repeat(90_000) },
    ]),
    ['a paragraph of inline code', { bodyMarkdown: '`a` '.repeat(22_500) }],
    ['a paragraph of emphases that fill it', { bodyMarkdown: '*a* '.repeat(16_000) }],
    ['digits between Hebrew letters', { bodyMarkdown: 'א1'.repeat(45_000) }],
    ['terms of ideographic spaces', { terms: 'a\u3000'.repeat(10_000) }],
    ['a paragraph of Thai', { bodyMarkdown: 'ใบแจ้งหนี้'.repeat(9_000) }],
    ['a paragraph of Burmese', { bodyMarkdown: 'ငွေတောင်း'.repeat(10_000) }],
    ['symbols of several faces', { bodyMarkdown: '★☎✓'.repeat(30_000) }],
    ['terms of line breaks', { terms: 'a\n'.repeat(10_000) }],
  ])('%s', (_what, document) => {
    expect(() => requireBoundedWork(document)).toThrow(
      expect.objectContaining({
        status: 422,
        message: expect.stringMatching(/estimated at [\d,]+ pages of work, at most 150 are printed/),
      }),
    );
  });
});

test.each(HOSTILE_DOCUMENTS.map((one) => [one.name, one] as const))(
  'when the lab measures %s, then the bound judges it as the lab says',
  (_name, { isPrinted, body }) => {
    const pages = estimatedPages(JSON.parse(body()));

    expect(pages <= WORK_PAGES_MAX).toBe(isPrinted);
  },
);

test('when Markdown has too many lines for any document, then its paragraphs are not examined', () => {
  const lines = estimatedPages({ terms: 'a\n'.repeat(50_000) });

  expect(lines).toBeGreaterThan(WORK_PAGES_MAX);
  expect(estimatedPages({ bodyMarkdown: 'a\n'.repeat(50_000) })).toBe(lines);
});

test('when a document is short, then it is not slow; when it has dozens of pages, then it is', () => {
  expect(isSlow(estimatedPages(lines(40, 'Design')))).toBe(false);
  expect(isSlow(estimatedPages(lines(400, 'Design')))).toBe(true);
});

test('when a logo is inlined, then its characters do not count as text', () => {
  expect(estimatedPages({ logoUrl: `data:image/png;base64,${'A'.repeat(2_000_000)}` })).toBe(1);
});
