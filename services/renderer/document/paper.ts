// Lengths that the style sheet, the drawings and the decoder of images must agree on. Millimetres.

export const PAPER_WIDTH_MM = 210;

const MM_PER_PIXEL = 25.4 / 96;

/** The banner's height by layout: a band with the issuer's name or logo, or a field that also carries the headline. In whole pixels of CSS, or its drawing stands out below it by a hair. */
export const BANNER_HEIGHT_MM = { standard: 60 * MM_PER_PIXEL, overlay: 226 * MM_PER_PIXEL } as const;
/** Of the paper's width from the right, in a language that runs from left to right: what is drawn keeps to it, and words keep out of it. */
export const DRAWING_WIDTH_MM = 62;
