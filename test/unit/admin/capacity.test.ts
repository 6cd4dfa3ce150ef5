// The needs of an installation for a load: sums that can be done by hand, and the costs that docs/scale.md shows.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { capacityOf, type Load } from '../../../services/admin/capacity/capacity.ts';
import { COSTS } from '../../../services/admin/capacity/measured-costs.ts';
import { runs } from '../../support/form.ts';

const PRICES = { core: 20, gib: 4, diskGib: 0.1 };
const NOTHING: Load = { accounts: 0, invoices: 0, entries: 0, documents: 0, reads: 0, endpoints: 0, peak: 1, years: 1 };
const SECONDS_OF_MONTH = 30 * 24 * 3_600;

const need = (load: Load, part: string) => capacityOf(load, PRICES).needs.find((one) => one.part === part);

test('when the table of docs/scale.md is measured anew, then the command calculates with it', () => {
  const cells = (name: string) =>
    readFileSync('docs/scale.md', 'utf8')
      .split('\n')
      .find((line) => line.startsWith(`| ${name} |`))
      ?.split('|')
      .map((cell) => cell.trim()) ?? [];
  const bytes = (cell = '') => (cell === '–' ? 0 : Number.parseFloat(cell) * (cell.endsWith('kB') ? 1_000 : 1));
  for (const [name, cost] of Object.entries(COSTS)) {
    const [, , ...found] = cells(name);
    const [gateway, renderer, webhooks, mongodb, redis] = found.map((cell) => Number.parseFloat(cell) || 0);
    expect([name, { gateway, renderer, webhooks, mongodb, redis, storedBytes: bytes(found[8]) }]).toEqual([name, cost]);
  }
});

test('when nothing happens, then there is what runs for safety', () => {
  const { needs, firstFull, monthlyPrice } = capacityOf(NOTHING, PRICES);
  expect(needs.map(({ part, processes }) => [part, processes])).toEqual([
    ['gateway', 2],
    ['renderer', 2],
    ['webhooks', 2],
    ['scheduler', 2],
    ['portal', 2],
    ['mail', 2],
    ['operations', 2],
    ['MongoDB', 3],
    ['Redis', 1],
  ]);
  expect(monthlyPrice).toBeGreaterThan(0);
  expect(firstFull).toMatch(/^(MongoDB|Redis), at /);
});

test('when a hundred documents are printed a second, then the renderers have twice their processor time', () => {
  const load = { ...NOTHING, accounts: 1, invoices: 100 * SECONDS_OF_MONTH, documents: 1 };
  const ms = 100 * (COSTS['PDF of one page'].renderer + COSTS['create an invoice'].renderer);
  expect(need(load, 'renderer')?.cores).toBeCloseTo((2 * ms) / 1_000, 6);
  expect(need(load, 'renderer')?.processes).toBe(Math.ceil(ms / 1_000));
});

describe('the disk', () => {
  const load = { ...NOTHING, accounts: 100_000, invoices: 20, years: 1 };

  test('when records are kept for twice as long, then it is twice as large', () => {
    const [once, twice] = [need(load, 'MongoDB')?.diskGib ?? 0, need({ ...load, years: 2 }, 'MongoDB')?.diskGib ?? 0];
    expect(twice / once).toBeCloseTo(2, 6);
  });

  test('when deliveries come to it, then they take their ninety days, and no more with the years', () => {
    const of = (years: number, endpoints: number) => need({ ...load, years, endpoints }, 'MongoDB')?.diskGib ?? 0;
    expect(of(1, 1) - of(1, 0)).toBeCloseTo(of(9, 1) - of(9, 0), 3);
  });
});

test('when any part of a load grows, then nothing that it needs becomes less', () => {
  const whole = fc.integer({ min: 0, max: 1_000 });
  const load = fc.record({
    accounts: fc.integer({ min: 0, max: 100_000 }),
    invoices: whole,
    entries: whole,
    documents: fc.integer({ min: 0, max: 10 }),
    reads: fc.integer({ min: 0, max: 100 }),
    endpoints: fc.integer({ min: 0, max: 10 }),
    peak: fc.integer({ min: 1, max: 20 }),
    years: fc.integer({ min: 1, max: 20 }),
  });
  const name = fc.constantFrom(...(Object.keys(NOTHING) as (keyof Load)[]));
  fc.assert(
    fc.property(load, name, (given, grown) => {
      const [before, after] = [given, { ...given, [grown]: given[grown] + 1 }].map(
        (one) => capacityOf(one, PRICES).needs,
      );
      const numbers = (needs: typeof before) =>
        (needs ?? []).flatMap(({ processes, cores, memoryGib, diskGib }) => [processes, cores, memoryGib, diskGib]);
      const less = numbers(after).filter((one, at) => one < (numbers(before)[at] ?? 0) - 1e-9);
      expect(less).toEqual([]);
    }),
    runs(100),
  );
});
