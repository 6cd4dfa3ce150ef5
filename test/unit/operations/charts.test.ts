// Charts: the minutes that they show, from the first one of a young system on.
import { expect, test } from '@jest/globals';
import { renderPage } from '#libs/pages/html.ts';
import { bars, line, perStep, windowSince } from '../../../services/operations/views/charts.ts';

const NOW = Date.parse('2026-11-28T12:00:30Z');
const ago = (minutes: number) => new Date(NOW - minutes * 60_000);
const valuesOf = (minutes: number[], limit: number, stepMinutes = 1) => {
  const points = minutes.map((minute) => ({ at: ago(minute), value: minute }));
  const window = windowSince([undefined, ...points.map(({ at }) => at)], limit, { stepMinutes, now: NOW });
  return perStep(points, window, (point) => point?.value);
};

test('when a system is young, then its chart begins with its first minute, and has the current one', () => {
  expect(valuesOf([0], 60)).toEqual([0]);
  expect(valuesOf([], 60)).toEqual([undefined]);
  expect(valuesOf([1, 0], 60)).toEqual([1, 0]);
  expect(valuesOf([4, 1, 0], 60)).toEqual([4, undefined, undefined, 1, 0]);
});

test('when a system has a few minutes, then its chart still begins with the first, and leaves the current one out', () => {
  expect(valuesOf([6, 5, 1, 0], 60)).toEqual([6, 5, undefined, undefined, undefined, 1]);
});

test('when a system is older than a chart, then the chart shows its last steps', () => {
  expect(valuesOf([90, 4, 3, 2, 1, 0], 3)).toEqual([3, 2, 1]);
  expect(valuesOf([65, 45, 25, 12, 0], 60, 10)).toEqual([65, undefined, 45, undefined, 25, 12]);
});

test('when there is one value, then a line and a bar take the whole width', () => {
  const drawn = renderPage(line({ name: 'main', values: [5] }, 'Jobs'));
  expect(drawn).toContain('M0 3 L300 3');
  expect(renderPage(bars([{ name: 'good', values: [5] }], 'Jobs'))).toMatch(/<rect[^>]* x="0"[^>]* width="298"/);
});
