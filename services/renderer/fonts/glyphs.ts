// Replaces characters that no bundled font can draw by a visible box, and makes the warnings about them.
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { type HasGlyph, readCharacterMap } from './character-map.ts';
import { regularFaces } from './fonts.ts';

/** Every face has these characters, so most texts need no check. */
const PLAIN = /^[\t\n\r \u00a0!-~\u00a1-\u00ac\u00ae-\u017f\u2013\u2014\u2018-\u201e\u2022\u2026\u20ac]*$/;
/**
 * Chromium draws nothing for these, whatever the face. Not among them: unassigned and private characters, for which it prints the
 * font's own box, and the Ogham space, which is a stroke.
 */
const INVISIBLE = /(?!\u1680)[\p{Cc}\p{Z}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}]/u;
/** From the symbol face, so that all boxes look alike and none looks like a zero. */
const BOX = '\u25af';
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
  return drawn(text).missing.size === 0;
}

/** @param document is not changed. Its Markdown is checked as HTML, where a number can stand for a character: see drawnHtml. */
export function drawnDocument(document: PrintableDocument): Drawn<PrintableDocument> {
  const { logoUrl: _logo, bannerUrl: _banner, bodyMarkdown: _markdown, lineItems, ...texts } = document;
  const fields = findIn(Object.entries(texts));
  const lines = findIn(lineItems.map(({ description }, index) => [String(index), description]));
  if (fields.length === 0 && lines.length === 0) return { content: document, warnings: [] };
  const replaced = new Map(lines.map(({ field, text }) => [Number(field), text]));
  const content: PrintableDocument = {
    ...document,
    ...Object.fromEntries(fields.map(({ field, text }) => [field, text])),
    lineItems: lineItems.map((line, index) => {
      const description = replaced.get(index);
      return description === undefined ? line : { ...line, description };
    }),
  };
  return { content, warnings: [...fields.map(warningOf), ...warningOfLines(lines)] };
}

export function drawnHtml(html: string | undefined): Drawn<string | undefined> {
  const [found] = findIn([['bodyMarkdown', html]]);
  return found ? { content: found.text, warnings: [warningOf(found)] } : { content: html, warnings: [] };
}

interface Found {
  field: string;
  text: string;
  missing: Set<number>;
}

function findIn(texts: (readonly [string, unknown])[]): Found[] {
  return texts.flatMap(([field, text]) => {
    if (typeof text !== 'string' || PLAIN.test(text)) return [];
    const found = drawn(text);
    return found.missing.size > 0 ? [{ field, ...found }] : [];
  });
}

let graphemes: Intl.Segmenter | undefined;

function drawn(text: string): { text: string; missing: Set<number> } {
  const missing = new Set<number>();
  if (PLAIN.test(text)) return { text, missing };
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  let changed = '';
  const judged = new Map<string, string>();
  for (const { segment } of graphemes.segment(text)) {
    const known = judged.get(segment);
    const shown = known ?? (PLAIN.test(segment) || isDrawnByOne(segment) ? segment : boxed(segment, missing));
    if (known === undefined) judged.set(segment, shown);
    changed += shown;
  }
  return { text: missing.size > 0 ? changed : text, missing };
}

/** Letter and marks must come from one face, composed or decomposed. */
function isDrawnByOne(grapheme: string): boolean {
  const forms = [...new Set([grapheme.normalize('NFC'), grapheme.normalize('NFD')])].map(seenOf);
  return forms.some((form) => form.length === 0) || firstFace((has) => forms.some((form) => form.every(has)));
}

function seenOf(text: string): number[] {
  return Array.from(text).flatMap((character) => (INVISIBLE.test(character) ? [] : [character.codePointAt(0) ?? 0]));
}

/** Replaces only what cannot be drawn: a letter stays without its marks if a face has it. */
function boxed(grapheme: string, missing: Set<number>): string {
  const [first = ''] = grapheme;
  const seen = seenOf(grapheme);
  const alone = seen.filter((code) => !firstFace((has) => has(code)));
  // Each could be drawn, but not combined.
  for (const code of alone.length > 0 ? alone : seen.slice(1)) missing.add(code);
  return alone.includes(first.codePointAt(0) ?? 0) ? BOX : first + BOX;
}

const faces = regularFaces();
const opened: HasGlyph[] = [];

/** In fallback order. A face is read only when all before it have failed. */
function firstFace(draws: (has: HasGlyph) => boolean): boolean {
  for (let index = 0; index < faces.length; index += 1) {
    opened[index] ??= readCharacterMap(faces[index]?.file ?? '');
    if (draws(opened[index] as HasGlyph)) return true;
  }
  return false;
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
