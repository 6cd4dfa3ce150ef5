// Replaces characters that no bundled font can draw by a visible box, removes those that reorder text, and makes the
// warnings about them.
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { atOnce, inSlices, type Slices } from '../in-slices.ts';
import { isPlain, judgeGrapheme } from './judge-grapheme.ts';

/** The number of graphemes that take less than a millisecond. */
const SLICE = 256;
const NAMED_MOST = 5;

/** The content in the form in which it can be printed, and warnings for the caller. */
export interface Drawn<Content> {
  content: Content;
  /**
   * One warning for each field with such characters, which names the first of them. All lines share one, as do all time
   * and all movements, because warnings travel in a header: five hundred lines in a script without a font would make it
   * so long that no client accepts it.
   */
  warnings: string[];
}

/** True when a bundled font has each visible character together with its marks. */
export function canDraw(text: string): boolean {
  return atOnce(drawing(text)).missing.size === 0;
}

/**
 * Replaces the characters of a document.
 * @param document is not changed. Its Markdown is checked as HTML (see drawnHtml), where a number can stand for a
 * character.
 */
export function drawnDocument(document: PrintableDocument): Promise<Drawn<PrintableDocument>> {
  return inSlices(drawingDocument(document));
}

function* drawingDocument(document: PrintableDocument): Slices<Drawn<PrintableDocument>> {
  const { logoUrl: _logo, bannerUrl: _banner, bodyMarkdown: _markdown, lineItems, ...rest } = document;
  const { time, receipt, creditNote, acceptance, statement, ...texts } = rest;
  const fields = yield* finding(Object.entries(texts));
  const lines = yield* finding(lineItems.map(({ description }, index) => [String(index), description]));
  const notes = yield* finding((document.taxes ?? []).map(({ note }, index) => [String(index), note]));
  const times: Found[] = [];
  const drawnTime = yield* drawingPart(time, 'time', times);
  const movements: Found[] = [];
  const drawnStatement = yield* drawingPart(statement, 'statement', movements);
  const parts: Found[] = [];
  const drawnReceipt = yield* drawingPart(receipt, 'receipt', parts);
  const drawnCredit = yield* drawingPart(creditNote, 'creditNote', parts);
  const drawnAcceptance = yield* drawingPart(acceptance, 'acceptance', parts);
  if ([fields, lines, notes, times, movements, parts].every(({ length }) => length === 0))
    return { content: document, warnings: [] };
  const content: PrintableDocument = {
    ...document,
    ...Object.fromEntries(fields.map(({ field, text }) => [field, text])),
    ...(document.taxes ? { taxes: withTexts(document.taxes, notes, (tax, note) => ({ ...tax, note })) } : {}),
    ...(drawnTime ? { time: drawnTime } : {}),
    ...(drawnStatement ? { statement: drawnStatement } : {}),
    ...(drawnReceipt ? { receipt: drawnReceipt } : {}),
    ...(drawnCredit ? { creditNote: drawnCredit } : {}),
    ...(drawnAcceptance ? { acceptance: drawnAcceptance } : {}),
    lineItems: withTexts(lineItems, lines, (line, description) => ({ ...line, description })),
  };
  const ofLines = lines.map((line) => ({ ...line, field: `lineItems.${line.field}.description` }));
  const ofNotes = notes.slice(0, 1).map((note) => ({ ...note, field: 'taxes.note' }));
  const warnings = [
    ...fields.flatMap(warningsOf),
    ...warningTogether(ofLines),
    ...ofNotes.flatMap(warningsOf),
    ...parts.flatMap(warningsOf),
    ...warningTogether(times),
    ...warningTogether(movements),
  ];
  return { content, warnings };
}

/**
 * Replaces the characters of a part.
 * @param field the place of the part.
 * @param found collects the characters that cannot be drawn.
 * @returns the part with its texts as they can be printed, or the same one when all can.
 */
function* drawingPart<Part>(part: Part, field: string, found: Found[]): Slices<Part> {
  if (typeof part === 'string') {
    const [one] = yield* finding([[field, part]]);
    if (one) found.push(one);
    return (one?.text ?? part) as Part;
  }
  if (typeof part !== 'object' || part === null) return part;
  const before = found.length;
  const entries: [string, unknown][] = [];
  for (const [name, value] of Object.entries(part))
    entries.push([name, yield* drawingPart(value as unknown, `${field}.${name}`, found)]);
  if (found.length === before) return part;
  return (Array.isArray(part) ? entries.map(([, value]) => value) : Object.fromEntries(entries)) as Part;
}

/** Replaces some items. @param found new texts by index; the other items stay. */
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
  return found ? { content: found.text, warnings: warningsOf(found) } : { content: html, warnings: [] };
}

interface Found {
  field: string;
  text: string;
  missing: Set<number>;
  removed: Set<number>;
}

function* finding(texts: (readonly [string, unknown])[]): Slices<Found[]> {
  const all: Found[] = [];
  for (const [field, text] of texts) {
    if (typeof text !== 'string' || isPlain(text)) continue;
    const found = yield* drawing(text);
    if (found.missing.size + found.removed.size > 0) all.push({ field, ...found });
    yield;
  }
  return all;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

function* drawing(text: string): Slices<Omit<Found, 'field'>> {
  const missing = new Set<number>();
  const removed = new Set<number>();
  if (isPlain(text)) return { text, missing, removed };
  let changed = '';
  let count = 0;
  for (const { segment } of graphemes.segment(text)) {
    const judged = judgeGrapheme(segment);
    for (const code of judged.missing) missing.add(code);
    if (judged.removed !== undefined) removed.add(judged.removed);
    changed += judged.shown;
    count += 1;
    if (count % SLICE === 0) yield;
  }
  return { text: missing.size + removed.size > 0 ? changed : text, missing, removed };
}

function warningTogether(found: readonly Found[]): string[] {
  return KINDS.flatMap((kind) => {
    const [first, ...others] = found.filter((one) => one[kind].size > 0);
    if (!first) return [];
    const codes = new Set([first, ...others].flatMap((one) => [...one[kind]]));
    const field = others.length > 0 ? `${first.field} and ${others.length} more` : first.field;
    return warningOf(kind, field, codes);
  });
}

function warningsOf(found: Pick<Found, 'field' | 'missing' | 'removed'>): string[] {
  return KINDS.flatMap((kind) => (found[kind].size > 0 ? warningOf(kind, found.field, found[kind]) : []));
}

const KINDS = ['missing', 'removed'] as const;

function warningOf(kind: (typeof KINDS)[number], field: string, codes: ReadonlySet<number>): string {
  const named = Array.from(codes, (code) => `U+${code.toString(16).toUpperCase().padStart(4, '0')}`);
  const shown = `${named.slice(0, NAMED_MOST).join(' ')}${named.length > NAMED_MOST ? ' and more' : ''}`;
  return kind === 'missing' ? `${field}: no glyph for ${shown}` : `${field}: ${shown} removed, which reorders text`;
}
