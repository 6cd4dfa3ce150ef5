// Adds glyphs to a TrueType font that are composed of its own glyphs: ISO/IEC 14496-22, tables glyf, loca, hmtx, maxp,
// hhea, head.

interface Component {
  glyph: number;
  /** The position in units of the font. */
  x: number;
  y: number;
}

export interface CompositeGlyph {
  components: Component[];
  /** The advance width in units of the font. */
  advance: number;
}

export interface TrueTypeFont {
  unitsPerEm: number;
  glyphs: number;
  /** Returns the advance width in units of the font. */
  advanceOf(glyph: number): number;
  /** Returns false for a glyph that is larger than the format can express, such as a letter below hundreds of marks. */
  canHold(glyph: CompositeGlyph): boolean;
  /** Returns the font with more glyphs behind its own. @param added glyphs that it can hold, in this order. */
  with(added: CompositeGlyph[]): Buffer;
}

/** Flags of a component: offsets are words, are distances and not points, and are not scaled. */
const FLAGS = 0x1 | 0x2 | 0x10_00;
const MORE_COMPONENTS = 0x20;
const COMPONENT_BYTES = 8;
const GLYPH_HEAD_BYTES = 10;
const LONGEST = 0xff_ff;

export function readTrueType(font: Buffer): TrueTypeFont {
  const tables = new Map<string, Buffer>();
  for (let entry = 0; entry < font.readUInt16BE(4); entry += 1) {
    const at = 12 + entry * 16;
    const [offset, length] = [font.readUInt32BE(at + 8), font.readUInt32BE(at + 12)];
    tables.set(font.toString('latin1', at, at + 4), font.subarray(offset, offset + length));
  }
  const table = (name: string) => tables.get(name) ?? Buffer.alloc(0);
  const [head, maxp, hhea, hmtx, loca, glyf] = ['head', 'maxp', 'hhea', 'hmtx', 'loca', 'glyf'].map(table) as Six;
  const glyphs = maxp.readUInt16BE(4);
  const measured = hhea.readUInt16BE(34);
  const offsetOf = (glyph: number) =>
    head.readInt16BE(50) === 0 ? loca.readUInt16BE(glyph * 2) * 2 : loca.readUInt32BE(glyph * 4);
  const advanceOf = (glyph: number) => hmtx.readUInt16BE(Math.min(glyph, measured - 1) * 4);
  const bearingOf = (glyph: number) =>
    hmtx.readInt16BE(glyph < measured ? glyph * 4 + 2 : measured * 4 + (glyph - measured) * 2);

  return {
    unitsPerEm: head.readUInt16BE(18),
    glyphs,
    advanceOf,
    canHold({ components, advance }) {
      const distances = components.flatMap(({ x, y }) => [x, y]);
      return advance <= LONGEST && [...distances, ...boxOf(components, offsetOf, glyf)].every(isShort);
    },
    with(added) {
      const outlines = added.map(({ components }) => composed(components, offsetOf, glyf));
      const ends = Array.from({ length: glyphs + 1 }, (_none, glyph) => offsetOf(glyph));
      for (const outline of outlines) ends.push((ends.at(-1) ?? 0) + outline.length);
      const metrics = Buffer.alloc((glyphs + added.length) * 4);
      for (let glyph = 0; glyph < glyphs; glyph += 1) {
        metrics.writeUInt16BE(advanceOf(glyph), glyph * 4);
        metrics.writeInt16BE(bearingOf(glyph), glyph * 4 + 2);
      }
      for (const [index, { advance }] of added.entries()) {
        metrics.writeUInt16BE(advance, (glyphs + index) * 4);
        const outline = outlines[index];
        metrics.writeInt16BE(outline?.length ? outline.readInt16BE(2) : 0, (glyphs + index) * 4 + 2);
      }
      tables.set('glyf', Buffer.concat([glyf.subarray(0, offsetOf(glyphs)), ...outlines]));
      tables.set(
        'loca',
        changed(Buffer.alloc(ends.length * 4), (bytes) => fill(bytes, ends)),
      );
      tables.set('hmtx', metrics);
      tables.set(
        'head',
        changed(head, (bytes) => bytes.writeInt16BE(1, 50)),
      );
      tables.set(
        'hhea',
        changed(hhea, (bytes) => bytes.writeUInt16BE(glyphs + added.length, 34)),
      );
      tables.set(
        'maxp',
        changed(maxp, (bytes) => raiseLimits(bytes, glyphs + added.length, added)),
      );
      return written(font.readUInt32BE(0), tables);
    },
  };
}

