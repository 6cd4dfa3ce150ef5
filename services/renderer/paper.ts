// Lengths that the style sheet, the drawings and the decoder of images must agree on. Millimetres.

export const PAPER_WIDTH_MM = 210;

const MM_PER_PIXEL = 25.4 / 96;

/** The banner's height by layout: a strip above the heading, or a field that carries it. In whole pixels of CSS, or its drawing stands out below it by a hair. */
export const BANNER_HEIGHT_MM = { standard: 128 * MM_PER_PIXEL, overlay: 318 * MM_PER_PIXEL } as const;
