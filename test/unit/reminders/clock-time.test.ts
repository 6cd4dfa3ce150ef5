// The moment at which the clocks of a time zone show a time, on days with and without a change of the clock.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { dayIn } from '#libs/day.ts';
import { momentOf } from '#libs/rules/reminders/clock-time.ts';

describe('momentOf', () => {
  test.each([
    ['UTC', '2026-11-28', '09:00', '2026-11-28T09:00:00.000Z'],
    ['Europe/Berlin', '2026-11-28', '09:00', '2026-11-28T08:00:00.000Z'],
    ['Europe/Berlin', '2026-07-01', '00:00', '2026-06-30T22:00:00.000Z'],
    ['Pacific/Kiritimati', '2026-11-28', '09:00', '2026-11-27T19:00:00.000Z'],
    ['Pacific/Honolulu', '2026-11-28', '23:59', '2026-11-29T09:59:00.000Z'],
    ['Asia/Kathmandu', '2026-11-28', '09:00', '2026-11-28T03:15:00.000Z'],
    // The clocks go forward at 02:00: 02:30 does not exist, before and after it do.
    ['Europe/Berlin', '2026-03-29', '01:30', '2026-03-29T00:30:00.000Z'],
    ['Europe/Berlin', '2026-03-29', '02:30', '2026-03-29T01:30:00.000Z'],
    ['Europe/Berlin', '2026-03-29', '09:00', '2026-03-29T07:00:00.000Z'],
    // The clocks go back at 03:00: 02:30 occurs twice, and the first one counts.
    ['Europe/Berlin', '2026-10-25', '02:30', '2026-10-25T00:30:00.000Z'],
    ['Europe/Berlin', '2026-10-25', '09:00', '2026-10-25T08:00:00.000Z'],
    ['America/New_York', '2026-11-01', '01:30', '2026-11-01T05:30:00.000Z'],
    ['Australia/Lord_Howe', '2026-10-04', '02:15', '2026-10-03T15:45:00.000Z'],
  ])('in %s on %s at %s', (zone, day, time, expected) => {
    expect(momentOf(zone, day, time).toISOString()).toBe(expected);
  });

  test('for any day and time, the moment lies on that day, and the clock shows the time unless it is left out', () => {
    const zones = [
      'Pacific/Kiritimati',
      'Pacific/Honolulu',
      'Europe/Berlin',
      'America/St_Johns',
      'Australia/Lord_Howe',
    ];
    const days = fc.integer({ min: 0, max: 800 }).map((count) => new Date(Date.UTC(2026, 0, 1 + count)));
    fc.assert(
      fc.property(fc.constantFrom(...zones), days, fc.integer({ min: 0, max: 1_439 }), (zone, date, minutes) => {
        const day = date.toISOString().slice(0, 10);
        const time = `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
        const moment = momentOf(zone, day, time);
        const shown = moment.toLocaleTimeString('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit' });
        expect(dayIn(zone, moment)).toBe(day);
        // At most an hour is left out.
        expect([0, 30, 60]).toContain(minutesOf(shown) - minutes);
      }),
      { numRuns: 300 },
    );
  });
});

function minutesOf(time: string): number {
  const [hours, minutes] = time.split(':').map(Number) as [number, number];
  return hours * 60 + minutes;
}
