// Decodes and re-encodes caller's images. Runs in a process of its own, which knows no secret and reaches no network:
// image decoders have had holes through which a picture took over the program that looked at it.
import sharp from 'sharp';
import { BANNER_HEIGHT_MM, PAPER_WIDTH_MM } from './paper.ts';

export type ImageUse = 'logo' | 'banner-standard' | 'banner-overlay';
export type ImageFault = 'not an image' | 'too large';

export interface DecodeRequest {
  id: number;
  bytes: Uint8Array;
  use: ImageUse;
}
export type DecodeAnswer = { id: number } & ({ dataUri: string } | { fault: ImageFault });

/** A PNG of 600 KB can unfold to 800 MB: judged by its header, before it is decoded. */
const PIXELS_MAX = 16_000_000;

/** Printed at 62 × 16 mm at most: this is 300 dots per inch. */
const LOGO = { width: 740, height: 380 };
/** The paper's width at 190 dots per inch. */
const BANNER_WIDTH = 1_600;
/** White text on a white picture must have a contrast of 4.5: 0.45 × 255 is dark enough. */
const DIMMED = 0.45;

const MAGIC: readonly (readonly [number, string])[] = [
  [0, '\x89PNG\r\n\x1a\n'],
  [0, '\xff\xd8\xff'],
  [0, 'GIF8'],
  [8, 'WEBP'],
];

/** Only the decoders that are needed: not SVG, PDF, TIFF or whatever else this build of libvips brings. */
const LOADERS = ['Png', 'Jpeg', 'Webp', 'Nsgif'].map((name) => `VipsForeignLoad${name}Buffer`);

sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: LOADERS });
sharp.cache(false);
sharp.concurrency(1);

process.on('message', ({ id, bytes, use }: DecodeRequest) => {
  void decode(Buffer.from(bytes), use)
    .catch((error: unknown) => ({ fault: faultOf(error) }))
    .then((result) => process.send?.({ id, ...result } satisfies DecodeAnswer));
});
// The renderer has gone: nobody asks any more.
process.on('disconnect', () => process.exit());

async function decode(bytes: Buffer, use: ImageUse): Promise<{ dataUri: string } | { fault: ImageFault }> {
  const head = bytes.toString('latin1', 0, 16);
  if (!MAGIC.some(([at, magic]) => head.startsWith(magic, at))) return { fault: 'not an image' };
  const image = sharp(bytes, { limitInputPixels: PIXELS_MAX, failOn: 'error', pages: 1 }).autoOrient();
  if (use === 'logo') {
    const png = await image
      .resize({ ...LOGO, fit: 'inside', withoutEnlargement: true })
      .png({ palette: true, quality: 100, effort: 3 })
      .toBuffer();
    return { dataUri: `data:image/png;base64,${png.toString('base64')}` };
  }
  const heightMm = use === 'banner-overlay' ? BANNER_HEIGHT_MM.overlay : BANNER_HEIGHT_MM.standard;
  const dimmed =
    use === 'banner-overlay'
      ? image.flatten({ background: '#fff' }).linear(DIMMED, 0)
      : image.flatten({ background: '#fff' });
  const jpeg = await dimmed
    .resize({ width: BANNER_WIDTH, height: Math.round((BANNER_WIDTH / PAPER_WIDTH_MM) * heightMm), fit: 'cover' })
    .jpeg({ quality: 82, mozjpeg: false })
    .toBuffer();
  return { dataUri: `data:image/jpeg;base64,${jpeg.toString('base64')}` };
}

function faultOf(error: unknown): ImageFault {
  return /pixel limit/i.test(String(error)) ? 'too large' : 'not an image';
}
