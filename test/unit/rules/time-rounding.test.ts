// Rounding of tracked time: whole seconds, each unit of the scope by itself, and quantities that are exact on paper.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { secondsOf } from '#libs/models/time/time-entry.ts';
import { lineNet } from '#libs/rules/money/money.ts';
import { givenHours } from '#libs/rules/time/given-hours.ts';
import {
  billedSeconds,
  billedShares,
  hoursQuantity,
  ROUNDING_MINUTES,
  ROUNDING_MODES,
  ROUNDING_SCOPES,
  roundedSeconds,
  type TimeRounding,
} from '#libs/rules/time/time-rounding.ts';
import { runs } from '../../support/form.ts';

const rule = (changes: Partial<TimeRounding> = {}): TimeRounding => ({
  minutes: 15,
  mode: 'up',
  scope: 'entry',
  minimum: 0,
  ...changes,
});
const minutes = (count: number, date = '2026-11-02') => ({ seconds: count * 60, date });

const anyRule = fc.record({
  minutes: fc.constantFrom(...ROUNDING_MINUTES),
  mode: fc.constantFrom(...ROUNDING_MODES),
  scope: fc.constantFrom(...ROUNDING_SCOPES),
  minimum: fc.integer({ min: 0, max: 120 }),
});
const anyTime = fc.array(
  fc.record({
    seconds: fc.integer({ min: 1, max: 86_400 }),
    date: fc.constantFrom('2026-11-01', '2026-11-02', '2026-11-03'),
  }),
  { minLength: 1, maxLength: 30 },
);

describe('rounding', () => {
  test.each([
    ['13:45 to 15:00 by 15 up', 75 * 60, rule(), 75 * 60],
    ['one second more', 75 * 60 + 1, rule(), 90 * 60],
    ['one second less', 75 * 60 - 1, rule(), 75 * 60],
    ['down', 89 * 60, rule({ mode: 'down' }), 75 * 60],
    ['nearest below the half', 7 * 60 + 29, rule({ mode: 'nearest' }), 0],
    ['nearest at the half', 7 * 60 + 30, rule({ mode: 'nearest' }), 15 * 60],
    ['a minimum', 60, rule({ minutes: 1, minimum: 30 }), 30 * 60],
    ['a minimum after down', 60, rule({ mode: 'down', minimum: 5 }), 5 * 60],
    ['no rule', 61, null, 61],
  ])('when time is rounded: %s, then the seconds are right', (_what, seconds, by, expected) => {
    expect(roundedSeconds(seconds, by)).toBe(expected);
  });

  test('when 5 + 5 minutes are rounded up to 30 by day, then half an hour is billed once a day', () => {
    expect(billedSeconds([minutes(5), minutes(5)], rule({ minutes: 30, scope: 'day' }))).toBe(1800);
    expect(billedSeconds([minutes(5), minutes(5, '2026-11-03')], rule({ minutes: 30, scope: 'day' }))).toBe(3600);
    expect(billedSeconds([minutes(5), minutes(5, '2026-11-03')], rule({ minutes: 30, scope: 'line' }))).toBe(1800);
    expect(billedSeconds([minutes(5), minutes(5)], rule({ minutes: 30 }))).toBe(3600);
  });

  test('when any time is rounded by any rule, then each unit moves by less than a step, in the direction of the mode', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000_000 }), anyRule, (seconds, by) => {
        const plain = roundedSeconds(seconds, { ...by, minimum: 0 });
        if (by.mode === 'none') return expect(roundedSeconds(seconds, by)).toBe(seconds);
        const step = by.minutes * 60;
        expect(plain % step).toBe(0);
        expect(Math.abs(plain - seconds)).toBeLessThan(step);
        if (by.mode === 'up') expect(plain).toBeGreaterThanOrEqual(seconds);
        if (by.mode === 'down') expect(plain).toBeLessThanOrEqual(seconds);
        if (by.mode === 'nearest') expect(2 * Math.abs(plain - seconds)).toBeLessThanOrEqual(step);
        expect(roundedSeconds(plain, { ...by, minimum: 0 })).toBe(plain);
        expect(roundedSeconds(seconds, by)).toBe(Math.max(plain, by.minimum * 60));
      }),
      runs(2_000),
    );
  });

  test('when time is rounded up, then a wider scope never bills more, and the order of entries does not matter', () => {
    fc.assert(
      fc.property(anyTime, anyRule, (time, by) => {
        const of = (scope: TimeRounding['scope']) => billedSeconds(time, { ...by, mode: 'up', scope });
        expect(of('line')).toBeLessThanOrEqual(of('day'));
        expect(of('day')).toBeLessThanOrEqual(of('entry'));
        expect(billedSeconds(time.toReversed(), by)).toBe(billedSeconds(time, by));
      }),
      runs(1_000),
    );
  });
});

