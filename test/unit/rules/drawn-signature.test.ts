// The check of a drawn signature: pictures of a canvas pass, everything else does not, whatever it claims to be.
import { crc32, deflateSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { DRAWN_BYTES_MAX, drawnSignature } from '#libs/rules/quotes/drawn-signature.ts';

const HEAD = Buffer.from('89504e470d0a1a0a', 'hex');

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
}

interface Given {
  width?: number;
  height?: number;
  depth?: number;
  colour?: number;
  interlace?: number;
  pixels?: Buffer;
  before?: Buffer[];
}

function png({ width = 4, height = 2, depth = 8, colour = 6, interlace = 0, pixels, before = [] }: Given = {}): Buffer {
  const size = Buffer.alloc(8);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  const head = chunk('IHDR', Buffer.concat([size, Buffer.from([depth, colour, 0, 0, interlace])]));
  const rows = pixels ?? Buffer.alloc(height * (1 + width * 4));
  return Buffer.concat([HEAD, head, ...before, chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}

const REFUSED: Record<string, () => Buffer> = {
  'nothing at all': () => Buffer.alloc(0),
  'a page of HTML': () => Buffer.from('<script>alert(1)</script>'),
  'an SVG': () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
  'the head alone': () => HEAD,
  'a cut picture': () => png().subarray(0, -4),
  'a picture with a wrong checksum': () => {
    const bytes = png();
    bytes[20] = 9;
    return bytes;
  },
  'bytes behind the end': () => Buffer.concat([png(), Buffer.from('PK')]),
  'a palette': () => png({ colour: 3 }),
  'sixteen bits': () => png({ depth: 16 }),
  'an interlaced picture': () => png({ interlace: 1 }),
  'no width': () => png({ width: 0 }),
  'a billion pixels': () => png({ width: 40_000, height: 25_000, pixels: Buffer.alloc(10) }),
  'a bomb: a small size and a gigabyte of pixels': () => png({ pixels: Buffer.alloc(50 * 2 ** 20) }),
  'fewer pixels than its size': () => png({ width: 2_000, height: 1_000, pixels: Buffer.alloc(100) }),
  'an unknown filter': () => png({ pixels: Buffer.alloc(2 * 17, 5) }),
  'a second head': () => png({ before: [chunk('IHDR', Buffer.alloc(13))] }),
  'more bytes than may be kept': () => png({ before: [chunk('tEXt', Buffer.alloc(DRAWN_BYTES_MAX))] }),
};

describe('drawn signature', () => {
  it('when it is a picture of a canvas, then it is kept as it is', () => {
    expect(drawnSignature(png())?.equals(png())).toBe(true);
    const opaque = png({ colour: 2, pixels: Buffer.alloc(2 * 13) });
    expect(drawnSignature(opaque)?.equals(opaque)).toBe(true);
  });

  it('when it has texts and profiles, then only what is seen of it is kept', () => {
    const text = chunk('tEXt', Buffer.from('Comment\0<script>'));
    expect(drawnSignature(png({ before: [text] }))?.equals(png())).toBe(true);
  });

  it.each(Object.entries(REFUSED))('when it is %s, then it is refused', (_what, bytes) => {
    expect(drawnSignature(bytes())).toBeUndefined();
  });
});
