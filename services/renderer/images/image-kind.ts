// Detects the kind of an image by its first bytes, not by its name, and makes SVG harmless.

export type ImageKind = 'PNG' | 'JPEG' | 'GIF' | 'WebP' | 'AVIF' | 'SVG' | 'HEIC' | 'BMP' | 'TIFF' | 'PDF' | 'ICO';

/** The kinds that can be printed. */
export const READ_KINDS: ReadonlySet<ImageKind> = new Set(['PNG', 'JPEG', 'GIF', 'WebP', 'AVIF', 'SVG']);

const MAGIC: readonly (readonly [at: number, magic: string, kind: ImageKind])[] = [
  [0, '\x89PNG\r\n\x1a\n', 'PNG'],
  [0, '\xff\xd8\xff', 'JPEG'],
  [0, 'GIF8', 'GIF'],
  [8, 'WEBP', 'WebP'],
  [0, 'BM', 'BMP'],
  [0, 'II*\0', 'TIFF'],
  [0, 'MM\0*', 'TIFF'],
  [0, '%PDF-', 'PDF'],
  [0, '\0\0\x01\0', 'ICO'],
];
/** Files of these kinds begin with a box of a length, a name and brands (ISO/IEC 14496-12). */
const BRANDS_AT = 8;
const HEIF = /^(?:hei[cxms]|hev[cmx]|mif1|msf1)/;
/** Declarations and comments may precede the element. */
const SVG =
  /^\ufeff?\s*(?:<\?[^>]*\?>\s*|<!--[\s\S]*?-->\s*|<!DOCTYPE[^>[]*(?:\[[^\]]*\]\s*)?>\s*)*<(?:svg:)?svg[\s>]/i;
const HEAD_BYTES = 4_096;

export function kindOf(bytes: Buffer): ImageKind | undefined {
  const head = bytes.toString('latin1', 0, HEAD_BYTES);
  const known = MAGIC.find(([at, magic]) => head.startsWith(magic, at));
  if (known) return known[2];
  if (head.startsWith('ftyp', 4)) {
    const brands = head.slice(BRANDS_AT, Math.max(BRANDS_AT, Math.min(bytes.readUInt32BE(0), 128)));
    if (/avi[fs]/.test(brands)) return 'AVIF';
    return HEIF.test(brands) ? 'HEIC' : undefined;
  }
  return SVG.test(bytes.toString('utf8', 0, HEAD_BYTES)) ? 'SVG' : undefined;
}

const ACTIVE = /<(script|foreignObject|iframe|object|embed|audio|video)\b[\s\S]*?(?:<\/\1\s*>|\/>|$)/gi;
const HANDLER = /\son\w+\s*=\s*(?:"[^"]*"|'[^']*')/gi;
/** References that are removed. Those to parts of the same drawing and to embedded images stay. */
const REFERENCE =
  /\s(?:xlink:)?href\s*=\s*(?:"(?!#|data:image\/(?:png|jpeg);)[^"]*"|'(?!#|data:image\/(?:png|jpeg);)[^']*')/gi;
const OUTER_URL = /url\(\s*["']?(?!["']?\s*#)[^)]*\)/gi;
const IMPORT = /@import[^;]*;?/gi;
const DOCTYPE = /<!DOCTYPE[^>[]*(?:\[[\s\S]*?\]\s*)?>/gi;
const INSTRUCTION = /<\?(?!xml\s)[\s\S]*?\?>/gi;
const INCLUDE = /<(?:\w+:)?include\b[^>]*>/gi;
const HARMFUL = [DOCTYPE, INSTRUCTION, ACTIVE, INCLUDE, HANDLER, REFERENCE, IMPORT];

/**
 * Removes everything that runs or names another file. The library that draws it opens no files and has no network
 * either. Entities are removed as well: a file that depends on them is no longer an SVG.
 */
export function harmlessSvg(bytes: Buffer): Buffer {
  let text = bytes.toString('utf8');
  let before: string;
  do {
    before = text;
    for (const harmful of HARMFUL) text = text.replaceAll(harmful, '');
    text = text.replaceAll(OUTER_URL, 'none');
    // The loop repeats, because a removed part may have been inside a name: `<scr<include/>ipt>`.
  } while (text !== before);
  return Buffer.from(text);
}
