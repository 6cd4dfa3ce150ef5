// Verdicts of a soak: the slope after the warm-up, and its limits.
import { expect, test } from '@jest/globals';
import { slopesOf } from '../../../lab/soak/slopes.ts';

const HOURS = 2;

/** A reading every 36 s of a gateway that first fills and then grows. */
function readings(perHour: number, rest: Record<string, number> = {}) {
  return Array.from({ length: 200 }, (_none, index) => {
    const hours = index / 100;
    const megabytes = hours < 0.25 ? 100 + 400 * hours : 200 + perHour * (hours - 0.25) + (index % 2);
    return { hours, values: new Map([['gateway-1 memory, MB', megabytes], ...Object.entries(rest)]) };
  });
}

test('when memory grows only while caches fill, then the slope is flat and passes', () => {
  const [gateway] = slopesOf(readings(0), HOURS);

  expect(gateway?.perHour).toBeCloseTo(0, 1);
  expect(gateway?.pass).toBe(true);
});

test('when memory grows by 3 MB an hour after the warm-up, then that is said, and too much', () => {
  const [gateway] = slopesOf(readings(3), HOURS);

  expect(gateway?.perHour).toBeCloseTo(3, 1);
  expect(gateway?.pass).toBe(false);
});

test('when the run is too short to tell a slope from noise, then it is shown and not judged', () => {
  const [gateway] = slopesOf(readings(3), 0.5);

  expect(gateway?.pass).toBe(true);
  expect(gateway?.target).toContain('from an hour on');
});

test('when a process ended unexpectedly or was restarted, then the run fails', () => {
  const slopes = slopesOf(readings(0, { zombies: 1, restarts: 0 }), HOURS);

  expect(slopes.map(({ name, pass }) => [name, pass])).toEqual([
    ['gateway-1 memory, MB', true],
    ['zombies', false],
    ['restarts', true],
  ]);
});
