// Until when reminders of an invoice rest, by what of its client is open.
import { describe, expect, it } from '@jest/globals';
import { isResting, reminderRest } from '#libs/rules/reminders/reminder-rest.ts';

const RESTS = [
  { when: 'nothing is open', open: {}, rest: undefined },
  {
    when: 'a day of payment is promised',
    open: { promised_for: '2026-12-31' },
    rest: { resumes_on: '2027-01-01', because: 'promise' },
  },
  {
    when: 'a question is open',
    open: { asked_on: '2028-02-20' },
    rest: { resumes_on: '2028-03-05', because: 'question' },
  },
  {
    when: 'the question rests longer than the promise',
    open: { asked_on: '2026-11-02', promised_for: '2026-11-10' },
    rest: { resumes_on: '2026-11-16', because: 'question' },
  },
  {
    when: 'the promise rests longer than the question',
    open: { asked_on: '2026-11-02', promised_for: '2026-12-10' },
    rest: { resumes_on: '2026-12-11', because: 'promise' },
  },
];

describe('rest of reminders', () => {
  it.each(RESTS)('when $when, then reminders resume on the day that follows from it', ({ open, rest }) => {
    expect(reminderRest(open)).toEqual(rest);
  });

  it('when the day has come on which reminders resume, then the invoice rests no longer', () => {
    const reminder_rest = reminderRest({ promised_for: '2026-11-10' });
    const days = ['2026-11-09', '2026-11-10', '2026-11-11', '2026-11-12'];
    expect(days.map((day) => isResting({ reminder_rest }, day))).toEqual([true, true, false, false]);
    expect(isResting({}, '2026-11-10')).toBe(false);
  });
});
