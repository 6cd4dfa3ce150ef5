// Chooses dark or white text for a banner image, and dims the image for white text as little as possible.
import { contrast, INK, parseColour } from '#libs/documents/colour.ts';

export interface BannerText {
  text: 'dark' | 'light';
  /** The factor for the colours of the image. 1 leaves them unchanged. */
  dim: number;
}

export interface Pixels {
  data: Buffer;
  info: { width: number; channels: number };
}

/** The contrast of large and bold text over an image that varies. It needs more than the 4.5 of WCAG 2. */
const DARK_TEXT_CONTRAST = 7;
/** The level of grey on which white text reaches a contrast of 4.5. */
const LIGHT_TEXT_LEVEL = 0.45 * 255;
/** The share of pixels that may be darker or lighter than the text needs. */
const EXTREMES = 0.02;
/** The distance of the pixels that are measured, in both directions. */
const STEP = 8;

export function bannerTextOf({ data, info: { width, channels } }: Pixels): BannerText {
  const levels: number[] = [];
  const rows = Math.floor(data.length / channels / width);
  for (let y = 0; y < rows; y += STEP) {
    for (let x = 0; x < width; x += STEP) {
      const at = (y * width + x) * channels;
      const [red = 0, green = red, blue = red] = data.subarray(at, at + Math.min(channels, 3));
      levels.push(0.2126 * red + 0.7152 * green + 0.0722 * blue);
    }
  }
  levels.sort((one, other) => one - other);
  const darkest = levels[Math.floor(levels.length * EXTREMES)] ?? 0;
  const lightest = levels[Math.ceil(levels.length * (1 - EXTREMES)) - 1] ?? 255;
  if (contrast(parseColour(INK), [darkest, darkest, darkest]) >= DARK_TEXT_CONTRAST) return { text: 'dark', dim: 1 };
  return { text: 'light', dim: Math.min(1, LIGHT_TEXT_LEVEL / lightest) };
}
