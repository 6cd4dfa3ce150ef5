// The rules of reminders: the step that goes out, when the next look is due, and what stops it.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addDays } from '#libs/day.ts';
import {
  decideReminder,
  QUIET_MS,
  type ReminderFacts,
  type ReminderStep,
  stopOf,
} from '#libs/rules/reminders/reminder-steps.ts';

const step = (days: number, place = 1): ReminderStep => ({
  days,
  template: `reminder_${place}` as ReminderStep['template'],
});
const STEPS = [step(-3, 1), step(7, 2), step(21, 3)];
const DUE = '2026-06-10';

function factsOf(facts: Partial<ReminderFacts> = {}): ReminderFacts {
  return {
    steps: STEPS,
    clock: { zone: 'UTC', time: '09:00' },
    dueDate: DUE,
    sent: [],
    isOpen: true,
    rules: [],
    isCollected: false,
    ...facts,
  };
}

/** Decides on a day, at a time. */
function decided(day: string, time = '09:00', facts: Partial<ReminderFacts> = {}) {
  const { step: sent, lookAt } = decideReminder(factsOf(facts), new Date(`${day}T${time}:00Z`));
  return { days: sent?.days, lookAt: lookAt?.toISOString().slice(0, 16) };
}

describe('a look at an invoice', () => {
  test.each<[string, ReturnType<typeof decided>, ReturnType<typeof decided>]>([
    ['before the first step', decided('2026-06-06'), { days: undefined, lookAt: '2026-06-07T09:00' }],
    ['on its day, before the time', decided('2026-06-07', '08:59'), { days: undefined, lookAt: '2026-06-07T09:00' }],
    ['on its day, at the time', decided('2026-06-07'), { days: -3, lookAt: '2026-06-17T09:00' }],
    ['later that day', decided('2026-06-07', '23:59'), { days: -3, lookAt: '2026-06-17T09:00' }],
    ['after a night, before the time', decided('2026-06-08', '00:01'), { days: undefined, lookAt: '2026-06-08T09:00' }],
    ['when two steps were missed', decided('2026-06-20'), { days: 7, lookAt: '2026-07-01T09:00' }],
    ['when all were missed', decided('2027-01-01'), { days: 21, lookAt: undefined }],
    [
      'when the step went out',
      decided('2026-06-18', '09:00', { sent: [7] }),
      { days: undefined, lookAt: '2026-07-01T09:00' },
    ],
    [
      'when a later one went out',
      decided('2026-06-18', '09:00', { sent: [14] }),
      { days: undefined, lookAt: '2026-07-01T09:00' },
    ],
    [
      'when the last one went out',
      decided('2026-07-02', '09:00', { sent: [21] }),
      { days: undefined, lookAt: undefined },
    ],
    ['when nothing is due', decided('2026-06-20', '09:00', { isOpen: false }), { days: undefined, lookAt: undefined }],
    ['without steps', decided('2026-06-20', '09:00', { steps: [] }), { days: undefined, lookAt: undefined }],
    [
      'when it is off',
      decided('2026-06-20', '09:30', { rules: [{ mode: 'on' }, { mode: 'off' }] }),
      { days: undefined, lookAt: '2026-06-21T09:00' },
    ],
    [
      'while it is paused',
      decided('2026-06-20', '09:00', { rules: [{ mode: 'on', paused_until: '2026-06-21' }] }),
      { days: undefined, lookAt: '2026-06-21T09:00' },
    ],
    [
      'when the pause is over',
      decided('2026-06-21', '09:00', { rules: [{ mode: 'on', paused_until: '2026-06-21' }] }),
      { days: 7, lookAt: '2026-07-01T09:00' },
    ],
    [
      'while a promise lasts',
      decided('2026-06-20', '09:00', { reminder_rest: { because: 'promise', resumes_on: '2026-06-22' } }),
      { days: undefined, lookAt: '2026-06-21T09:00' },
    ],
    [
      'when the money is collected, before the due date',
      decided('2026-06-08', '09:00', { isCollected: true }),
      { days: undefined, lookAt: '2026-06-17T09:00' },
    ],
    [
      'when the money is collected, after it',
      decided('2026-06-17', '09:00', { isCollected: true }),
      { days: 7, lookAt: '2026-07-01T09:00' },
    ],
    [
      'less than 48 hours after a mail',
      decided('2026-06-20', '09:00', { quietUntil: new Date('2026-06-21T08:00Z') }),
      { days: undefined, lookAt: '2026-06-21T09:00' },
    ],
    [
      'less than 48 hours after a mail of the evening',
      decided('2026-06-20', '09:00', { quietUntil: new Date('2026-06-21T20:00Z') }),
      { days: undefined, lookAt: '2026-06-21T20:00' },
    ],
    [
      '48 hours after a mail',
      decided('2026-06-20', '09:00', { quietUntil: new Date('2026-06-20T09:00Z') }),
      { days: 7, lookAt: '2026-07-01T09:00' },
    ],
  ])('%s', (_, found, expected) => {
    expect(found).toEqual(expected);
  });

  test('in the night in which the clocks change, then it goes out once, at the first moment of the time', () => {
    const clock = { zone: 'Europe/Berlin', time: '02:30' };
    const facts = factsOf({ clock, steps: [step(0)], dueDate: '2026-10-25' });
    const before = decideReminder(facts, new Date('2026-10-25T00:29:59Z'));
    expect(before).toEqual({ lookAt: new Date('2026-10-25T00:30:00Z') });
    expect(decideReminder(facts, new Date('2026-10-25T00:30:00Z')).step?.days).toBe(0);
    // The same time on the clock, an hour later.
    expect(decideReminder({ ...facts, sent: [0] }, new Date('2026-10-25T01:30:00Z'))).toEqual({});
  });

  test.each<[string, Parameters<typeof stopOf>[0], ReturnType<typeof stopOf>]>([
    ['nothing', { isOpen: true, rules: [{ mode: 'on' }] }, undefined],
    ['a payment', { isOpen: false, rules: [{ mode: 'off' }] }, 'nothing due'],
    ['an invoice that is off', { isOpen: true, rules: [{ mode: 'off', paused_until: '2027-01-01' }] }, 'off'],
    ['a pause', { isOpen: true, rules: [{ mode: 'on', paused_until: '2026-06-11' }] }, 'paused'],
    [
      'a question',
      { isOpen: true, rules: [], reminder_rest: { because: 'question', resumes_on: '2026-06-11' } },
      'question',
    ],
    [
      'a promise that is over',
      { isOpen: true, rules: [], reminder_rest: { because: 'promise', resumes_on: DUE } },
      undefined,
    ],
  ])('is stopped by %s', (_, facts, expected) => {
    expect(stopOf(facts, DUE)).toBe(expected);
  });
});

