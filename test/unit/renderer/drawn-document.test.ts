// Every text of a document that is printed is checked for characters that no font has, wherever in it the text stands.
import { expect, test } from '@jest/globals';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { drawnDocument, drawnHtml } from '../../../services/renderer/fonts/glyphs.ts';

const UNKNOWN = '𒀀';
const BOX = '▯';

const drawn = (document: Partial<PrintableDocument>) =>
  drawnDocument({ title: 'Invoice', lineItems: [], ...document } as unknown as PrintableDocument);

const entry = { date: '2026-11-01', hours: '1.00' };
const line = { description: 'Design', hours: '2.00', billed: '2.00', entries: [entry, entry] };

test.each<[string, Partial<PrintableDocument>, string]>([
  ['the description of a line of time', { time: [{ ...line, description: UNKNOWN }] }, 'time.0.description'],
  ['its place', { time: [line, { ...line, place: UNKNOWN }] }, 'time.1.place'],
  [
    'an entry of time',
    { time: [{ ...line, entries: [entry, { ...entry, description: UNKNOWN }] }] },
    'time.0.entries.1.description',
  ],
  [
    'several texts of the time',
    { time: [{ ...line, place: UNKNOWN, entries: [{ ...entry, place: UNKNOWN }] }] },
    'time.0.entries.0.place and 1 more',
  ],
  ['the reference of a payment', { receipt: { method: 'cash', reference: UNKNOWN } }, 'receipt.reference'],
])(
  'when %s has such a character, then a box stands in its place, and one warning names it',
  async (_what, given, field) => {
    const { content, warnings } = await drawn(given);

    expect(warnings).toEqual([`${field}: no glyph for U+12000`]);
    expect(JSON.stringify(content)).toBe(
      JSON.stringify({ title: 'Invoice', lineItems: [], ...given }).replaceAll(UNKNOWN, BOX),
    );
  },
);

test.each(['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069'])(
  'when texts hold %j, which reorders what is read, then it is removed with a warning',
  async (control) => {
    const code = `U+${control.charCodeAt(0).toString(16).toUpperCase()}`;
    const { content, warnings } = await drawn({
      number: `INV-${control}1200`,
      notes: `${control}${UNKNOWN}`,
      lineItems: [{ description: `Pay${control} 100` }],
    });

    expect(content).toMatchObject({ number: 'INV-1200', notes: BOX, lineItems: [{ description: 'Pay 100' }] });
    expect(warnings).toEqual([
      `number: ${code} removed, which reorders text`,
      'notes: no glyph for U+12000',
      `notes: ${code} removed, which reorders text`,
      `lineItems.0.description: ${code} removed, which reorders text`,
    ]);
    expect((await drawnHtml(`<p>a${control}b</p>`)).content).toBe('<p>ab</p>');
  },
);

test('when all characters can be drawn, then the document is the same one', async () => {
  const document = { title: 'Rechnung für Åsa', lineItems: [], time: [line], receipt: { method: 'cash' } } as never;

  expect((await drawnDocument(document)).content).toBe(document);
});

test.each(['\ue001', '\uf6d7', 'a\uece0', '\uefcc'])(
  'when a text has the private character of %j, which some faces have, then a box stands in its place',
  async (notes) => {
    const { content, warnings } = await drawn({ notes });

    expect(content.notes).toBe(notes.replace(/\p{Co}/u, BOX));
    expect(warnings).toHaveLength(1);
  },
);
