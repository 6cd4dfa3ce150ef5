// The retry schedule: properties that hold for every attempt and every jitter.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ATTEMPTS_MAX, readRetryAfter, waitAfter } from '../../../services/webhooks/schedule.ts';
import { runs } from '../../support/form.ts';

const HOUR_MS = 3_600_000;
const spent = fc.integer({ min: 1, max: ATTEMPTS_MAX - 1 });
const chance = fc.double({ min: 0, max: 0.999999, noNaN: true });
const nominal = (attemptsMade: number) => Math.min(24 * HOUR_MS, 5_000 * 4 ** (attemptsMade - 1));

test('when an attempt fails, then the wait is five seconds times four to the n, give or take a fifth, and at most a day', () => {
  fc.assert(
    fc.property(spent, chance, (attemptsMade, roll) => {
      const wait = waitAfter({ attemptsMade }, 1, roll) ?? Number.NaN;
      expect(wait).toBeGreaterThanOrEqual(Math.floor(0.8 * nominal(attemptsMade)));
      expect(wait).toBeLessThanOrEqual(Math.min(24 * HOUR_MS, Math.ceil(1.2 * nominal(attemptsMade))));
    }),
    runs(1_000),
  );
});

test('when eleven attempts are spent, then there is no further one; before that there always is', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 }), chance, fc.option(fc.nat()), (attemptsMade, roll, asked) => {
      const wait = waitAfter({ attemptsMade, retryAfterMs: asked ?? undefined }, 1, roll);
      expect(wait === undefined).toBe(attemptsMade >= 11);
    }),
    runs(1_000),
  );
});

test('when all attempts fail, then the last is made about 78 hours after the first', () => {
  const hours = (roll: number) =>
    Array.from({ length: ATTEMPTS_MAX - 1 }, (_, index) => waitAfter({ attemptsMade: index + 1 }, 1, roll) ?? 0).reduce(
      (sum, wait) => sum + wait,
    ) / HOUR_MS;
  expect(hours(0.5)).toBeCloseTo(78.3, 0);
  expect(hours(0)).toBeGreaterThan(60);
  expect(hours(0.999)).toBeLessThan(95);
});

test('when the receiver asks for a pause, then it can only delay, and by a day at most, whatever scale the schedule has', () => {
  const scale = fc.constantFrom(0.0001, 0.01, 1);
  fc.assert(
    fc.property(spent, chance, fc.nat({ max: 10 ** 12 }), scale, (attemptsMade, roll, retryAfterMs, factor) => {
      const own = waitAfter({ attemptsMade }, factor, roll) ?? Number.NaN;
      const asked = waitAfter({ attemptsMade, retryAfterMs }, factor, roll) ?? Number.NaN;
      expect(asked).toBe(Math.max(own, Math.min(24 * HOUR_MS, retryAfterMs)));
    }),
    runs(1_000),
  );
});

test('when WEBHOOK_RETRY_SCALE is set, then every wait of the schedule is multiplied by it', () => {
  fc.assert(
    fc.property(spent, chance, fc.double({ min: 0.0001, max: 10, noNaN: true }), (attemptsMade, roll, scale) => {
      const whole = waitAfter({ attemptsMade }, 1, roll) ?? Number.NaN;
      const scaled = waitAfter({ attemptsMade }, scale, roll) ?? Number.NaN;
      expect(Math.abs(scaled - whole * scale)).toBeLessThanOrEqual(0.5 + scale * 0.5);
    }),
    runs(1_000),
  );
});

test.each([
  ['120', 120_000],
  [' 7 ', 7_000],
  ['0', 0],
  ['Wed, 21 Oct 2026 07:28:10 GMT', 10_000],
  ['Wed, 21 Oct 2026 07:27:00 GMT', 0],
  ['soon', undefined],
  ['-5', undefined],
  ['1.5', undefined],
  ['', undefined],
  [undefined, undefined],
])('when Retry-After is %p, then it means %p milliseconds', (value, expected) => {
  expect(readRetryAfter(value, Date.parse('2026-10-21T07:28:00Z'))).toBe(expected);
});
