// Long work on a document lets the process serve others in between, and gives the same result as without a break.
import { expect, test } from '@jest/globals';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { drawnDocument } from '../../../services/renderer/fonts/glyphs.ts';
import { atOnce, inSlices, type Slices } from '../../../services/renderer/in-slices.ts';
import { han } from '../../support/hostile-bodies.ts';

/** Longer than a slice. */
const STEP_MS = 12;

function* sum(steps: number, stepMs: number): Slices<number> {
  let total = 0;
  for (let step = 1; step <= steps; step += 1) {
    const until = performance.now() + stepMs;
    while (performance.now() < until) total += 0;
    total += step;
    yield;
  }
  return total;
}

/** @returns how often other work ran before `work` was done. */
async function othersBeside(work: Promise<unknown>): Promise<number> {
  let count = 0;
  let isDone = false;
  const other = () => {
    if (isDone) return;
    count += 1;
    setImmediate(other);
  };
  setImmediate(other);
  await work.finally(() => (isDone = true));
  return count;
}

test('when work takes longer than a slice, then other work runs in between', async () => {
  expect(await othersBeside(inSlices(sum(3, STEP_MS)))).toBeGreaterThan(0);
});

test('when work runs in slices or at once, then the result is the same', async () => {
  expect(await inSlices(sum(4, STEP_MS))).toBe(10);
  expect(atOnce(sum(4, 0))).toBe(10);
});

test('when a document has a hundred thousand characters that are not Latin, then other work runs while they are judged', async () => {
  const lineItems = Array.from({ length: 70 }, () => ({ description: han(1_500), qty: 1, rate: 10 }));

  expect(await othersBeside(drawnDocument({ lineItems } as unknown as PrintableDocument))).toBeGreaterThan(0);
});
