// The model of the ledger: random sequences of movements, two at a time, after each of which every sum must hold, also of past days.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { LedgerWorld } from './ledger-world.ts';
import { ANSWERS, CENTS_MAX, MOVES, type Movement, take, WHICH_MAX } from './movements.ts';
import { forgottenDays, passDay, wrongStatements } from './passing-days.ts';
import { brokenPromises, brokenSums } from './promises.ts';

export interface ModelRun {
  seed: number;
  sequences: number;
  /** Shrinking repeats the sequence many times. */
  shrinks: boolean;
  /** Opens a new account. */
  open: () => Promise<LedgerWorld>;
  /** Called after each sequence. */
  onSequence?: (taken: Taken) => void;
}

/** How many movements were made, and how many of each were not refused. */
export interface Taken {
  sequences: number;
  steps: number;
  done: Record<string, number>;
}

const SHORTEST = 5;
const LONGEST = 25;
/** Even: they are made two at a time. */
const MOVES_OF_DAY = 4;

/** Drawn besides: most of them need another before them, and hardly ever succeeded. */
const OF_CREDIT = [
  'payInvoice',
  'payEarly',
  'credit',
  'creditWork',
  'issue',
  'allocateCredit',
  'releaseCredit',
  'refundCredit',
  'release',
  'refund',
] as const;

const position = fc.nat({ max: WHICH_MAX });
const movement: fc.Arbitrary<Movement> = fc.record({
  move: fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...MOVES) },
    { weight: 1, arbitrary: fc.constantFrom(...OF_CREDIT) },
  ),
  which: position,
  other: position,
  cents: fc.option(fc.integer({ min: 1, max: CENTS_MAX })),
  isOther: fc.boolean(),
});

/** @throws Error with the shortest sequence found that breaks a promise. */
export async function runModel({ seed, sequences, shrinks, open, onSequence }: ModelRun): Promise<Taken> {
  const taken: Taken = { sequences: 0, steps: 0, done: {} };
  const movements = fc.array(movement, { minLength: SHORTEST, maxLength: LONGEST });
  const property = fc.asyncProperty(movements, async (sequence) => {
    const world = await open();
    for (let at = 0; at < sequence.length; at += 2) {
      const pair = sequence.slice(at, at + 2);
      const statuses = await Promise.all(pair.map((one) => take(world, one)));
      assert.deepEqual(
        statuses.filter((status) => !ANSWERS.includes(status)),
        [],
      );
      assert.deepEqual(await brokenSums(world), []);
      if (at % MOVES_OF_DAY === 0) await passDay(world);
      taken.steps += pair.length;
      for (const [index, { move }] of pair.entries()) {
        if ((statuses[index] as number) < 300) taken.done[move] = (taken.done[move] ?? 0) + 1;
      }
    }
    assert.deepEqual(await brokenPromises(world), []);
    assert.deepEqual(await forgottenDays(world), []);
    assert.deepEqual(await wrongStatements(world), []);
    taken.sequences += 1;
    onSequence?.(taken);
  });
  await fc.assert(property, { seed, numRuns: sequences, endOnFailure: !shrinks });
  return taken;
}
