// The built-in banner: a drawing in the document's own colour, another one for each style. It keeps clear of the words on it.
import type { DocumentView } from './document-view.ts';
import { BANNER_HEIGHT_MM, DRAWING_WIDTH_MM, PAPER_WIDTH_MM } from './paper.ts';

/**
 * Returns an SVG for the banner's box, or '' when there is no built-in banner. It has only flat fills, because
 * gradients and transparency cost time and bytes.
 */
export function artworkOf({ style, layout, palette, direction, hasBanner, banner }: DocumentView): string {
  if (!hasBanner || banner) return '';
  const height = BANNER_HEIGHT_MM[layout];
  const drawing = drawings[style](height, palette.shades);
  const isMirrored = direction === 'rtl';
  return `<svg class="drawing" viewBox="0 0 ${PAPER_WIDTH_MM} ${height}" preserveAspectRatio="${isMirrored ? 'xMinYMax' : 'xMaxYMax'} slice">${
    isMirrored ? `<g transform="matrix(-1 0 0 1 ${PAPER_WIDTH_MM} 0)">${drawing}</g>` : drawing
  }</svg>`;
}

type Shades = readonly [string, string, string];

const RINGS_APART_MM = 4.8;

const drawings: Record<DocumentView['style'], (height: number, shades: Shades) => string> = {
  // Draws rings on still water, from beyond the corner.
  elegant: (height, shades) => {
    const centre = PAPER_WIDTH_MM + 4;
    // Each ring costs time and bytes, so on a low band they stand no closer.
    const step = Math.max(height / 6, RINGS_APART_MM);
    const rings = Math.floor((DRAWING_WIDTH_MM + 4) / step);
    return Array.from({ length: rings }, (_none, ring) =>
      circle(centre, height * 1.08, step * (ring + 1), `fill="none" stroke="${shades[1]}" stroke-width=".3"`),
    ).join('');
  },
  // Draws quarter circles on a square grid, in as many columns as there is room for.
  modern: (height, [soft, middle, strong]) => {
    const side = height / 2;
    const x = (column: number) => PAPER_WIDTH_MM - side * column;
    const quarter = (column: number, row: 0 | 1, turn: 0 | 1 | 2 | 3, fill: string) => {
      const [left, top] = [x(column), row * side];
      const corner = [
        [left, top],
        [left + side, top],
        [left + side, top + side],
        [left, top + side],
      ][turn] as [number, number];
      const from = [
        [left + side, top],
        [left + side, top + side],
        [left, top + side],
        [left, top],
      ][turn] as [number, number];
      const to = [
        [left, top + side],
        [left, top],
        [left + side, top],
        [left + side, top + side],
      ][turn] as [number, number];
      return `<path fill="${fill}" d="M${corner}L${from}A${side} ${side} 0 0 1 ${to}Z"/>`;
    };
    const columns = [
      [quarter(1, 0, 2, middle), quarter(1, 1, 1, strong)],
      [quarter(2, 0, 0, soft), quarter(2, 1, 2, middle)],
      [quarter(3, 0, 3, strong), quarter(3, 1, 0, soft)],
      [quarter(4, 1, 1, soft)],
    ];
    return columns
      .slice(0, Math.floor(DRAWING_WIDTH_MM / side))
      .flat()
      .join('');
  },
  // Draws an engraver's lines below the words, closer to one another towards the edge.
  classic: (height, shades) => {
    let gap = 1;
    let y = height;
    return Array.from({ length: 5 }, (_none, line) => {
      y -= gap;
      gap += 0.28;
      return `<path d="M0 ${y.toFixed(2)}H${PAPER_WIDTH_MM}" stroke="${shades[line < 2 ? 2 : 1]}" stroke-width=".3"/>`;
    }).join('');
  },
};

/** The length of the handles with which one cubic curve draws a quarter of a circle. */
const HANDLE = 0.5523;

// Chromium prints SVG's own circles as hundreds of short lines each. Four curves stay four.
function circle(x: number, y: number, radius: number, attributes: string) {
  const [r, k] = [radius.toFixed(2), (radius * HANDLE).toFixed(2)];
  const quarters = [
    [`0-${k}`, `${(radius - radius * HANDLE).toFixed(2)}-${r}`, `${r}-${r}`],
    [`${k} 0`, `${r} ${(radius - radius * HANDLE).toFixed(2)}`, `${r} ${r}`],
    [`0 ${k}`, `-${(radius - radius * HANDLE).toFixed(2)} ${r}`, `-${r} ${r}`],
    [`-${k} 0`, `-${r}-${(radius - radius * HANDLE).toFixed(2)}`, `-${r}-${r}`],
  ];
  const curves = quarters.map((points) => `c${points.join(' ')}`).join('');
  return `<path ${attributes} d="M${(x - radius).toFixed(2)} ${y.toFixed(2)}${curves}Z"/>`;
}
