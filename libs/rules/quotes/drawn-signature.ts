// Checks the picture of a drawn signature: a PNG as browsers make it of a canvas, small in bytes and in pixels.
import { crc32, inflateSync } from 'node:zlib';

/** The most bytes of the picture. */
export const DRAWN_BYTES_MAX = 100 * 1024;
/** The most pixels of a side: a canvas of twice the resolution. */
const SIDE_MAX = { width: 2_000, height: 1_000 } as const;
const HEAD = Buffer.from('89504e470d0a1a0a', 'hex');
/** The form of a canvas: 8 bits for each of red, green, blue and alpha, or without alpha. The key is the colour type. */
const BYTES_OF_PIXEL: Readonly<Record<number, number>> = { 2: 3, 6: 4 };
const CHUNK_FRAME = 12; // Length, type and checksum.
const FILTER_LAST = 4;

interface Chunk {
  type: string;
  data: Buffer;
  /** The chunk with its frame. */
  bytes: Buffer;
}

/**
 * Returns the picture without anything that is not seen, such as texts and colour profiles. Undefined when it is no PNG
 * of a canvas, has too many bytes or pixels, or is damaged. Never more bytes are inflated than its size says.
 */
export function drawnSignature(bytes: Buffer): Buffer | undefined {
  if (bytes.length > DRAWN_BYTES_MAX || !bytes.subarray(0, HEAD.length).equals(HEAD)) return undefined;
  const chunks = chunksOf(bytes.subarray(HEAD.length));
  const [first] = chunks ?? [];
  if (!chunks || first?.type !== 'IHDR' || chunks.at(-1)?.type !== 'IEND') return undefined;
  const pixels = chunks.filter(({ type }) => type === 'IDAT');
  if (!hasPixels(first.data, Buffer.concat(pixels.map(({ data }) => data)))) return undefined;
  const seen = [first, ...pixels, chunks.at(-1) as Chunk];
  return Buffer.concat([HEAD, ...seen.map((chunk) => chunk.bytes)]);
}

/** Returns the chunks, or undefined when one is cut off or damaged, or comes twice though it must not. */
function chunksOf(bytes: Buffer): Chunk[] | undefined {
  const chunks: Chunk[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (bytes.length - at < CHUNK_FRAME) return undefined;
    const length = bytes.readUInt32BE(at);
    const end = at + length + CHUNK_FRAME;
    if (end > bytes.length) return undefined;
    const data = bytes.subarray(at + 8, end - 4);
    if (crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) return undefined;
    chunks.push({ type: bytes.toString('latin1', at + 4, at + 8), data, bytes: bytes.subarray(at, end) });
    at = end;
  }
  const isOnce = (wanted: string) => chunks.filter(({ type }) => type === wanted).length === 1;
  return isOnce('IHDR') && isOnce('IEND') ? chunks : undefined;
}

/** True when the head names a form that canvases have, and the compressed pixels are as many as it says. */
function hasPixels(head: Buffer, compressed: Buffer): boolean {
  if (head.length !== 13) return false;
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  const [depth, colour = 0, compression, filter, interlace] = head.subarray(8);
  const ofPixel = BYTES_OF_PIXEL[colour];
  if (depth !== 8 || ofPixel === undefined || compression !== 0 || filter !== 0 || interlace !== 0) return false;
  if (width < 1 || height < 1 || width > SIDE_MAX.width || height > SIDE_MAX.height) return false;
  const ofRow = 1 + width * ofPixel;
  const rows = inflated(compressed, ofRow * height);
  if (rows?.length !== ofRow * height) return false;
  for (let row = 0; row < height; row += 1) if ((rows[row * ofRow] ?? 0) > FILTER_LAST) return false;
  return true;
}

function inflated(bytes: Buffer, maxOutputLength: number): Buffer | undefined {
  try {
    return inflateSync(bytes, { maxOutputLength });
  } catch {
    return undefined;
  }
}
