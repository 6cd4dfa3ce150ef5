// Draws the code of a Swiss QR-bill with its cross (SIX, Style Guide QR-bill), for paper and pages.
import encodeQR from 'qr';
import { type SwissBill, swissCode } from '../rules/paying/swiss-bill.ts';
import { svgUri } from './code-image.ts';

/** Lengths of the standard in millimetres: the code, and on it the cross on its black square with a white edge. */
const CODE_MM = 46;
const CROSS_MM = { edge: 7, square: 6, length: 3.89, width: 1.17 } as const;

/**
 * Draws the code of a QR-bill.
 * @param edge the quiet zone in millimetres, white; none where the page around it has one.
 * @returns the data URI of an SVG.
 */
export function swissCodeImage(bill: SwissBill, edge = 0): string {
  const text = swissCode(bill);
  // The library draws no code without an edge.
  const modules = encodeQR(text, 'raw', { ecc: 'medium', border: 1 })
    .slice(1, -1)
    .map((row) => row.slice(1, -1));
  const side = CODE_MM / modules.length;
  const rows = modules.flatMap((row, y) => runsOf(row).map(([x, length]) => `M${x} ${y}h${length}v1h-${length}z`));
  const middle = (width: number, height: number, colour: string) =>
    `<rect x="${(CODE_MM - width) / 2}" y="${(CODE_MM - height) / 2}" width="${width}" height="${height}" fill="${colour}"/>`;
  const { edge: crossEdge, square, length, width } = CROSS_MM;
  const whole = CODE_MM + 2 * edge;
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-edge} ${-edge} ${whole} ${whole}" shape-rendering="crispEdges">`,
    edge > 0 ? `<rect x="${-edge}" y="${-edge}" width="${whole}" height="${whole}" fill="#fff"/>` : '',
    `<path transform="scale(${side.toFixed(6)})" d="${rows.join('')}"/>`,
    middle(crossEdge, crossEdge, '#fff'),
    middle(square, square, '#000'),
    middle(length, width, '#fff'),
    middle(width, length, '#fff'),
    '</svg>',
  ].join('');
  return svgUri(svg);
}

/** Returns where dark modules begin in a row, and how many follow each other. */
function runsOf(row: readonly boolean[]): [number, number][] {
  const runs: [number, number][] = [];
  row.forEach((isDark, x) => {
    const last = runs.at(-1);
    if (!isDark) return;
    if (last && last[0] + last[1] === x) last[1] += 1;
    else runs.push([x, 1]);
  });
  return runs;
}
