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

/**
 * @returns one warning for each field with such characters, naming the first of them, and one for all lines together: warnings travel
 * in a header, and five hundred lines in a script that nobody has a font for would make it so long that no client takes it.
 */
export type FindMissingGlyphs = (document: PdfDocument) => string[];

type IsDrawn = (code: number) => boolean;

/** True when a bundled font has each character that is seen. */
export function canDraw(text: string): boolean {
  return !missingFrom(text, bundledFonts())?.size;
}

let known: IsDrawn | undefined;

/** Reads the fonts' tables of characters: about 150 ms, once. */
function bundledFonts(): IsDrawn {
  known ??= readFonts();
  return known;
}

function readFonts(): IsDrawn {
  const drawn = new Uint8Array(CODE_POINTS / 8);
  for (const file of fontFiles()) {
    const font = openSync(file);
    if (!('characterSet' in font)) continue; // A collection of fonts; none of ours is one.
    for (const code of font.characterSet) drawn[code >> 3] = (drawn[code >> 3] ?? 0) | (1 << (code & 7));
  }
  return (code) => ((drawn[code >> 3] ?? 0) & (1 << (code & 7))) !== 0;
}

/** Reads the fonts, so that no document waits for them. */
export function openGlyphs(): FindMissingGlyphs {
  const isDrawn = bundledFonts();
  return ({ logoUrl: _logo, bannerUrl: _banner, lineItems, ...texts }) => {
    const lines = lineItems.map(({ description }, index) => [`lineItems.${index}.description`, description] as const);
    const [first, ...others] = findIn(lines, isDrawn);
    const found = findIn(Object.entries(texts), isDrawn);
    if (first && others.length > 0) {
      const missing = new Set([first, ...others].flatMap((line) => [...line.missing]));
      found.push({ field: `${first.field} and ${others.length} more`, missing });
    } else if (first) {
      found.push(first);
    }
    return found.map(warningOf);
  };
}

interface Found {
  field: string;
  missing: Set<number>;
}

function findIn(texts: (readonly [string, unknown])[], isDrawn: IsDrawn): Found[] {
  return texts.flatMap(([field, text]) => {
    const missing = typeof text === 'string' ? missingFrom(text, isDrawn) : undefined;
    return missing?.size ? [{ field, missing }] : [];
  });
}

function missingFrom(text: string, isDrawn: IsDrawn): Set<number> | undefined {
  if (PLAIN.test(text)) return undefined;
  const missing = new Set<number>();
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (!isDrawn(code) && !INVISIBLE.test(character)) missing.add(code);
    if (missing.size > NAMED_MOST) break;
  }
  return missing;
}

function warningOf({ field, missing }: Found): string {
  const named = Array.from(missing, (code) => `U+${code.toString(16).toUpperCase().padStart(4, '0')}`);
  const shown = named.slice(0, NAMED_MOST).join(' ');
  return `${field}: no glyph for ${shown}${named.length > NAMED_MOST ? ' and more' : ''}`;
}
