// Codes to scan as images, for paper and pages: no part of an image becomes markup, and in a tagged file it has a text.
import encodeQR from 'qr';

/** The modules of the quiet zone around a code. */
const QUIET_ZONE = 4;

/**
 * Draws a code with the error correction that EPC codes require.
 * @returns the data URI of an SVG.
 */
export function codeImage(text: string): string {
  return svgUri(encodeQR(text, 'svg', { ecc: 'medium', border: QUIET_ZONE }));
}

/** Returns an SVG as a data URI. */
export function svgUri(svg: string): string {
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
}
