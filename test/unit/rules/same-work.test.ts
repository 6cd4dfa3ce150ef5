// The same work is the same money, however it is grouped, named, ordered or split into invoices.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { lessPaidHours } from '#libs/billing/hour-packages/included-hours.ts';
import type { SelectedTime } from '#libs/billing/work/select-time.ts';
import { linkTimeLines } from '#libs/billing/work/time-line-links.ts';
import { newId } from '#libs/models/tenant.ts';
import type { HourPackageRecord } from '#libs/models/time/hour-package.ts';
import { invoiceMoney } from '#libs/rules/documents/document-money.ts';
import { TIME_GROUPS, type TimeGroup, type TimeToBill } from '#libs/rules/time/time-lines.ts';
import { runs } from '../../support/form.ts';
import { hourPackage, rateOf, timeToBill } from '../../support/time-to-bill.ts';

const _OWNER = newId();
const PROJECTS = [newId(), newId(), newId()] as const;
const DAYS = ['2026-11-02', '2026-11-03', '2026-11-20', '2026-12-01'] as const;

/** Decimal hours and whole rates: every line is exact, so that sums do not differ by what is rounded for print. */
const anyEntry = fc.record({
  project: fc.constantFrom(...PROJECTS),
  task: fc.constantFrom(null, 'Drawings', 'Wheels'),
  date: fc.constantFrom(...DAYS),
  seconds: fc.integer({ min: 1, max: 1_000 }).map((count) => count * 36),
  rate: fc.constantFrom(0, 50, 90, 200),
  isRated: fc.boolean(),
});
/** Roundings of single entries. One over several entries depends on the lines by its nature. */
const anyRounding = fc.option(
  fc.record({
    minutes: fc.constantFrom(6 as const, 15 as const, 30 as const, 60 as const),
    mode: fc.constantFrom('up' as const, 'nearest' as const, 'down' as const),
    scope: fc.constant('entry' as const),
    minimum: fc.constantFrom(0, 6, 30),
  }),
);
const anyPackage = fc.record({
  project: fc.option(fc.constantFrom(...PROJECTS)),
  hours: fc.integer({ min: 0, max: 20 }),
  from: fc.option(fc.constantFrom(...DAYS)),
  until: fc.option(fc.constantFrom(...DAYS)),
  rollover: fc.boolean(),
});
const anyWork = fc.record({
  entries: fc.array(anyEntry, { minLength: 1, maxLength: 12 }),
  rounding: anyRounding,
  packages: fc.array(anyPackage, { maxLength: 4 }),
});

type Work = typeof anyWork extends fc.Arbitrary<infer Value> ? Value : never;

function entriesOf({ entries, rounding }: Work): TimeToBill[] {
  return entries.map(({ project, task, rate, isRated, ...time }) =>
    timeToBill(project, {
      ...time,
      ...rateOf(rate, isRated),
      task: task === null ? null : { id: task, name: task },
      rounding,
    }),
  );
}

function packagesOf({ packages }: Work): HourPackageRecord[] {
  return packages.map(({ project, hours, from, until, rollover }) =>
    hourPackage(project, { hours, seconds: hours * 3600, valid_from: from, valid_until: until, rollover }),
  );
}

interface Billing {
  groupBy: TimeGroup;
  packages: readonly HourPackageRecord[];
  others?: readonly TimeToBill[];
  hours?: string | undefined;
}

/** The invoice of the entries. @returns its amount, and what it draws. */
function bill(entries: readonly TimeToBill[], { groupBy, packages, others = [], hours }: Billing) {
  const form = { groupBy, locale: 'en-US' };
  const lines = linkTimeLines(
    entries.map((toBill) => ({ toBill }) as SelectedTime),
    form,
  );
  const { line_items, draws } = lessPaidHours(
    lines,
    { hours, packages, others },
    { currency: 'EUR', locale: form.locale },
  );
  const { amount } = invoiceMoney({ currency: 'EUR', tax_rate: 0, line_items, issuer: form });
  return { amount, draws };
}

test('when work is grouped, named and ordered in any way, then what is charged and what packages have left is the same', () => {
  const included = fc.option(
    fc.integer({ min: 0, max: 2_000 }).map((count) => String(count / 100)),
    { nil: undefined },
  );
  const naming = fc.tuple(fc.constantFrom('Alpha', 'Zeta'), fc.constantFrom('Beta', 'Wheel'));
  fc.assert(
    fc.property(anyWork, included, naming, fc.constantFrom(...TIME_GROUPS), (work, hours, [one, other], groupBy) => {
      const [entries, packages] = [entriesOf(work), packagesOf(work)];
      const drawnOf = ({ draws }: ReturnType<typeof bill>) =>
        packages.map(({ _id }) =>
          draws.filter((draw) => draw.package_id === String(_id)).reduce((sum, { seconds }) => sum + seconds, 0),
        );
      const first = bill(entries, { groupBy: 'entry', packages, hours });
      const named = entries.toReversed().map((entry) => ({
        ...entry,
        project: { ...entry.project, name: entry.project.id === PROJECTS[0] ? one : other },
      }));
      const second = bill(named, { groupBy, packages: packages.toReversed(), hours });
      expect([second.amount, drawnOf(second)]).toEqual([first.amount, drawnOf(first)]);
    }),
    runs(400),
  );
});

test('when work is split into invoices in any order, then together they charge and draw what one invoice does', () => {
  const shares = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 12, maxLength: 12 });
  fc.assert(
    fc.property(anyWork, shares, fc.constantFrom(...TIME_GROUPS), (work, invoices, groupBy) => {
      const [entries, packages] = [entriesOf(work), packagesOf(work)];
      const whole = bill(entries, { groupBy, packages });
      let amount = 0;
      for (const invoice of [0, 1, 2, 3]) {
        const billed = entries.filter((_entry, index) => invoices[index] === invoice);
        const others = entries.filter((_entry, index) => (invoices[index] ?? 0) > invoice);
        const part = bill(billed, { groupBy, packages, others });
        amount += part.amount;
        for (const record of packages) {
          for (const draw of part.draws)
            if (draw.package_id === String(record._id)) record.drawn_seconds += draw.seconds;
        }
      }
      const drawn = packages.reduce((sum, { drawn_seconds }) => sum + drawn_seconds, 0);
      expect([amount, drawn]).toEqual([whole.amount, whole.draws.reduce((sum, { seconds }) => sum + seconds, 0)]);
    }),
    runs(400),
  );
});