describe('hours that were given with decimals', () => {
  const given = (hours: number) => {
    const { decimals } = givenHours(hours) ?? {};
    return { seconds: secondsOf(hours), decimals, date: '2026-11-02' };
  };

  test.each([
    [0.33, 20, 1200],
    [0.67, 20, 2400],
    [1.67, 20, 6000],
    [0.67, 1, 2400],
    [0.08, 5, 300],
    [1.0833, 5, 3900],
    [0.7, 20, 2400],
    [0.68, 20, 3600],
    [0.25, 20, 1200],
    [0.3, 15, 1800],
    [0.01, 1, 60],
  ])('when %d is rounded up to %d minutes, then %d seconds are billed', (hours, by, expected) => {
    const step = rule({ minutes: by as TimeRounding['minutes'] });
    expect(billedSeconds([given(hours)], step)).toBe(expected);
    expect(billedShares([given(hours)], step)).toEqual([expected]);
  });

  test('when 40 minutes are measured to 12 seconds more, then the step is begun; without a rule what was given is billed', () => {
    expect(billedSeconds([{ seconds: 2412, date: '2026-11-02' }], rule({ minutes: 20 }))).toBe(3600);
    expect(billedSeconds([given(0.67)], null)).toBe(2412);
    expect(billedSeconds([given(0.33)], rule({ minutes: 20, mode: 'down' }))).toBe(1200);
  });

  test('when a whole step is given with any number of decimals, then rounding up never bills more, and this step unless the figure stands for several', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ROUNDING_MINUTES),
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 1, max: 12 }),
        (step, count, decimals) => {
          const seconds = step * count * 60;
          const hours = Number((seconds / 3600).toFixed(decimals));
          // Half of the last decimal or more is another figure.
          fc.pre(hours > 0 && Math.abs(hours * 3600 - seconds) < 1800 / 10 ** decimals - 1e-6);
          const billed = billedSeconds([given(hours)], rule({ minutes: step }));
          expect(billed).toBeLessThanOrEqual(Math.max(seconds, given(hours).seconds));
          if (step * 60 > 3600 / 10 ** decimals) expect(billed).toBe(seconds);
        },
      ),
      runs(2_000),
    );
  });

  test('when many are rounded together, then the sum is that of the minutes they stand for, in every mode', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 1_440 }), { minLength: 2, maxLength: 60 }), anyRule, (all, by) => {
        const time = all.map((count) => given(Number((count / 60).toFixed(2))));
        for (const scope of ['day', 'line'] as const) {
          const exact = billedSeconds(
            all.map((count) => minutes(count)),
            { ...by, scope },
          );
          if (by.mode === 'none') continue;
          expect(billedSeconds(time, { ...by, scope })).toBe(exact);
          expect(billedShares(time, { ...by, scope }).reduce((sum, share) => sum + share, 0)).toBe(exact);
        }
      }),
      runs(1_000),
    );
  });
});

describe('quantities', () => {
  test('when 50 minutes cost 100 an hour, then the quantity is 0.8333 and the amount 83.33', () => {
    const qty = hoursQuantity(50 * 60);
    expect(qty).toBe('0.8333');
    expect(lineNet({ qty, rate: 100, discount: 0 }, 'USD')).toBe(8333);
  });

  test.each([
    [3600, '1'],
    [5400, '1.5'],
    [1, '0.0003'],
    [0, '0'],
    [86_400 * 365, '8760'],
  ])('when %d seconds are billed, then the quantity is %s', (seconds, expected) => {
    expect(hoursQuantity(seconds)).toBe(expected);
  });

  test('when a quantity is read back as hours, then it is the same whole second', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 36_000_000 }), (seconds) => {
        expect(Math.round(Number(hoursQuantity(seconds)) * 3600)).toBe(seconds);
        expect(hoursQuantity(seconds)).toMatch(/^\d+(\.\d{0,3}[1-9])?$/);
      }),
      runs(2_000),
    );
  });
});
