// Reads the characters that a font file has glyphs for. It reads only the `cmap` table of files with many megabytes of
// outlines.
import { closeSync, openSync, readSync } from 'node:fs';

/** Returns true for a code point that the font has a glyph for. */
export type HasGlyph = (codePoint: number) => boolean;

/** The sizes of an entry in the directory of tables and in the list of maps (OpenType 1.9, "Font file" and "cmap"). */
const TABLE_BYTES = 16;
const MAP_BYTES = 8;
const GROUP_BYTES = 12;

/** Reads a font file. @throws when it is no OpenType font, or has no map of Unicode. All bundled fonts have one. */
export function readCharacterMap(path: string): HasGlyph {
  const file = openSync(path, 'r');
  try {
    const read = (at: number, length: number) => {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(file, bytes, 0, length, at));
    };
    const tables = read(12, read(4, 2).readUInt16BE() * TABLE_BYTES);
    const entryAt = tables.indexOf('cmap', 0, 'latin1');
    return searchIn(rangesOf(read(tables.readUInt32BE(entryAt + 8), tables.readUInt32BE(entryAt + 12))));
  } finally {
    closeSync(file);
  }
}

/** Returns first and last code points in turn, in ascending order. */
function rangesOf(cmap: Buffer): Uint32Array {
  const formats = new Map<number, Buffer>();
  for (let entry = 0; entry < cmap.readUInt16BE(2); entry += 1) {
    const map = cmap.subarray(cmap.readUInt32BE(4 + entry * MAP_BYTES + 4));
    const isOfUnicode = [0, 3].includes(cmap.readUInt16BE(4 + entry * MAP_BYTES));
    if (isOfUnicode) formats.set(map.readUInt16BE(0), map);
  }
  const [all, plane0] = [formats.get(12), formats.get(4)];
  if (all) return groupsOf(all);
  if (plane0) return segmentsOf(plane0);
  throw new Error('The font has no map of Unicode');
}

/** Reads format 12: groups of consecutive characters and glyphs. */
function groupsOf(map: Buffer): Uint32Array {
  const ranges: number[] = [];
  for (let group = 0; group < map.readUInt32BE(12); group += 1) {
    const at = 16 + group * GROUP_BYTES;
    // Glyph 0 is the box for unknown characters.
    const hasBox = map.readUInt32BE(at + 8) === 0;
    ranges.push(map.readUInt32BE(at) + Number(hasBox), map.readUInt32BE(at + 4));
  }
  return Uint32Array.from(ranges);
}

/** Reads format 4: segments, each with a difference from character to glyph, or with a list of glyphs. */
function segmentsOf(map: Buffer): Uint32Array {
  const size = map.readUInt16BE(6);
  const [endAt, startAt, deltaAt, offsetAt] = [14, 16 + size, 16 + size * 2, 16 + size * 3];
  const ranges: number[] = [];
  for (let segment = 0; segment < size; segment += 2) {
    const [start, end] = [map.readUInt16BE(startAt + segment), map.readUInt16BE(endAt + segment)];
    const offset = map.readUInt16BE(offsetAt + segment);
    const delta = map.readUInt16BE(deltaAt + segment);
    for (let code = start; code <= end && code < 0xff_ff; code += 1) {
      const listed = offset === 0 ? code : map.readUInt16BE(offsetAt + segment + offset + (code - start) * 2);
      const isBox = (offset !== 0 && listed === 0) || ((listed + delta) & 0xff_ff) === 0;
      if (isBox) continue;
      if (ranges.at(-1) === code - 1) ranges[ranges.length - 1] = code;
      else ranges.push(code, code);
    }
  }
  return Uint32Array.from(ranges);
}

function searchIn(ranges: Uint32Array): HasGlyph {
  return (codePoint) => {
    let [low, high] = [0, ranges.length / 2 - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (codePoint < (ranges[middle * 2] ?? 0)) high = middle - 1;
      else if (codePoint > (ranges[middle * 2 + 1] ?? 0)) low = middle + 1;
      else return true;
    }
    return false;
  };
}
