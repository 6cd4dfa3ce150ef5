// The built-in banner: a drawing in the document's own colour, another one for each style.
import { LRUCache } from 'lru-cache';
import type { DocumentView } from './document-view.ts';
import { BANNER_HEIGHT_MM } from './paper.ts';

/** @returns an SVG for the banner's box, '' when there is no built-in banner. Only flat fills: gradients and transparency cost time and bytes. */
export function artworkOf({ style, layout, palette, hasBanner, banner }: DocumentView): string {
  if (!hasBanner || banner) return '';
  const key = `${style} ${layout} ${palette.shades.join()}`;
  const known = drawn.get(key);
  if (known) return known;
  const height = BANNER_HEIGHT_MM[layout];
  const svg = `<svg viewBox="0 0 210 ${height}" preserveAspectRatio="xMaxYMid slice">${drawings[style](height, palette.shades)}</svg>`;
  drawn.set(key, svg);
  return svg;
}

/** A few kilobytes each. */
const drawn = new LRUCache<string, string>({ max: 200 });

type Shades = readonly [string, string, string];

const drawings: Record<DocumentView['style'], (height: number, shades: Shades) => string> = {
  // Rings of a still water, from beyond the right edge.
  elegant: (height, shades) =>
    Array.from({ length: 11 }, (_none, ring) =>
      circle(188, height * 0.92, height * (0.35 + ring * 0.24), `fill="none" stroke="${shades[1]}" stroke-width=".28"`),
    ).join(''),
  // Quarter circles on a square grid.
  modern: (height, [soft, middle, strong]) => {
    const side = height / 2;
    const x = (column: number) => 210 - side * column;
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
    return [
      quarter(1, 0, 2, middle),
      quarter(1, 1, 1, strong),
      quarter(2, 0, 0, soft),
      quarter(2, 1, 2, middle),
      quarter(3, 0, 3, strong),
      quarter(3, 1, 0, soft),
      quarter(4, 1, 1, soft),
    ].join('');
  },
  // Engraver's lines, as on a bond.
  classic: (height, shades) =>
    Array.from({ length: 15 }, (_none, line) => {
      const y = (height / 15) * (line + 0.5);
      const swing = height * 0.16;
      let path = `M0 ${y.toFixed(1)}`;
      for (let x = 0; x < 210; x += 42) path += `q10.5 ${(-swing).toFixed(1)} 21 0t21 0`;
      return `<path d="${path}" fill="none" stroke="${shades[line % 2 === 0 ? 0 : 1]}" stroke-width=".3"/>`;
    }).join(''),
};

/** A quarter of a circle as one cubic curve: this far its handles reach. */
const HANDLE = 0.5523;

// Chromium prints SVG's own circles as hundreds of short lines each; as curves they stay four.
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
