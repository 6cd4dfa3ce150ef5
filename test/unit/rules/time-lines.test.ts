// Time as lines of an invoice: no two rates in one line, no second lost, and every line is its quantity times its rate.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { lineItem } from '#libs/rules/documents/line-item.ts';
import { lineNet } from '#libs/rules/money/money.ts';
import { hourlyRate, RATE_SOURCES } from '#libs/rules/time/hourly-rate.ts';
import { TIME_GROUPS, type TimeToBill, timeLines } from '#libs/rules/time/time-lines.ts';
import { billedSeconds, ROUNDING_MINUTES, ROUNDING_MODES, ROUNDING_SCOPES } from '#libs/rules/time/time-rounding.ts';
import { runs } from '../../support/form.ts';

let made = 0;
const time = (changes: Partial<TimeToBill> = {}): TimeToBill => {
  made += 1;
  return {
    id: String(made).padStart(6, '0'),
    project: { id: 'p1', name: 'Engine' },
    task: { id: 't1', name: 'Drawings' },
    date: '2026-11-02',
    seconds: 3600,
    description: null,
    member: null,
    rate: 100,
    rateFrom: 'task',
    rounding: null,
    ...changes,
  };
};
const form = { groupBy: 'task' as const, locale: 'en-US' };
const shown = (entries: TimeToBill[], changes: object = {}) =>
  timeLines(entries, { ...form, ...changes }).map(({ description, qty, rate }) => [description, qty, rate]);

describe('the rate', () => {
  test('when several rates are set, then the closest one counts, and 0 is a rate', () => {
    const rates = { entry: null, task: 0, project: 80, client: 70, account: 60 };
    expect(hourlyRate(rates)).toEqual({ rate: 0, from: 'task' });
    expect(hourlyRate({ ...rates, task: null })).toEqual({ rate: 80, from: 'project' });
    expect(hourlyRate({ account: 60 })).toEqual({ rate: 60, from: 'account' });
    expect(hourlyRate({ entry: null })).toBeUndefined();
  });

  test('when any rates are set, then a less specific one never wins', () => {
    const rates = fc.dictionary(fc.constantFrom(...RATE_SOURCES), fc.option(fc.integer({ min: 0, max: 500 })));
    fc.assert(
      fc.property(rates, (given) => {
        const found = hourlyRate(given);
        const first = RATE_SOURCES.find((source) => given[source] !== undefined && given[source] !== null);
        expect(found?.from).toBe(first);
        expect(found?.rate).toBe(first === undefined ? undefined : given[first]);
      }),
      runs(500),
    );
  });
});

describe('lines', () => {
  test('when time makes a line, then its quantity is in hours', () => {
    expect(timeLines([time()], form).map(lineItem)).toMatchObject([{ qty: '1', unit: 'hour' }]);
  });

  test('when one task has two rates, then it has two lines, the higher one first', () => {
    expect(shown([time(), time({ rate: 120 }), time()])).toEqual([
      ['Engine: Drawings', '1', '120'],
      ['Engine: Drawings', '2', '100'],
    ]);
  });

  test('when time is grouped, then each group has its lines in the stated order', () => {
    const other = { project: { id: 'p0', name: 'Wheel' } };
    const entries = [
      time({ ...other, date: '2026-11-04' }),
      time({ task: null, date: '2026-11-03', description: 'Talks' }),
      time({ task: { id: 't0', name: 'Alignment' }, seconds: 1800 }),
      time(),
    ];
    expect(shown(entries)).toEqual([
      ['Engine: Alignment', '0.5', '100'],
      ['Engine: Drawings', '1', '100'],
      ['Engine', '1', '100'],
      ['Wheel: Drawings', '1', '100'],
    ]);
    expect(shown(entries, { groupBy: 'project' })).toEqual([
      ['Engine', '2.5', '100'],
      ['Wheel', '1', '100'],
    ]);
    expect(shown(entries, { groupBy: 'day' }).map(([text]) => text)).toEqual([
      'Engine, Nov 2, 2026',
      'Engine, Nov 3, 2026',
      'Wheel, Nov 4, 2026',
    ]);
    expect(shown(entries, { groupBy: 'none' })).toEqual([['Work from Nov 2, 2026 to Nov 4, 2026', '3.5', '100']]);
    expect(shown(entries, { groupBy: 'entry' }).map(([text]) => text)).toContain('Nov 3, 2026: Talks');
  });

  test('when a text is given, then its placeholders are filled, unknown ones stay, and an empty result becomes the project', () => {
    const text = '{project} / {task} on {date} ({hours} h) {nothing}';
    expect(shown([time({ seconds: 5400 })], { text, locale: 'de-DE' })).toEqual([
      ['Engine / Drawings on 02.11.2026 (1,5 h) {nothing}', '1.5', '100'],
    ]);
    expect(shown([time()], { text: '{description}' })).toEqual([['Engine', '1', '100']]);
    expect(shown([time({ description: 'x'.repeat(5_000) })], { text: '{description}' })[0]?.[0]).toHaveLength(2_000);
    // A description is inserted as text: placeholders in it are not filled.
    expect(shown([time({ description: '{hours}' })], { text: '{description}' })[0]?.[0]).toBe('{hours}');
  });
});

