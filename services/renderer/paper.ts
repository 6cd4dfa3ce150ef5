// Lengths that the style sheet, the drawings and the decoder of images must agree on. Millimetres.

export const PAPER_WIDTH_MM = 210;

/** The banner's height by layout: a strip above the heading, or a field that carries it. */
export const BANNER_HEIGHT_MM = { standard: 34, overlay: 84 } as const;
