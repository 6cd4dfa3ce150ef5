// Decides if a bundled font draws a grapheme, and caches the answer: a text that is not Latin asks a hundred thousand
// times.
import { withoutBidiControls } from '#libs/printable.ts';
import { type HasGlyph, readCharacterMap } from './character-map.ts';
import { regularFaces } from './fonts.ts';

export interface Judged {
  /** The text that is printed for it. */
  shown: string;
  /** Code points that no face has, or not together with the others. */
  missing: readonly number[];
  /** A code point that is removed, because it would show text in another order than it is read. */
  removed?: number;
}

/** Every face has these characters, so most texts need no check. */
const PLAIN = /^[\t\n\r \u00a0!-~\u00a1-\u00ac\u00ae-\u017f\u2013\u2014\u2018-\u201e\u2022\u2026\u20ac]*$/;
/**
 * Characters that Chromium draws nothing for, whatever the face. Unassigned characters are not among them, because it
 * prints the font's own box for these, nor is the Ogham space, which is a stroke.
 */
const INVISIBLE = /(?!\u1680)[\p{Cc}\p{Z}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}]/u;
/** Characters without a common meaning. Some faces have a few of them, but Chromium takes no other face than the first for these. */
const PRIVATE = /\p{Co}/u;
/** The box of the symbol face, so that all boxes look alike and none looks like a zero. */
const BOX = '\u25af';
/** About the number of characters that one document can be made of. */
const REMEMBERED_MAX = 20_000;
/** The longest grapheme that is cached. A letter may have a thousand marks. */
const REMEMBERED_LONGEST = 8;

const remembered = new Map<string, Judged>();

export function isPlain(text: string): boolean {
  return PLAIN.test(text);
}

export function judgeGrapheme(grapheme: string): Judged {
  const known = remembered.get(grapheme);
  if (known) return known;
  const judged = judge(grapheme);
  if (grapheme.length <= REMEMBERED_LONGEST) {
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    remembered.set(grapheme, judged);
  }
  return judged;
}

function judge(grapheme: string): Judged {
  // Each of these is a grapheme of its own.
  const shown = withoutBidiControls(grapheme);
  if (shown !== grapheme) return { shown, missing: [], removed: grapheme.codePointAt(0) ?? 0 };
  return isPlain(grapheme) || isDrawnByOne(grapheme) ? { shown: grapheme, missing: [] } : boxed(grapheme);
}

/** True when one face draws letter and marks together, composed or decomposed. */
function isDrawnByOne(grapheme: string): boolean {
  if (PRIVATE.test(grapheme)) return false;
  const forms = [...new Set([grapheme.normalize('NFC'), grapheme.normalize('NFD')])].map(seenOf);
  return forms.some((form) => form.length === 0) || firstFace((has) => forms.some((form) => form.every(has)));
}

function seenOf(text: string): number[] {
  return Array.from(text).flatMap((character) => (INVISIBLE.test(character) ? [] : [character.codePointAt(0) ?? 0]));
}

/** Replaces only the characters that cannot be drawn. A letter stays without its marks if a face has it. */
function boxed(grapheme: string): Judged {
  const [first = ''] = grapheme;
  const seen = seenOf(grapheme);
  const alone = seen.filter((code) => PRIVATE.test(String.fromCodePoint(code)) || !firstFace((has) => has(code)));
  // Each could be drawn, but not combined.
  const missing = alone.length > 0 ? alone : seen.slice(1);
  return { shown: alone.includes(first.codePointAt(0) ?? 0) ? BOX : first + BOX, missing };
}

const faces = regularFaces();
const opened: HasGlyph[] = [];

/** Finds the first face in fallback order. A face is read only when all before it have failed. */
function firstFace(draws: (has: HasGlyph) => boolean): boolean {
  for (let index = 0; index < faces.length; index += 1) {
    opened[index] ??= readCharacterMap(faces[index]?.file ?? '');
    if (draws(opened[index] as HasGlyph)) return true;
  }
  return false;
}
