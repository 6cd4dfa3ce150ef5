// Verdicts of a soak: the plateau after the warm-up, and what must not happen at all.
import { expect, test } from '@jest/globals';
import { growthOf } from '../../support/growth.ts';

const HOURS = 2;

/** A reading every 36 s of a gateway that first fills and then grows. */
function readings(perHour: number, rest: Record<string, number> = {}) {
  return Array.from({ length: 200 }, (_none, index) => {
    const hours = index / 100;
    const megabytes = hours < 0.5 ? 100 + 200 * hours : 200 + perHour * (hours - 0.5) + (index % 2);
    return { hours, values: new Map([['gateway-1 memory, MB', megabytes], ...Object.entries(rest)]) };
  });
}

test('when memory grows only while caches fill, then it reaches a plateau and passes', () => {
  const [gateway] = growthOf(readings(0), HOURS);

  expect(gateway?.perHour).toBeCloseTo(0, 1);
  expect(gateway?.hourly).toEqual([200.5, 200.5]);
  expect(gateway?.pass).toBe(true);
});

test('when the median of the second hour is a tenth above that of the first, then it fails', () => {
  // The medians are half an hour and an hour and a quarter after the warm-up.
  const [gateway] = growthOf(readings(30), HOURS);

  expect(gateway?.perHour).toBeCloseTo(30, 0);
  expect(gateway?.hourly.map(Math.round)).toEqual([215, 238]);
  expect(gateway?.pass).toBe(false);
});

test('when the run is too short for two hours after the warm-up, then growth is shown and not judged', () => {
  const [gateway] = growthOf(readings(300), 1);

  expect(gateway?.pass).toBe(true);
  expect(gateway?.target).toContain('from 1.5 hours on');
});

test('when a process ended unexpectedly or was restarted, then the run fails', () => {
  const growth = growthOf(readings(0, { zombies: 1, restarts: 0 }), HOURS);

  expect(growth.map(({ name, pass }) => [name, pass])).toEqual([
    ['gateway-1 memory, MB', true],
    ['zombies', false],
    ['restarts', true],
  ]);
});