type Six = [Buffer, Buffer, Buffer, Buffer, Buffer, Buffer];

type OffsetOf = (glyph: number) => number;

/** Returns the components that draw something. An empty glyph, such as a space, does not. */
function drawnOf(components: Component[], offsetOf: OffsetOf): Component[] {
  return components.filter(({ glyph }) => offsetOf(glyph + 1) > offsetOf(glyph));
}

/** Returns left, bottom, right and top of all components together, or nothing when none is drawn. */
function boxOf(components: Component[], offsetOf: OffsetOf, glyf: Buffer): number[] {
  const boxes = drawnOf(components, offsetOf).map(({ glyph, x, y }) =>
    [x, y, x, y].map((distance, side) => glyf.readInt16BE(offsetOf(glyph) + 2 + side * 2) + distance),
  );
  if (boxes.length === 0) return [];
  const furthest = (side: number) => boxes.map((box) => box[side] ?? 0).reduce(side < 2 ? least : most);
  return [0, 1, 2, 3].map(furthest);
}

const least = (one: number, other: number) => Math.min(one, other);
const most = (one: number, other: number) => Math.max(one, other);
const isShort = (value: number) => value >= -0x80_00 && value <= 0x7f_ff;

/** Returns the composed glyph, or nothing when all components are empty. */
function composed(components: Component[], offsetOf: OffsetOf, glyf: Buffer): Buffer {
  const drawn = drawnOf(components, offsetOf);
  if (drawn.length === 0) return Buffer.alloc(0);
  const bytes = Buffer.alloc((GLYPH_HEAD_BYTES + drawn.length * COMPONENT_BYTES + 3) & ~3);
  bytes.writeInt16BE(-1, 0);
  for (const [index, { glyph, x, y }] of drawn.entries()) {
    const at = GLYPH_HEAD_BYTES + index * COMPONENT_BYTES;
    bytes.writeUInt16BE(FLAGS | (index < drawn.length - 1 ? MORE_COMPONENTS : 0), at);
    bytes.writeUInt16BE(glyph, at + 2);
    bytes.writeInt16BE(x, at + 4);
    bytes.writeInt16BE(y, at + 6);
  }
  for (const [which, value] of boxOf(drawn, offsetOf, glyf).entries()) bytes.writeInt16BE(value, 2 + which * 2);
  return bytes;
}

/** Raises the limits that a reader may have to make room for. */
function raiseLimits(maxp: Buffer, glyphs: number, added: CompositeGlyph[]) {
  const deepest = added.map(({ components }) => components.length).reduce(most, 0);
  maxp.writeUInt16BE(glyphs, 4);
  for (const [simpleAt, compositeAt] of [
    [6, 10],
    [8, 12],
  ] as const) {
    const longest = Math.max(maxp.readUInt16BE(simpleAt), maxp.readUInt16BE(compositeAt));
    maxp.writeUInt16BE(Math.min(longest * deepest, LONGEST), compositeAt);
  }
  maxp.writeUInt16BE(Math.max(maxp.readUInt16BE(28), deepest), 28);
  maxp.writeUInt16BE(maxp.readUInt16BE(30) + 1, 30);
}

function changed(table: Buffer, change: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(table);
  change(copy);
  return copy;
}

function fill(bytes: Buffer, values: number[]) {
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
}

function written(version: number, tables: Map<string, Buffer>): Buffer {
  const entries = [...tables].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const directory = Buffer.alloc(12 + entries.length * 16);
  const power = 2 ** Math.floor(Math.log2(entries.length));
  directory.writeUInt32BE(version, 0);
  for (const [index, value] of [entries.length, power * 16, Math.log2(power), (entries.length - power) * 16].entries())
    directory.writeUInt16BE(value, 4 + index * 2);
  const parts = [directory];
  let at = directory.length;
  for (const [index, [name, table]] of entries.entries()) {
    const padded = Buffer.concat([table, Buffer.alloc((4 - (table.length % 4)) % 4)]);
    directory.write(name, 12 + index * 16, 'latin1');
    for (const [which, value] of [checksumOf(padded), at, table.length].entries())
      directory.writeUInt32BE(value, 16 + index * 16 + which * 4);
    parts.push(padded);
    at += padded.length;
  }
  return Buffer.concat(parts);
}

function checksumOf(table: Buffer): number {
  let sum = 0;
  for (let at = 0; at < table.length; at += 4) sum = (sum + table.readUInt32BE(at)) >>> 0;
  return sum;
}
