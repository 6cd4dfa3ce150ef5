// Derives the colours of a document from the one colour of the caller, so that everything set on it, or in it, stays readable.

/** Red, green, blue, 0 to 255. */
type Colour = readonly [number, number, number];

/** The contrast of WCAG 2, level AA, for text of any size. */
const READABLE = 4.5;
/** The lightness contrast (Lc) at which white text on a fill is easy to read. */
const LEGIBLE = 60;
const STEP = 0.04;

/** The colour of body text. */
export const INK = '#1b1f24';

const WHITE: Colour = [255, 255, 255];
const BLACK: Colour = [0, 0, 0];
/** The darkest ground of a light page. */
const LIGHT: Colour = [236, 239, 241];
/** The lightest ground of a dark page. */
const DARK: Colour = [38, 50, 55];

export interface Palette {
  /** The colour of fills, as given. */
  brand: string;
  /** The colour of text on the fill. */
  onBrand: string;
  /** The brand's colour for text on white, darkened until it can be read. */
  ink: string;
  /** The brand's colour for text on the ground of a light page, darkened until it can be read. */
  inkOnLight: string;
  /** The brand's colour for text on the ground of a dark page, lightened until it can be read. */
  inkOnDark: string;
  /**
   * Colours of shapes on the fill, each further away from the colour of text there, so that text on the shapes stays
   * readable.
   */
  shades: readonly [string, string, string];
  /** A trace of the brand behind dark text. */
  tint: string;
}

/** Returns the colours of a document. @param brandColor `#abc` or `#aabbcc`. */
export function paletteOf(brandColor: string): Palette {
  const brand = parseColour(brandColor);
  const onBrand = textOn(brand);
  const away = onBrand === WHITE ? BLACK : WHITE;
  return {
    brand: hex(brand),
    onBrand: hex(onBrand),
    ink: hex(readable(brand, WHITE, BLACK)),
    inkOnLight: hex(readable(brand, LIGHT, BLACK)),
    inkOnDark: hex(readable(brand, DARK, WHITE)),
    shades: [hex(mix(brand, away, 0.1)), hex(mix(brand, away, 0.2)), hex(mix(brand, away, 0.32))],
    tint: hex(mix(WHITE, brand, 0.06)),
  };
}

/** Returns the colour, mixed with another one until it can be read on the ground. */
function readable(colour: Colour, ground: Colour, mixed: Colour): Colour {
  let ink = colour;
  for (let share = STEP; contrast(ink, ground) < READABLE && share <= 1; share += STEP) ink = mix(colour, mixed, share);
  return ink;
}

/**
 * Returns the colour of text on a ground: white as long as it is easy to read, as brands set it. WCAG 2 would have it
 * black on red and orange.
 */
function textOn(ground: Colour): Colour {
  const white = lightnessContrast(WHITE, ground);
  return white >= LEGIBLE || white > lightnessContrast(BLACK, ground) ? WHITE : BLACK;
}

/** Reads a colour. @param text `#abc` or `#aabbcc`. */
export function parseColour(text: string): Colour {
  const digits = text.slice(1);
  const full = digits.length === 3 ? [...digits].map((digit) => digit + digit).join('') : digits;
  const value = Number.parseInt(full, 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

function hex(colour: Colour) {
  return `#${colour.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

function mix([r, g, b]: Colour, [toR, toG, toB]: Colour, share: number): Colour {
  const part = (from: number, to: number) => Math.round(from + (to - from) * share);
  return [part(r, toR), part(g, toG), part(b, toB)];
}

/** Returns the contrast of WCAG 2: from 1 (the same colour) to 21 (black on white). */
export function contrast(one: Colour, other: Colour) {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/**
 * Returns the lightness contrast as the eye sees it: APCA 0.0.98G-4g, the candidate for WCAG 3, without its soft clamp
 * at the low end.
 * @returns Lc, 0 to about 108: 45 is enough for large text, 60 for text, 75 for long texts.
 */
export function lightnessContrast(text: Colour, ground: Colour): number {
  const [textY, groundY] = [screenLuminance(text), screenLuminance(ground)];
  const isDarkOnLight = groundY > textY;
  const difference = isDarkOnLight ? groundY ** 0.56 - textY ** 0.57 : textY ** 0.62 - groundY ** 0.65;
  return Math.max(0, difference * 1.14 - 0.027) * 100;
}

/** Returns the luminance of a screen in a lit room, where the darkest colours look lighter. */
function screenLuminance([red, green, blue]: Colour): number {
  const part = (value: number) => (value / 255) ** 2.4;
  const luminance = 0.2126729 * part(red) + 0.7151522 * part(green) + 0.072175 * part(blue);
  // biome-ignore lint/suspicious/noApproximativeNumericConstant: the candidate's own number, and no root of two.
  return luminance > 0.022 ? luminance : luminance + (0.022 - luminance) ** 1.414;
}

function luminance(colour: Colour) {
  const [r = 0, g = 0, b = 0] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