test('when a text repeats the descriptions of much time, then no more of them is put together than a line shows', () => {
  const text = '{description} '.repeat(150);
  const entries = Array.from({ length: 1_000 }, (_, index) =>
    time({ description: `${index}: ${'字'.repeat(19_000)}` }),
  );
  const [[line]] = shown(entries, { groupBy: 'none', text }) as [[string]];
  expect(line).toBe(`0: ${'字'.repeat(1_996)}…`);
  // Blanks around values stay as they are where the text is cut.
  const blank = time({ description: `${'x'.repeat(1_998)} y` });
  expect(shown([blank], { text: '{description}' })[0]?.[0]).toBe(`${'x'.repeat(1_998)} y`);
  expect(shown([blank], { text: '{description}.' })[0]?.[0]).toBe(`${'x'.repeat(1_998)} …`);
});

const anyEntry = fc.record({
  project: fc.constantFrom({ id: 'p1', name: 'Engine' }, { id: 'p2', name: 'Engine' }, { id: 'p3', name: 'Wheel' }),
  task: fc.constantFrom(null, { id: 't1', name: 'Drawings' }, { id: 't2', name: 'Drawings' }),
  date: fc.constantFrom('2026-11-01', '2026-11-02', '2026-11-03'),
  seconds: fc.integer({ min: 1, max: 86_400 }),
  rate: fc.constantFrom(0, 95, 100.1, 0.333),
});
const anyRounding = fc.option(
  fc.record({
    minutes: fc.constantFrom(...ROUNDING_MINUTES),
    mode: fc.constantFrom(...ROUNDING_MODES),
    scope: fc.constantFrom(...ROUNDING_SCOPES),
    minimum: fc.integer({ min: 0, max: 60 }),
  }),
);

test('when any time is billed in any way, then every entry is in one line, of one rate, and the order of entries does not change the lines', () => {
  fc.assert(
    fc.property(
      fc.array(anyEntry, { maxLength: 40 }),
      anyRounding,
      fc.constantFrom(...TIME_GROUPS),
      (given, rounding, groupBy) => {
        const entries = given.map((one) => time({ ...one, rounding }));
        const lines = timeLines(entries, { groupBy, locale: 'en-US' });
        const ids = lines.flatMap((line) => line.entries.map(({ id }) => id));
        expect(ids.toSorted()).toEqual(entries.map(({ id }) => id).toSorted());
        expect(lines.reduce((sum, { seconds }) => sum + seconds, 0)).toBe(
          entries.reduce((sum, { seconds }) => sum + seconds, 0),
        );
        for (const line of lines) {
          expect(new Set(line.entries.map(({ rate }) => rate)).size).toBe(1);
          expect(line.billed).toBe(billedSeconds(line.entries, rounding));
          // The printed quantity times the rate, in whole-number arithmetic, is the amount of the line.
          const [whole = '', part = ''] = line.qty.split('.');
          const units = BigInt(whole + part.padEnd(4, '0')) * BigInt(Math.round(Number(line.rate) * 1000));
          const expected = (2n * units + 100_000n) / 200_000n;
          expect(lineNet(line, 'EUR')).toBe(Number(expected));
          expect(line.description.trim()).not.toBe('');
        }
        const shuffled = timeLines(entries.toReversed(), { groupBy, locale: 'en-US' });
        expect(shuffled).toEqual(lines);
      },
    ),
    runs(500),
  );
});

test('when time is grouped by member, then each has a line, in the order of names, and time of none comes last', () => {
  const entries = [time({ member: null }), time({ member: 'Grace' }), time({ member: 'Ada' }), time({ member: 'Ada' })];
  const lines = timeLines(entries, { groupBy: 'member', locale: 'en-US' });

  expect(lines.map(({ description, qty }) => [description, qty])).toEqual([
    ['Engine: Ada', '2'],
    ['Engine: Grace', '1'],
    ['Engine', '1'],
  ]);
});

test('when a line text names {member}, then it has the members of the line, each once', () => {
  const entries = ['Grace', 'Ada', 'Grace'].map((member) => time({ member }));

  expect(timeLines(entries, { groupBy: 'project', text: '{member}: {hours} h', locale: 'en-US' })[0]?.description).toBe(
    'Grace, Ada: 3 h',
  );
});
