// The schedule of attempts: 1 minute · 3ⁿ ± 20 %, at most six hours apart, for two days.
import { expect, test } from '@jest/globals';
import { nextAttemptAt, repetitionAt } from '../../../services/mail/retry-schedule.ts';

const MINUTE_MS = 60_000;
const since = new Date('2026-01-01T00:00:00Z');
const waitAfter = (attemptsMade: number, chance = 0.5) =>
  ((nextAttemptAt({ attemptsMade, since, now: since }, 1, chance)?.getTime() ?? 0) - since.getTime()) / MINUTE_MS;

test('when attempts fail, then waits grow threefold up to six hours', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 30].map((made) => Math.round(waitAfter(made)))).toEqual([
    1, 3, 9, 27, 81, 243, 360, 360,
  ]);
});

test('when attempts failed together, then they are spread over a fifth in both directions, and none waits longer than six hours', () => {
  expect(waitAfter(3, 0)).toBeCloseTo(7.2);
  expect(waitAfter(3, 0.999_999)).toBeCloseTo(10.8);
  expect(waitAfter(9, 0.999_999)).toBe(360);
});

test('when another attempt would come after two days, then there is none', () => {
  const after = (hours: number) => new Date(since.getTime() + hours * 60 * MINUTE_MS);

  expect(nextAttemptAt({ attemptsMade: 12, since, now: after(41) }, 1, 0.5)).toEqual(after(47));
  expect(nextAttemptAt({ attemptsMade: 13, since, now: after(47) }, 1, 0.5)).toBeUndefined();
});

test('when nothing is known of a mail, then it is sent again after ten minutes', () => {
  expect(repetitionAt(since, 1)).toEqual(new Date('2026-01-01T00:10:00Z'));
});
