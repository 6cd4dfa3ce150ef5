// Knows which characters the bundled fonts can draw, so that a caller hears of those that are printed as empty boxes.
import { openSync } from 'fontkit';
import type { PdfDocument } from '#libs/jobs/pdf-document.ts';
import { fontFiles } from './fonts.ts';

/** One bit for each code point of Unicode. */
const CODE_POINTS = 0x11_0000;
/** Everything below is in every face: most texts need no look at all. */
const PLAIN = /^[\s!-\u017f\u2010-\u2026\u20ac]*$/;
/** Drawn by nobody: controls, spaces, joiners, selectors of variants. */
const INVISIBLE = /[\p{C}\p{Z}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}]/u;
const NAMED_MOST = 5;

/** @returns one warning for each field with such characters, naming the first of them. */
export type FindMissingGlyphs = (document: PdfDocument) => string[];

/** Reads the fonts' tables of characters: about 150 ms, once. */
export function openGlyphs(files: string[] = fontFiles()): FindMissingGlyphs {
  const drawn = new Uint8Array(CODE_POINTS / 8);
  for (const file of files) {
    const font = openSync(file);
    if (!('characterSet' in font)) continue; // A collection of fonts; none of ours is one.
    for (const code of font.characterSet) drawn[code >> 3] = (drawn[code >> 3] ?? 0) | (1 << (code & 7));
  }
  const isDrawn = (code: number) => ((drawn[code >> 3] ?? 0) & (1 << (code & 7))) !== 0;

  return (document) => textsOf(document).flatMap(([field, text]) => warningFor(field, text, isDrawn));
}

function textsOf({ logoUrl: _logo, bannerUrl: _banner, lineItems, ...texts }: PdfDocument): [string, string][] {
  const lines = lineItems.map(({ description }, index) => [`lineItems.${index}.description`, description] as const);
  return [...Object.entries(texts), ...lines].filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
}

function warningFor(field: string, text: string, isDrawn: (code: number) => boolean): string[] {
  if (PLAIN.test(text)) return [];
  const missing = new Set<number>();
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (!isDrawn(code) && !INVISIBLE.test(character)) missing.add(code);
    if (missing.size > NAMED_MOST) break;
  }
  if (missing.size === 0) return [];
  const named = Array.from(missing, (code) => `U+${code.toString(16).toUpperCase().padStart(4, '0')}`);
  const shown = named.slice(0, NAMED_MOST).join(' ');
  return [`${field}: no glyph for ${shown}${named.length > NAMED_MOST ? ' and more' : ''}`];
}
