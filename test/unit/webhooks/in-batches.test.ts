// Single calls that share batches.
import { expect, test } from '@jest/globals';
import { inBatches } from '../../../services/webhooks/loading/in-batches.ts';

function recording() {
  const batches: number[][] = [];
  const double = inBatches(async (items: number[]) => {
    batches.push(items);
    return items.map((item) => 2 * item);
  });
  return { batches, double };
}

test('when items come at about the same time, then they share a batch', async () => {
  const { batches, double } = recording();
  const results = await Promise.all([1, 2, 3].map(double));

  expect(results).toEqual([2, 4, 6]);
  expect(batches).toEqual([[1, 2, 3]]);
});

test('when more items come than a batch may have, then there are more batches, in order, and each call has its own result', async () => {
  const { batches, double } = recording();
  const items = Array.from({ length: 501 }, (_, index) => index);

  expect(await Promise.all(items.map(double))).toEqual(items.map((item) => 2 * item));
  expect(batches.map(({ length }) => length)).toEqual([200, 200, 101]);
});

test('when a batch fails, then each of its items fails, and the next batch does not', async () => {
  let isWell = false;
  const work = inBatches(async (items: string[]) => {
    if (!isWell) throw new Error('away');
    return items;
  });
  const outcomes = await Promise.allSettled([work('first'), work('second'), work('third')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  isWell = true;
  expect(await work('fourth')).toBe('fourth');
});
