// A minimal colour profile of sRGB in the form of ICC.1:2010 (version 4.2), made from the constants of IEC 61966-2-1.

const HEADER_BYTES = 128;
const TAG_BYTES = 12;
/** The white of the profile connection space. */
const D50 = [0.9642, 1, 0.8249];
/** Each colour of sRGB, adapted to that white: its columns are the primaries of the display. */
const PRIMARIES = { r: [0.43607, 0.22249, 0.01392], g: [0.38515, 0.71687, 0.09708], b: [0.14307, 0.06061, 0.7141] };
/** The adaptation from the white of sRGB, by the method of Bradford. */
const ADAPTATION = [1.04788, 0.02292, -0.05022, 0.02959, 0.99048, -0.01707, -0.00925, 0.01508, 0.75168];
/** The curve of sRGB: ((x + 0.055) ÷ 1.055) to the power of 2.4, and x ÷ 12.92 below 0.04045. */
const CURVE = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045];
/** The function of CURVE among the parametric curves. */
const CURVE_FUNCTION = '\0\u0003\0\0';

export function srgbProfile(): Buffer {
  const curve = typed('para', Buffer.from(CURVE_FUNCTION, 'latin1'), fixed(CURVE));
  const tags: [name: string, content: Buffer][] = [
    ['desc', text('sRGB')],
    ['cprt', text('No copyright')],
    ['wtpt', typed('XYZ ', fixed(D50))],
    ['chad', typed('sf32', fixed(ADAPTATION))],
    ['rXYZ', typed('XYZ ', fixed(PRIMARIES.r))],
    ['gXYZ', typed('XYZ ', fixed(PRIMARIES.g))],
    ['bXYZ', typed('XYZ ', fixed(PRIMARIES.b))],
    ['rTRC', curve],
    ['gTRC', curve],
    ['bTRC', curve],
  ];
  const table = [uint32(tags.length)];
  const contents = new Map<Buffer, number>();
  let size = HEADER_BYTES + 4 + tags.length * TAG_BYTES;
  for (const [name, content] of tags) {
    // The three curves are one.
    const at = contents.get(content) ?? size;
    if (!contents.has(content)) size += content.length;
    contents.set(content, at);
    table.push(Buffer.from(name), uint32(at), uint32(content.length));
  }
  return Buffer.concat([headerOf(size), ...table, ...contents.keys()]);
}

function headerOf(size: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(0x04_20_00_00, 8);
  header.write('mntrRGB XYZ ', 12, 'latin1');
  // The day of the profile: 1 January 2026.
  for (const [index, part] of [2026, 1, 1].entries()) header.writeUInt16BE(part, 24 + index * 2);
  header.write('acsp', 36, 'latin1');
  fixed(D50).copy(header, 68);
  return header;
}

/** Every content is a multiple of four bytes long, as the format wants. */
function typed(type: string, ...content: Buffer[]): Buffer {
  const bytes = Buffer.concat([Buffer.from(type), Buffer.alloc(4), ...content]);
  return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
}

/** One text, in English of the United States. */
function text(words: string): Buffer {
  const written = Buffer.from(words, 'utf16le').swap16();
  const entry = [uint32(1), uint32(12), Buffer.from('enUS'), uint32(written.length), uint32(28)];
  return typed('mluc', ...entry, written);
}

/** Numbers with 16 binary digits behind the point. */
function fixed(numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(numbers.length * 4);
  for (const [index, number] of numbers.entries()) bytes.writeInt32BE(Math.round(number * 65_536), index * 4);
  return bytes;
}

function uint32(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number);
  return bytes;
}
