// Small charts as inline SVG: no script, no assets, readable in both colour schemes, with labels for screen readers.
import { sumBy } from 'es-toolkit/math/sumBy';
import type { VNode } from 'preact';
import { duration } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';

const WIDTH = 300;
const HEIGHT = 56;
const MINUTE_MS = 60_000;

export interface Series {
  /** The class of the style sheet that colours the series. */
  name: 'good' | 'warn' | 'bad' | 'main' | 'quiet';
  /** A value for each step, oldest first. Undefined where no sample exists. */
  values: (number | undefined)[];
}

/** The steps that a chart shows. */
export interface ChartWindow {
  /** The length of a step in minutes. */
  stepMinutes: number;
  /** The number of steps, and the last of them since the epoch. */
  count: number;
  last: number;
}

/** With fewer complete steps the current one is shown as well: what an operator has just tried must be there. */
const YOUNG_STEPS = 5;

/**
 * Returns the steps since the first of `times`, at most `limit`, so that the charts of a young system use their whole
 * width. Later the current step is left out, because it would always look like a drop.
 */
export function windowSince(
  times: readonly (Date | undefined)[],
  limit: number,
  { stepMinutes = 1, now = Date.now() } = {},
): ChartWindow {
  const stepOf = (ms: number) => Math.floor(ms / (stepMinutes * MINUTE_MS));
  const current = stepOf(now);
  const first = Math.min(current, ...times.flatMap((time) => (time ? [stepOf(time.getTime())] : [])));
  if (current - first < YOUNG_STEPS) return { stepMinutes, count: current - first + 1, last: current };
  return { stepMinutes, count: Math.min(limit, current - first), last: current - 1 };
}

/** Returns the values of the steps of the window. */
export function perStep<Point extends { at: Date }, Value>(
  points: readonly Point[],
  { stepMinutes, count, last }: ChartWindow,
  valueOfPoint: (point: Point | undefined) => Value,
): Value[] {
  const byStep = new Map(points.map((point) => [Math.floor(point.at.getTime() / MINUTE_MS / stepMinutes), point]));
  return Array.from({ length: count }, (_, index) => valueOfPoint(byStep.get(last - count + 1 + index)));
}

/** Draws bars on top of each other, one for each step. @param label a sentence that describes the chart. */
export function bars(series: Series[], label: string): VNode {
  const length = series[0]?.values.length ?? 0;
  const totals = Array.from({ length }, (_, index) => sumBy(series, ({ values }) => values[index] ?? 0));
  const top = Math.max(1, ...totals);
  const step = WIDTH / Math.max(1, length);
  const gap = Math.min(step * 0.2, 2);
  const bottoms = totals.map(() => HEIGHT);
  const rects = series.flatMap(({ name, values }) =>
    values.map((value, index) => {
      if (!value) return null;
      // Even a single failure among thousands must be visible.
      const height = Math.max(1.5, (value / top) * (HEIGHT - 4));
      bottoms[index] = (bottoms[index] ?? HEIGHT) - height;
      const [x, y] = [index * step, bottoms[index] ?? 0];
      return html`<rect class=${name} x=${round(x)} y=${round(y)} width=${round(step - gap)} height=${round(height)} />`;
    }),
  );
  return frame(label, rects);
}

/** Draws a filled line, with a gap where no sample exists. A single value is a level line. */
export function line(series: Series, label: string, floor = 1): VNode {
  const { name } = series;
  const values = series.values.length === 1 ? [...series.values, ...series.values] : series.values;
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
export function axis({ count, stepMinutes }: ChartWindow, top: string): VNode {
  return html`<div class="axis-names"><span>${duration(count * stepMinutes * MINUTE_MS)} ago</span><span>${top}</span><span>now</span></div>`;
}

export function highest(values: (number | undefined)[]): number {
  return Math.max(0, ...values.map((value) => value ?? 0));
}

const round = (value: number) => Math.round(value * 10) / 10;
