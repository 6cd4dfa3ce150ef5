// How large a test's form is (short, or whole with TEST_FULL=1) and how many cases it ran, for the sums at the end of the run.
import { appendFileSync } from 'node:fs';

/** The short form of everything runs on every change, the whole form on request. */
export const isFull = process.env['TEST_FULL'] === '1';

/**
 * `npm test` takes a sample of each sweep in test/sweeps and of the cases of each property in test/unit, and `.ci/run` runs all:
 * jest.config.mjs says which it is, for each file anew.
 */
export const isSampled = () => (globalThis as { FORM?: string }).FORM === 'sample' && !isFull;

/** Rows of a sweep over all operations or fields: of a sample every `step`-th, else all. */
export function sampled<Row>(rows: readonly Row[], step = 24): readonly Row[] {
  return isSampled() ? rows.filter((_row, index) => index % step === 0) : rows;
}

/** Multiplies the runs of every property. */
const FACTOR = Number(process.env['FAST_CHECK_RUNS'] ?? 1);

/** The short form of a property always tries the same cases, so that a commit that passed passes again. The long forms try new ones. */
const SHORT_FORM_SEED = 20_261_128;
const SEED = process.env['FAST_CHECK_SEED'];

/** Cases that were run count towards the sum that ends the test run. */
export function count(what: string, cases: number): void {
  const file = process.env['TEST_TALLY'];
  if (file) appendFileSync(file, `${JSON.stringify([what, cases])}\n`);
}

/** Options for fc.assert. @param numRuns of the short form. */
export function runs(numRuns = 100): { numRuns: number; seed?: number } {
  const all = Math.ceil((numRuns * FACTOR) / (isSampled() && FACTOR === 1 ? 3 : 1));
  count('property runs', all);
  if (SEED !== undefined) return { numRuns: all, seed: Number(SEED) };
  return isFull || FACTOR !== 1 ? { numRuns: all } : { numRuns: all, seed: SHORT_FORM_SEED };
}

/** Takes every `step`-th, so that the short form still covers a long list. */
export function every<Item>(items: readonly Item[], step: number, shift: number): Item[] {
  return items.filter((_item, index) => (index + shift) % step === 0);
}
