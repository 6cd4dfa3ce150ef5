// Bodies that once let one account slow down all others, each with the field that makes it dear. The lab and the tests share them.
import { pdfOf } from './pdf-body.ts';

const lines = (count: number, description: string) => ({
  lineItems: Array.from({ length: count }, () => ({ description, qty: 1, rate: '10' })),
});
export const han = (length: number) =>
  Array.from({ length }, (_none, index) => String.fromCodePoint(0x4e00 + ((index * 7919) % 20_000))).join('');
/** A script that no face of ours has. */
export const cuneiform = (length: number) =>
  Array.from({ length }, (_none, index) => String.fromCodePoint(0x12000 + ((index * 31) % 900))).join('');

const document = (fields: object) => JSON.stringify({ ...pdfOf('Invoice'), ...fields });

/** For the PDF tool. `isPrinted`: just under the bound of a document's work, the dearest that is still printed. */
export const HOSTILE_DOCUMENTS: readonly { name: string; isPrinted: boolean; body: () => string }[] = [
  {
    name: 'Markdown of 50,000 line breaks',
    isPrinted: false,
    body: () => document({ bodyMarkdown: 'a\n'.repeat(50_000) }),
  },
  {
    name: '100 lines of 2,000 line breaks',
    isPrinted: false,
    body: () => document(lines(100, `${'\n'.repeat(1_999)}a`)),
  },
  {
    name: 'Markdown of 4,000 line breaks',
    isPrinted: true,
    body: () => document({ bodyMarkdown: 'a\n'.repeat(4_000) }),
  },
  { name: '60 lines of long words', isPrinted: true, body: () => document(lines(60, 'W'.repeat(2_000))) },
  { name: '70 lines of random Han', isPrinted: true, body: () => document(lines(70, han(1_500))) },
  { name: '20 lines that no font has', isPrinted: true, body: () => document(lines(20, cuneiform(900))) },
  { name: '50,000 nested quotes', isPrinted: false, body: () => document({ bodyMarkdown: '>'.repeat(50_000) }) },
];

/** Texts that cost layout, hyphenation, Markdown or search much. Longer than most fields take: those answer with a 4xx. */
export const HOSTILE_TEXTS: readonly { name: string; text: string }[] = [
  { name: 'line breaks', text: 'a\n'.repeat(900) },
  { name: 'one long word', text: 'W'.repeat(1_900) },
  { name: 'random Han', text: han(1_500) },
  { name: 'a script that no font has', text: cuneiform(900) },
  { name: 'nested quotes', text: '>'.repeat(1_900) },
  { name: 'nested brackets', text: '['.repeat(1_900) },
  { name: 'nested emphasis', text: '*a_'.repeat(630) },
  { name: 'a table of many columns', text: `${'|a'.repeat(300)}|\n${'|-'.repeat(300)}|\n` },
  { name: 'combining marks', text: `a${'\u0301'.repeat(1_900)}` },
  { name: 'a number of many digits', text: '9'.repeat(1_900) },
  { name: 'a hundred thousand characters', text: 'word '.repeat(20_000) },
];

/** JSON that costs a parser much and means nothing. */
export const HOSTILE_JSON: readonly { name: string; body: () => string }[] = [
  {
    name: '240,000 unknown names',
    body: () => `{${Array.from({ length: 240_000 }, (_none, index) => `"k${index}":0`).join()},"title":"x"}`,
  },
  { name: 'a list of 249,000 numbers', body: () => `{"lineItems":[${'0,'.repeat(248_999)}0],"title":"x"}` },
  { name: 'a number of 90,000 digits', body: () => `[${'9'.repeat(90_000)}]` },
  { name: '10,000 levels', body: () => `{"title":${'['.repeat(10_000)}${']'.repeat(10_000)}}` },
];
