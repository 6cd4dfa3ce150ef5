// Lengths in millimetres that the style sheet, the drawings and the decoder of images must agree on.

export const PAPER_WIDTH_MM = 210;
export const PAPER_HEIGHT_MM = { a4: 297, letter: 279.4 } as const;
/** The margin above the first page without a banner. */
export const FIRST_MARGIN_MM = 16;

/** The height of the payment part of a Swiss QR-bill, which is on A4. */
export const SWISS_PART_MM = 105;

const MM_PER_PIXEL = 25.4 / 96;

/**
 * The banner's height by layout: a band with the issuer's name or logo, or a field that also carries the headline. It
 * is a whole number of CSS pixels, because otherwise its drawing shows below it by a hair.
 */
export const BANNER_HEIGHT_MM = { standard: 60 * MM_PER_PIXEL, overlay: 226 * MM_PER_PIXEL } as const;
/**
 * The part of the paper's width, from the right in a language from left to right, that the drawing keeps to and words
 * keep out of.
 */
export const DRAWING_WIDTH_MM = 62;
