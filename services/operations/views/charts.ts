// Small charts as inline SVG: no script, no assets, readable in both colour schemes, with labels for screen readers.
import { sumBy } from 'es-toolkit/math/sumBy';
import type { VNode } from 'preact';
import { duration } from './format.ts';
import { html } from './html.ts';

const WIDTH = 300;
const HEIGHT = 56;
const MINUTE_MS = 60_000;

export interface Series {
  /** The class of the style sheet that colours the series. */
  name: 'good' | 'bad' | 'main' | 'quiet';
  /** A value for each minute, oldest first. Undefined where no sample exists. */
  values: (number | undefined)[];
}

/**
 * Returns the values of the last `count` minutes. The current minute is left out, because it would always look like a
 * drop.
 */
export function perMinute<Point extends { at: Date }, Value>(
  points: readonly Point[],
  count: number,
  valueOfPoint: (point: Point | undefined) => Value,
  now: number = Date.now(),
): Value[] {
  const byMinute = new Map(points.map((point) => [Math.floor(point.at.getTime() / MINUTE_MS), point]));
  const last = Math.floor(now / MINUTE_MS) - 1;
  return Array.from({ length: count }, (_, index) => valueOfPoint(byMinute.get(last - count + 1 + index)));
}

/** Draws bars on top of each other, one for each minute. @param label a sentence that describes the chart. */
export function bars(series: Series[], label: string): VNode {
  const length = series[0]?.values.length ?? 0;
  const totals = Array.from({ length }, (_, index) => sumBy(series, ({ values }) => values[index] ?? 0));
  const top = Math.max(1, ...totals);
  const step = WIDTH / Math.max(1, length);
  const bottoms = totals.map(() => HEIGHT);
  const rects = series.flatMap(({ name, values }) =>
    values.map((value, index) => {
      if (!value) return null;
      // Even a single failure among thousands must be visible.
      const height = Math.max(1.5, (value / top) * (HEIGHT - 4));
      bottoms[index] = (bottoms[index] ?? HEIGHT) - height;
      const [x, y] = [index * step, bottoms[index] ?? 0];
      return html`<rect class=${name} x=${round(x)} y=${round(y)} width=${round(step * 0.8)} height=${round(height)} />`;
    }),
  );
  return frame(label, rects);
}

/** Draws a filled line, with a gap where no sample exists. */
export function line(series: Series, label: string, floor = 1): VNode {
  const { values, name } = series;
  const top = Math.max(floor, ...values.map((value) => value ?? 0));
  const step = WIDTH / Math.max(1, values.length - 1);
  const point = (value: number, index: number) =>
    `${round(index * step)} ${round(HEIGHT - 1 - (value / top) * (HEIGHT - 4))}`;
  const runs = runsOf(values);
  return frame(
    label,
    runs.map((run) => {
      const line = run.map(([index, value]) => point(value, index)).join(' L');
      const [first, last] = [run[0]?.[0] ?? 0, run.at(-1)?.[0] ?? 0];
      return html`<g class=${name}>
        <path class="area" d=${`M${round(first * step)} ${HEIGHT} L${line} L${round(last * step)} ${HEIGHT} Z`} />
        <path class="stroke" d=${`M${line}${run.length === 1 ? ' h1' : ''}`} />
      </g>`;
    }),
  );
}

function runsOf(values: (number | undefined)[]): [number, number][][] {
  const runs: [number, number][][] = [];
  let current: [number, number][] | undefined;
  values.forEach((value, index) => {
    if (value === undefined) {
      current = undefined;
      return;
    }
    if (!current) {
      current = [];
      runs.push(current);
    }
    current.push([index, value]);
  });
  return runs;
}

function frame(label: string, content: unknown): VNode {
  return html`<svg class="chart" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${label}>
    <title>${label}</title>
    <path class="axis" d=${`M0 ${HEIGHT - 0.5} H${WIDTH}`} />
    ${content}
  </svg>`;
}

/** Draws the labels of the time axis, with the highest value between them. */
export function axis(minutes: number, top: string): VNode {
  return html`<div class="axis-names"><span>${duration(minutes * MINUTE_MS)} ago</span><span>${top}</span><span>now</span></div>`;
}

export function highest(values: (number | undefined)[]): number {
  return Math.max(0, ...values.map((value) => value ?? 0));
}

const round = (value: number) => Math.round(value * 10) / 10;
