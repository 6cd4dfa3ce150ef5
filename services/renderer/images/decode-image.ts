// Decodes and re-encodes images from callers in a process of its own without secrets and network, because image
// decoders have had holes through which an image took over the program.
import sharp, { type Sharp } from 'sharp';
import { BANNER_HEIGHT_MM, PAPER_WIDTH_MM } from '../document/paper.ts';
import { type BannerText, bannerTextOf } from './banner-text.ts';
import { harmlessSvg, type ImageKind, kindOf, READ_KINDS } from './image-kind.ts';

/** A page logo is shown by a page of the portal, all others are printed. */
export type ImageUse = 'logo' | 'page-logo' | 'banner-standard' | 'banner-overlay';
export type ImageFault = 'not an image' | 'too large' | `is ${ImageKind}, send ${string}`;

export interface DecodeRequest {
  id: number;
  bytes: Uint8Array;
  use: ImageUse;
}
export type DecodeResponse = { id: number } & (DecodedImage | { fault: ImageFault });

export interface DecodedImage {
  dataUri: string;
  /** The colours of a logo with a transparent ground. Absent when it has a ground of its own. */
  paint?: Paint[];
  /** The colour of text that can be read on a banner below the heading. */
  text?: BannerText['text'];
}

export interface Paint {
  /** Red, green, blue, 0 to 255. */
  colour: [number, number, number];
  /** The share of all painted pixels, 0 to 1. */
  share: number;
}

/** The limit is checked in the header before decoding, because a PNG of 600 KB can unfold to 800 MB. */
const PIXELS_MAX = 16_000_000;

/** The logo is printed at 62 × 16 mm at most, so this is 300 dots per inch. */
const LOGO = { width: 740, height: 380 };
/** The pixels of a page's logo for each of CSS, as screens of phones have at least. */
const PAGE_SCALE = 2;
/** The box of a page's logo: 216 × 64 pixels of CSS. */
const PAGE_LOGO = { width: 216 * PAGE_SCALE, height: 64 * PAGE_SCALE };
/** White around it, so that it can also be seen on a dark page, with round corners. */
const PAGE_MARGIN = 4 * PAGE_SCALE;
const PAGE_RADIUS = 6 * PAGE_SCALE;
const WHITE = '#fff';
/** The paper's width at 190 dots per inch. */
const BANNER_WIDTH = 1_600;

/** Only the decoders that are needed: no PDF, no TIFF, nothing else that this build of libvips has. */
const LOADERS = ['Png', 'Jpeg', 'Webp', 'Nsgif', 'Heif', 'Svg'].map((name) => `VipsForeignLoad${name}Buffer`);

sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: LOADERS });
sharp.cache(false);
sharp.concurrency(1);

process.on('message', ({ id, bytes, use }: DecodeRequest) => {
  void decode(Buffer.from(bytes), use)
    .catch((error: unknown) => ({ fault: faultOf(error) }))
    .then((result) => process.send?.({ id, ...result } satisfies DecodeResponse));
});
// The renderer has ended.
process.on('disconnect', () => process.exit());

async function decode(bytes: Buffer, use: ImageUse): Promise<DecodedImage | { fault: ImageFault }> {
  const kind = kindOf(bytes);
  if (!kind) return { fault: 'not an image' };
  if (!READ_KINDS.has(kind)) return { fault: `is ${kind}, send PNG, JPEG, WebP, GIF, AVIF or SVG` };
  const image = (kind === 'SVG' ? await drawn(harmlessSvg(bytes), use) : sharp(bytes, INPUT)).autoOrient();
  if (use === 'page-logo') return await pageLogo(image);
  if (use === 'logo') {
    const png = await image
      .resize({ ...LOGO, fit: 'inside', withoutEnlargement: true })
      .png(PALETTE)
      .toBuffer();
    const paint = await paintOf(png);
    return { dataUri: asDataUri(png), ...(paint ? { paint } : {}) };
  }
  const heightMm = use === 'banner-overlay' ? BANNER_HEIGHT_MM.overlay : BANNER_HEIGHT_MM.standard;
  const height = Math.round((BANNER_WIDTH / PAPER_WIDTH_MM) * heightMm);
  const banner = image.flatten({ background: WHITE }).resize({ width: BANNER_WIDTH, height, fit: 'cover' });
  if (use === 'banner-standard') return { dataUri: await asJpeg(banner) };
  // The heading stands on this banner.
  const pixels = await banner.toColourspace('srgb').raw().toBuffer({ resolveWithObject: true });
  const { text, dim } = bannerTextOf(pixels);
  const { width, channels } = pixels.info;
  return { dataUri: await asJpeg(sharp(pixels.data, { raw: { width, height, channels } }).linear(dim, 0)), text };
}

