// Replaces characters that no bundled font can draw by a visible box, and makes the warnings about them.
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { atOnce, inSlices, type Slices } from '../in-slices.ts';
import { isPlain, judgeGrapheme } from './judge-grapheme.ts';

/** Graphemes that are judged in less than a millisecond. */
const SLICE = 256;
const NAMED_MOST = 5;

/** The content as it can be printed, and warnings for the caller. */
export interface Drawn<Content> {
  content: Content;
  /**
   * One for each field with such characters, naming the first of them, and one for all lines together: warnings travel in a header,
   * and five hundred lines in a script without a font would make it so long that no client takes it.
   */
  warnings: string[];
}

/** True when a bundled font has each visible character together with its marks. */
export function canDraw(text: string): boolean {
  return atOnce(drawing(text)).missing.size === 0;
}

/** @param document is not changed. Its Markdown is checked as HTML, where a number can stand for a character: see drawnHtml. */
export function drawnDocument(document: PrintableDocument): Promise<Drawn<PrintableDocument>> {
  return inSlices(drawingDocument(document));
}

function* drawingDocument(document: PrintableDocument): Slices<Drawn<PrintableDocument>> {
  const { logoUrl: _logo, bannerUrl: _banner, bodyMarkdown: _markdown, lineItems, ...texts } = document;
  const fields = yield* finding(Object.entries(texts));
  const lines = yield* finding(lineItems.map(({ description }, index) => [String(index), description]));
  const notes = yield* finding((document.taxes ?? []).map(({ note }, index) => [String(index), note]));
  if (fields.length === 0 && lines.length === 0 && notes.length === 0) return { content: document, warnings: [] };
  const content: PrintableDocument = {
    ...document,
    ...Object.fromEntries(fields.map(({ field, text }) => [field, text])),
    ...(document.taxes ? { taxes: withTexts(document.taxes, notes, (tax, note) => ({ ...tax, note })) } : {}),
    lineItems: withTexts(lineItems, lines, (line, description) => ({ ...line, description })),
  };
  const ofNotes = notes.slice(0, 1).map((note) => warningOf({ ...note, field: 'taxes.note' }));
  return { content, warnings: [...fields.map(warningOf), ...warningOfLines(lines), ...ofNotes] };
}

/** @param found by index; the other items stay. */
function withTexts<Item>(
  items: readonly Item[],
  found: readonly Found[],
  put: (item: Item, text: string) => Item,
): Item[] {
  const texts = new Map(found.map(({ field, text }) => [Number(field), text]));
  return items.map((item, index) => {
    const text = texts.get(index);
    return text === undefined ? item : put(item, text);
  });
}

export async function drawnHtml(html: string | undefined): Promise<Drawn<string | undefined>> {
  const [found] = await inSlices(finding([['bodyMarkdown', html]]));
  return found ? { content: found.text, warnings: [warningOf(found)] } : { content: html, warnings: [] };
}

interface Found {
  field: string;
  text: string;
  missing: Set<number>;
}

function* finding(texts: (readonly [string, unknown])[]): Slices<Found[]> {
  const all: Found[] = [];
  for (const [field, text] of texts) {
    if (typeof text !== 'string' || isPlain(text)) continue;
    const found = yield* drawing(text);
    if (found.missing.size > 0) all.push({ field, ...found });
    yield;
  }
  return all;
}

let graphemes: Intl.Segmenter | undefined;

function* drawing(text: string): Slices<{ text: string; missing: Set<number> }> {
  const missing = new Set<number>();
  if (isPlain(text)) return { text, missing };
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  let changed = '';
  let count = 0;
  for (const { segment } of graphemes.segment(text)) {
    const judged = judgeGrapheme(segment);
    for (const code of judged.missing) missing.add(code);
    changed += judged.shown;
    count += 1;
    if (count % SLICE === 0) yield;
  }
  return { text: missing.size > 0 ? changed : text, missing };
}

function warningOfLines(lines: Found[]): string[] {
  const [first, ...others] = lines;
  if (!first) return [];
  const missing = new Set(lines.flatMap((line) => [...line.missing]));
  const named = `lineItems.${first.field}.description`;
  return [warningOf({ ...first, missing, field: others.length > 0 ? `${named} and ${others.length} more` : named })];
}

function warningOf({ field, missing }: Found): string {
  const named = Array.from(missing, (code) => `U+${code.toString(16).toUpperCase().padStart(4, '0')}`);
  const shown = named.slice(0, NAMED_MOST).join(' ');
  return `${field}: no glyph for ${shown}${named.length > NAMED_MOST ? ' and more' : ''}`;
}
