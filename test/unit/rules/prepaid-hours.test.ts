// Hours that a package covers: to the second, in the order of their ends, by the day of the work.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { coverHours, type LineToCover, type PackageState } from '#libs/rules/time/prepaid-hours.ts';
import { billedSeconds, billedShares, type TimeRounding } from '#libs/rules/time/time-rounding.ts';

interface Work {
  seconds: number;
  date?: string;
  project?: string;
  rate?: number;
  rateFrom?: 'task' | 'none';
}

function lineOf(id: number, work: readonly Work[], rounding: TimeRounding | null = null): LineToCover {
  const entries = work.map(({ seconds, date = '2026-11-02', project = 'p', rate = 90, rateFrom = 'task' }, index) => ({
    id: `${id}-${index}`,
    seconds,
    date,
    project: { id: project, name: project },
    task: null,
    description: null,
    rate,
    member: null,
    rateFrom,
    rounding,
  }));
  const billed = billedSeconds(entries, rounding);
  const [seconds, rate] = [entries.reduce((sum, entry) => sum + entry.seconds, 0), String(entries[0]?.rate)];
  return { id, description: '', qty: '', rate, discount: '0', unit: 'hour', seconds, billed, rounding, entries };
}

const hours = (id: string, left: number, fields: Partial<PackageState> = {}): PackageState => ({
  id,
  project_id: null,
  left: left * 3600,
  valid_from: null,
  valid_until: null,
  rollover: false,
  ...fields,
});
const drawsOf = (lines: LineToCover[], packages: PackageState[], included = 0) =>
  coverHours(lines, { included, packages, others: [] }).draws;
const taken = (lines: LineToCover[], packages: PackageState[]) =>
  drawsOf(lines, packages).map(({ line, package_id, seconds }) => [line, package_id, seconds / 3600]);

test('when lines need more than a package has, then their work is covered in its order, and the rest is charged', () => {
  const lines = [lineOf(1, [{ seconds: 3 * 3600 }]), lineOf(2, [{ seconds: 3 * 3600 }])];
  expect(taken(lines, [hours('a', 4)])).toEqual([
    [1, 'a', 3],
    [2, 'a', 1],
  ]);
});

test('when several packages are valid, then the one that ends first is drawn first, and one of the project before one of all projects', () => {
  const packages = [
    hours('never', 9),
    hours('all', 1, { valid_until: '2026-12-31' }),
    hours('own', 1, { valid_until: '2026-12-31', project_id: 'p' }),
    hours('first', 1, { valid_until: '2026-11-30' }),
    hours('other', 9, { project_id: 'q' }),
  ];
  expect(taken([lineOf(1, [{ seconds: 4 * 3600 }])], packages)).toEqual([
    [1, 'first', 1],
    [1, 'own', 1],
    [1, 'all', 1],
    [1, 'never', 1],
  ]);
});

test('when the days of one line are valid for different packages, then each covers its own days alone', () => {
  const line = lineOf(1, [
    { seconds: 3600, date: '2026-10-31' },
    { seconds: 3600, date: '2026-11-30' },
    { seconds: 3600, date: '2026-12-01' },
  ]);
  const november = hours('n', 9, { valid_from: '2026-11-01', valid_until: '2026-11-30' });
  expect(taken([line], [november])).toEqual([[1, 'n', 1]]);
});

test('when a package ends with rollover, then it goes on only while a later one is valid', () => {
  const old = hours('old', 2, { valid_until: '2026-10-31', rollover: true });
  const next = hours('next', 0, { valid_from: '2026-11-01', valid_until: '2026-11-30' });
  const line = [lineOf(1, [{ seconds: 3600 }, { seconds: 3600, date: '2026-12-01' }])];
  expect(taken(line, [old])).toEqual([]);
  expect(taken(line, [old, next])).toEqual([[1, 'old', 1]]);
  expect(taken(line, [{ ...old, rollover: false }, next])).toEqual([]);
  expect(taken(line, [old, { ...next, project_id: 'p' }])).toEqual([]);
});

test('when time is free, then it draws nothing, and of time that the fee pays for only the rest is drawn', () => {
  const free = lineOf(1, [{ seconds: 3600, rate: 0 }]);
  const unrated = lineOf(2, [{ seconds: 3600, rate: 0, rateFrom: 'none' }]);
  const later = lineOf(3, [{ seconds: 3600 }, { seconds: 1800 }]);
  const covered = coverHours([free, unrated, later], { included: 5000, packages: [hours('a', 9)], others: [] });
  expect([...covered.included]).toEqual([
    [2, 3600],
    [3, 1400],
  ]);
  expect(covered.draws).toEqual([{ line: 3, package_id: 'a', seconds: 4000 }]);
});

test('when a client has a thousand expired packages that go on, then the entries of a year draw from all of them', () => {
  const day = (index: number) => new Date(Date.UTC(2026, 0, 1 + (index % 365))).toISOString().slice(0, 10);
  const old = Array.from({ length: 999 }, (_none, index) =>
    hours(String(index), 1, { valid_until: '2025-12-31', rollover: true }),
  );
  const line = lineOf(
    1,
    Array.from({ length: 1_000 }, (_none, index) => ({ seconds: 3600, date: day(index) })),
  );
  const draws = drawsOf([line], [...old, hours('next', 0)]);
  expect(draws.map(({ seconds }) => seconds)).toEqual(old.map(() => 3600));
});

const rules = fc.option(
  fc.record({
    minutes: fc.constantFrom(1 as const, 6 as const, 15 as const, 60 as const),
    mode: fc.constantFrom('up' as const, 'nearest' as const, 'down' as const),
    scope: fc.constantFrom('entry' as const, 'day' as const, 'line' as const),
    minimum: fc.constantFrom(0, 30),
  }),
);
const works = fc.array(
  fc.record({ seconds: fc.integer({ min: 1, max: 86_400 }), date: fc.constantFrom('2026-11-02', '2026-11-03') }),
  { minLength: 1, maxLength: 8 },
);

test('when lines and packages are any, then no second is drawn twice or beyond a package, and time is covered as long as packages have hours left', () => {
  fc.assert(
    fc.property(works, rules, fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 3 }), (work, rule, sizes) => {
      const line = lineOf(1, work, rule);
      const shares = billedShares(line.entries, rule);
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(line.billed);
      const draws = drawsOf(
        [line],
        sizes.map((size, index) => hours(String(index), size)),
      );
      const drawn = draws.reduce((sum, { seconds }) => sum + seconds, 0);
      const all = sizes.reduce((sum, size) => sum + size * 3600, 0);
      expect(drawn).toBe(Math.min(line.billed, all));
      for (const { package_id, seconds } of draws)
        expect(seconds).toBeLessThanOrEqual((sizes[Number(package_id)] ?? 0) * 3600);
    }),
  );
});
