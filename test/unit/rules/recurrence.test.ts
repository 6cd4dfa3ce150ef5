// The calendar of recurring invoices: month ends, leap years, ends of schedules, and days far away.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addDays, isDay } from '#libs/day.ts';
import {
  occurrence,
  occurrenceFrom,
  occurrencesDue,
  type Schedule,
  upcomingDays,
} from '#libs/rules/time/recurrence.ts';

const monthly: Schedule = { every: 1, unit: 'month', start_on: '2027-01-31' };

describe('days', () => {
  test('when a month is too short, then its last day counts, and the month after has the wanted day again', () => {
    expect(upcomingDays(monthly, 0, 5)).toEqual(['2027-01-31', '2027-02-28', '2027-03-31', '2027-04-30', '2027-05-31']);
  });

  test('when the year is a leap year, then February has its 29th', () => {
    expect(upcomingDays({ ...monthly, start_on: '2028-01-30' }, 0, 3)).toEqual([
      '2028-01-30',
      '2028-02-29',
      '2028-03-30',
    ]);
    expect(upcomingDays({ every: 1, unit: 'year', start_on: '2028-02-29' }, 0, 5)).toEqual([
      '2028-02-29',
      '2029-02-28',
      '2030-02-28',
      '2031-02-28',
      '2032-02-29',
    ]);
  });

  test('when the last day of the month is wanted, then a start within it does not change that', () => {
    expect(upcomingDays({ ...monthly, start_on: '2027-02-10', day: 31 }, 0, 3)).toEqual([
      '2027-02-28',
      '2027-03-31',
      '2027-04-30',
    ]);
  });

  test('when the wanted day of the first month has passed, then months begin with the next one, and years with the next year', () => {
    expect(upcomingDays({ ...monthly, every: 3, start_on: '2027-01-15', day: 1 }, 0, 3)).toEqual([
      '2027-02-01',
      '2027-05-01',
      '2027-08-01',
    ]);
    expect(upcomingDays({ every: 1, unit: 'year', start_on: '2027-12-15', day: 1 }, 0, 2)).toEqual([
      '2028-12-01',
      '2029-12-01',
    ]);
  });

  test('when weeks are counted, then they start from the first day, across clock changes', () => {
    expect(upcomingDays({ every: 2, unit: 'week', start_on: '2027-03-22' }, 0, 3)).toEqual([
      '2027-03-22',
      '2027-04-05',
      '2027-04-19',
    ]);
  });

  test.each([
    ['a count', { count: 2 }, ['2027-01-31', '2027-02-28']],
    ['a last day', { end_on: '2027-02-28' }, ['2027-01-31', '2027-02-28']],
    ['a last day before it', { end_on: '2027-02-27' }, ['2027-01-31']],
  ])('when the schedule has %s, then it ends there', (_what, end, days) => {
    expect(upcomingDays({ ...monthly, ...end }, 0, 9)).toEqual(days);
  });

  test.each([
    ['week', '9999-12-30'],
    ['month', '9999-12-30'],
    ['year', '9998-12-31'],
  ] as const)('when %ss lead past 9999-12-31, then the schedule ends', (unit, start_on) => {
    const days = upcomingDays({ every: 36, unit, start_on }, 0, 9);
    expect(days).toEqual([start_on]);
    expect(occurrence({ every: 36, unit, start_on }, 0)?.until).toBe('9999-12-31');
  });
});

const schedules = fc.record(
  {
    every: fc.integer({ min: 1, max: 36 }),
    unit: fc.constantFrom('week', 'month', 'year'),
    start_on: fc.integer({ min: 0, max: 300_000 }).map((days) => addDays('1990-01-01', days)),
    day: fc.option(fc.integer({ min: 1, max: 31 }), { nil: undefined }),
  },
  { requiredKeys: ['every', 'unit', 'start_on'] },
) as fc.Arbitrary<Schedule>;

describe('properties', () => {
  test('when periods follow each other, then they leave no gap and do not overlap, and none begins before the start', () => {
    fc.assert(
      fc.property(schedules, fc.integer({ min: 0, max: 200 }), (schedule, index) => {
        const [one, next] = [occurrence(schedule, index), occurrence(schedule, index + 1)];
        if (!one) return;
        expect(isDay(one.on)).toBe(true);
        expect(one.on >= schedule.start_on).toBe(true);
        expect(one.until >= one.on).toBe(true);
        if (next) expect(addDays(one.until, 1)).toBe(next.on);
      }),
    );
  });

  test('when the first occurrence from a day on is asked for, then there is none between the two', () => {
    fc.assert(
      fc.property(schedules, fc.integer({ min: 0, max: 400_000 }), (schedule, days) => {
        const day = addDays('1990-01-01', days);
        const found = occurrenceFrom(schedule, day);
        if (!found) return;
        expect(found.on >= day).toBe(true);
        if (found.index > 0) expect((occurrence(schedule, found.index - 1)?.on ?? '') < day).toBe(true);
      }),
    );
  });

  test('when missed occurrences are counted, then all that have a day up to today are', () => {
    fc.assert(
      fc.property(schedules, fc.integer({ min: 0, max: 40 }), (schedule, count) => {
        const day = occurrence(schedule, count)?.on;
        if (day) expect(occurrencesDue(schedule, 0, { day, most: 100 })).toBe(count + 1);
      }),
    );
  });
});