describe('over any history of an invoice', () => {
  interface Happening {
    afterHours: number;
    what: 'look' | 'pay' | 'take back' | 'pause' | 'mail' | 'change steps' | 'move due date' | 'switch';
    value: number;
  }
  const happening: fc.Arbitrary<Happening> = fc.record({
    afterHours: fc.integer({ min: 0, max: 200 }),
    what: fc.constantFrom(
      'look',
      'look',
      'look',
      'pay',
      'take back',
      'pause',
      'mail',
      'change steps',
      'move due date',
      'switch',
    ),
    value: fc.integer({ min: -3, max: 60 }),
  });

  test('then each step goes out at most once and in order, none while nothing is due or it is stopped, and none within 48 hours of a mail', () => {
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 60 }), (happenings) => {
        const facts = factsOf({ clock: { zone: 'Europe/Berlin', time: '02:30' } });
        let at = Date.parse('2026-03-20T00:00:00Z');
        let lastMail = 0;
        const sent: number[] = [];
        for (const { afterHours, what, value } of happenings) {
          at += afterHours * 3_600_000;
          if (what === 'pay') facts.isOpen = false;
          else if (what === 'take back') facts.isOpen = true;
          else if (what === 'pause') facts.rules = [{ mode: 'on', paused_until: addDays('2026-03-20', value) }];
          else if (what === 'switch') facts.rules = [{ mode: value % 2 === 0 ? 'on' : 'off' }];
          else if (what === 'mail') lastMail = at;
          else if (what === 'change steps') facts.steps = [step(value), step(value + 9)];
          else if (what === 'move due date') facts.dueDate = addDays('2026-03-25', value);
          else {
            const quietUntil = lastMail ? new Date(lastMail + QUIET_MS) : undefined;
            const decision = decideReminder({ ...facts, sent, quietUntil }, new Date(at));
            if (decision.lookAt) expect(decision.lookAt.getTime()).toBeGreaterThan(at);
            if (!decision.step) continue;
            expect(facts.isOpen).toBe(true);
            expect(facts.rules.some(({ mode }) => mode === 'off')).toBe(false);
            expect(Math.max(-Infinity, ...sent)).toBeLessThan(decision.step.days);
            expect(at - lastMail).toBeGreaterThanOrEqual(QUIET_MS);
            sent.push(decision.step.days);
            lastMail = at;
          }
        }
        expect(new Set(sent).size).toBe(sent.length);
      }),
      { numRuns: 500 },
    );
  });
});
