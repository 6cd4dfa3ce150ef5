// Hours that are paid in advance never cost anything: not a cent is charged or taken off for a line that is covered as a whole.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { lessPaidHours } from '#libs/billing/hour-packages/included-hours.ts';
import type { SelectedTime } from '#libs/billing/work/select-time.ts';
import { linkTimeLines } from '#libs/billing/work/time-line-links.ts';
import { newId } from '#libs/models/tenant.ts';
import { type LineItem, lineItem } from '#libs/rules/documents/line-item.ts';
import { sumOfLines } from '#libs/rules/money/money.ts';
import { TIME_GROUPS, type TimeToBill } from '#libs/rules/time/time-lines.ts';
import { runs } from '../../support/form.ts';
import { hourPackage, rateOf, timeToBill } from '../../support/time-to-bill.ts';

const PROJECTS = [newId(), newId()] as const;
const DAYS = ['2026-11-02', '2026-11-03', '2026-11-20'] as const;

const anyEntry = fc.record({
  project: fc.constantFrom(...PROJECTS),
  date: fc.constantFrom(...DAYS),
  seconds: fc.integer({ min: 1, max: 20_000 }),
  rate: fc.oneof(
    fc.constantFrom(33.01, 99.99),
    fc.integer({ min: 1, max: 50_000 }).map((cents) => cents / 100),
  ),
});
const anyWork = fc.record({
  currency: fc.constantFrom('EUR', 'JPY', 'KWD'),
  groupBy: fc.constantFrom(...TIME_GROUPS),
  entries: fc.array(anyEntry, { minLength: 1, maxLength: 12 }),
  /** The rates of all entries: few rates make lines that are taken off together. */
  rates: fc.option(fc.integer({ min: 1, max: 2 })),
  prepaid: fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 2 }),
  /** The share of the seconds that are included. */
  share: fc.double({ min: 0, max: 1, noNaN: true }),
});

type Work = typeof anyWork extends fc.Arbitrary<infer Value> ? Value : never;

function entriesOf({ entries, rates }: Pick<Work, 'entries' | 'rates'>): TimeToBill[] {
  return entries.map(({ project, rate, ...time }, index) => {
    const shared = rates === null ? undefined : entries[index % rates]?.rate;
    return timeToBill(project, { ...time, ...rateOf(shared ?? rate, true) });
  });
}

const packageOf = (seconds: number) => hourPackage(null, { seconds });

/** The lines of the work, less the included hours and those of packages. */
function billed(
  work: Omit<Work, 'prepaid' | 'share'>,
  { included, prepaid }: { included: number; prepaid: readonly number[] },
) {
  const form = { groupBy: work.groupBy, locale: 'en-US' };
  const lines = linkTimeLines(
    entriesOf(work).map((toBill) => ({ toBill }) as SelectedTime),
    form,
  );
  const paid = { hours: String(included / 3600), packages: prepaid.map(packageOf), others: [] };
  return lessPaidHours(lines, paid, { currency: work.currency, locale: form.locale });
}

const trackedBy = ({ entries }: Work) => entries.reduce((sum, { seconds }) => sum + seconds, 0);
const hoursOf = (lines: readonly LineItem[]) => lines.reduce((sum, { qty }) => sum + Number(qty), 0);

test('when a fee, packages or both cover all of the time, then it costs exactly nothing', () => {
  const property = fc.property(anyWork, (work) => {
    const tracked = trackedBy(work);
    const included = Math.round(tracked * work.share);
    for (const paid of [
      { included: tracked, prepaid: [] },
      { included: tracked + 3600, prepaid: work.prepaid },
      { included: 0, prepaid: [...work.prepaid, tracked] },
      { included, prepaid: [...work.prepaid, tracked] },
    ]) {
      const { line_items } = billed(work, paid);
      expect(sumOfLines(line_items, work.currency)).toBe(0);
      const hours = line_items.filter(({ unit }) => unit === 'hour');
      expect(hoursOf(hours)).toBeCloseTo(0, 8);
    }
  });
  fc.assert(property, runs(400));
});

test('when a part of the time is covered, then it never costs less than nothing, and only included hours are rounded', () => {
  const property = fc.property(anyWork, (work) => {
    const included = Math.round(trackedBy(work) * work.share);
    const { line_items, made } = billed(work, { included, prepaid: work.prepaid });
    expect(sumOfLines(line_items, work.currency)).toBeGreaterThanOrEqual(0);
    const [rounding, ...others] = line_items.filter(({ unit }) => unit !== 'hour');
    expect(others).toEqual([]);
    if (rounding) expect(rounding).toMatchObject({ description: 'Rounding', qty: '1' });
    // The printed hours are those that were covered, but for the last decimal of each line.
    const taken = line_items.filter(({ description }) => description === 'Included hours');
    expect(Math.abs(-hoursOf(taken) * 3600 - included)).toBeLessThanOrEqual(0.36 * (made.length + 1));
  });
  fc.assert(property, runs(400));
});

test('when lines are covered that were rounded one by one, then one line takes their hours off and one rounds it', () => {
  const entry = { project: PROJECTS[0], seconds: 900, rate: 33.01 };
  const work = { currency: 'EUR', groupBy: 'day', rates: null } as const;
  const entries = DAYS.map((date) => ({ ...entry, date }));
  const { line_items, time } = billed({ ...work, entries }, { included: 2700, prepaid: [] });
  expect(line_items.slice(3)).toEqual([
    lineItem({ description: 'Included hours', qty: '-0.75', rate: '33.01', discount: '0', unit: 'hour' }),
    lineItem({ description: 'Rounding', qty: '1', rate: '0.01', discount: '0' }),
  ]);
  expect(time.included).toEqual({ at: [3, 4] });
});