const PALETTE = { palette: true, quality: 100, effort: 3 } as const;
const asDataUri = (png: Buffer) => `data:image/png;base64,${png.toString('base64')}`;

/**
 * Draws a logo on white, for a page that shows it in as many pixels of CSS as it has, or as fit in its box. With one
 * byte per pixel the file has at most 64 KiB.
 */
async function pageLogo(image: Sharp): Promise<DecodedImage> {
  const size = (await image.metadata()).autoOrient;
  const scale = Math.min(PAGE_LOGO.width / size.width, PAGE_LOGO.height / size.height, PAGE_SCALE);
  const [width, height] = [size.width, size.height].map((length) => Math.max(1, Math.round(length * scale))) as [
    number,
    number,
  ];
  const scaled = await image.resize({ width, height, fit: 'fill' }).png().toBuffer();
  const paint = await paintOf(scaled);
  const [right, bottom] = [width + 2 * PAGE_MARGIN, height + 2 * PAGE_MARGIN];
  const round = `<svg width="${right}" height="${bottom}"><rect width="100%" height="100%" rx="${PAGE_RADIUS}"/></svg>`;
  const png = await sharp(scaled)
    .flatten({ background: WHITE })
    .extend({ top: PAGE_MARGIN, bottom: PAGE_MARGIN, left: PAGE_MARGIN, right: PAGE_MARGIN, background: WHITE })
    .composite([{ input: Buffer.from(round), blend: 'dest-in' }])
    .png(PALETTE)
    .toBuffer();
  return { dataUri: asDataUri(png), ...(paint ? { paint } : {}) };
}

async function asJpeg(image: Sharp): Promise<string> {
  const jpeg = await image.jpeg({ quality: 82, mozjpeg: false }).toBuffer();
  return `data:image/jpeg;base64,${jpeg.toString('base64')}`;
}

const INPUT = { limitInputPixels: PIXELS_MAX, failOn: 'error', pages: 1 } as const;
/** The dots per inch at which one unit of SVG is one pixel, and the maximum of librsvg. */
const SVG_DENSITY = 72;
const DENSITY_MAX = 2_400;

const isLogo = (use: ImageUse) => use === 'logo' || use === 'page-logo';

/** Rasterises an SVG at the size in which it is printed. */
async function drawn(svg: Buffer, use: ImageUse): Promise<Sharp> {
  const { width, height } = await sharp(svg, { ...INPUT, density: SVG_DENSITY }).metadata();
  const larger = isLogo(use) ? Math.min(LOGO.width / width, LOGO.height / height) : BANNER_WIDTH / width;
  return sharp(svg, { ...INPUT, density: Math.min(Math.max(SVG_DENSITY * larger, 1), DENSITY_MAX) });
}

/** The pixels along the longer side of the sample. */
const SAMPLE = 96;
/** The least share of transparent pixels. Fewer are only an inaccurate edge. */
const TRANSPARENT_LEAST = 0.02;
/** Colours that differ less than this in each part count as one. */
const COLOUR_STEP = 32;

async function paintOf(png: Buffer): Promise<Paint[] | undefined> {
  const { data, info } = await sharp(png)
    .resize({ width: SAMPLE, height: SAMPLE, fit: 'inside', kernel: 'nearest' })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const sums = new Map<number, [number, number, number, number]>();
  let painted = 0;
  for (let at = 0; at < data.length; at += info.channels) {
    const [red = 0, green = 0, blue = 0, alpha = 0] = data.subarray(at, at + 4);
    if (alpha < 128) continue;
    painted += 1;
    const key = [red, green, blue].reduce((sum, part) => sum * 256 + Math.floor(part / COLOUR_STEP), 0);
    const sum = sums.get(key) ?? [0, 0, 0, 0];
    sums.set(key, [sum[0] + red, sum[1] + green, sum[2] + blue, sum[3] + 1]);
  }
  if (painted === 0 || 1 - painted / (info.width * info.height) < TRANSPARENT_LEAST) return undefined;
  return Array.from(sums.values(), ([red, green, blue, count]) => ({
    colour: [red / count, green / count, blue / count] as Paint['colour'],
    share: count / painted,
  }));
}

function faultOf(error: unknown): ImageFault {
  return /pixel limit/i.test(String(error)) ? 'too large' : 'not an image';
}
