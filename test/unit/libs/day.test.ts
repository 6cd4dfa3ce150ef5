// Calendar days: real ones only, and never shifted by a time zone.
import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { addDays, dayIn, isDay, startOfDay } from '#libs/day.ts';
import { runs } from '../../support/form.ts';

const RUNS = 10_000;
const day = fc
  .date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9998-12-31T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));

describe('isDay', () => {
  test.each(['2026-01-31', '2024-02-29', '2000-02-29', '0001-01-01', '9999-12-31'])(
    'when it is %s, then it is a day',
    (text) => {
      expect(isDay(text)).toBe(true);
    },
  );

  test.each([
    '2026-02-29',
    '1900-02-29',
    '2026-04-31',
    '2026-00-01',
    '2026-01-00',
    '2026-13-01',
    '0000-01-01',
    '26-01-01',
    '+002026-01-01',
    '2026-01-01T00:00:00Z',
    ' 2026-01-01',
    '2026-1-1',
    '2026/01/01',
    '٢٠٢٦-٠١-٠١',
    '',
  ])('when it is %j, then it is no day', (text) => {
    expect(isDay(text)).toBe(false);
  });

  test('when it is any three numbers, then it is a day exactly when the calendar has it', () => {
    const month = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    fc.assert(
      fc.property(fc.nat({ max: 9999 }), fc.nat({ max: 14 }), fc.nat({ max: 33 }), (y, m, d) => {
        const isLeap = (y % 4 === 0 && y % 100 !== 0) || y % 400 === 0;
        const last = m === 2 && isLeap ? 29 : (month[m - 1] ?? 0);
        const text = [String(y).padStart(4, '0'), String(m).padStart(2, '0'), String(d).padStart(2, '0')].join('-');
        expect(isDay(text)).toBe(y >= 1 && d >= 1 && d <= last);
      }),
      runs(RUNS),
    );
  });
});

describe('addDays', () => {
  test('when days are added and subtracted again, then the result is the same day, and order is kept', () => {
    fc.assert(
      fc.property(day, fc.integer({ min: 1, max: 300 }), (start, count) => {
        const later = addDays(start, count);
        expect(isDay(later)).toBe(true);
        expect(later > start).toBe(true);
        expect(addDays(later, -count)).toBe(start);
      }),
      runs(RUNS),
    );
  });

  test('when a month or a leap day is crossed, then the calendar counts', () => {
    expect(addDays('2024-02-28', 2)).toBe('2024-03-01');
    expect(addDays('2026-12-15', 30)).toBe('2027-01-14');
  });
});

describe('dayIn', () => {
  test.each([
    ['UTC', '2026-01-01'],
    ['Pacific/Kiritimati', '2026-01-01'],
    ['America/New_York', '2025-12-31'],
    ['Asia/Kolkata', '2026-01-01'],
  ])('when it is half past one in the morning of New Year in UTC, then in %s it is %s', (zone, expected) => {
    expect(dayIn(zone, new Date('2026-01-01T01:30:00Z'))).toBe(expected);
  });

  test('when one zone is spelt in thousands of ways, then not all of them are cached', () => {
    const spelt = (number: number) =>
      Array.from('america/new_york', (letter, place) => ((number >> place) & 1 ? letter.toUpperCase() : letter)).join(
        '',
      );
    const made = jest.spyOn(Intl, 'DateTimeFormat');
    const madeFor = (number: number) => {
      made.mockClear();
      expect(dayIn(spelt(number), new Date('2026-01-01T01:30:00Z'))).toBe('2025-12-31');
      return made.mock.calls.length;
    };

    expect([madeFor(0), madeFor(0)]).toEqual([1, 0]);
    for (let number = 1; number < 2_000; number += 1) madeFor(number);
    const again = madeFor(0);
    made.mockRestore();
    expect(again).toBe(1);
  });

  test('when clocks change, then the day still ends at midnight there', () => {
    expect(dayIn('Europe/Berlin', new Date('2026-03-28T22:59:59Z'))).toBe('2026-03-28');
    expect(dayIn('Europe/Berlin', new Date('2026-03-28T23:00:00Z'))).toBe('2026-03-29');
    expect(dayIn('Europe/Berlin', new Date('2026-03-29T21:59:59Z'))).toBe('2026-03-29');
    expect(dayIn('Europe/Berlin', new Date('2026-03-29T22:00:00Z'))).toBe('2026-03-30');
  });
});

describe('startOfDay', () => {
  test.each([
    ['Pacific/Kiritimati', '2026-03-01', '2026-02-28T10:00:00.000Z'],
    ['UTC', '2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['Etc/GMT+12', '2026-03-01', '2026-03-01T12:00:00.000Z'],
    ['Asia/Kathmandu', '2026-03-01', '2026-02-28T18:15:00.000Z'],
    // The clocks go forward at midnight: the day begins at one o'clock.
    ['America/Santiago', '2026-09-06', '2026-09-06T04:00:00.000Z'],
  ])('when the zone is %s and the day %s, then it begins at %s', (zone, text, instant) => {
    expect(startOfDay(zone, text).toISOString()).toBe(instant);
  });
});
