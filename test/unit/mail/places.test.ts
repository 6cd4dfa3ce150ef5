// Places for the work of accounts: few in all, and one of an account.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { openPlaces } from '../../../services/mail/places.ts';

test('when accounts ask for places, then each has one at most, no more are given than there are, and in the order of asking', async () => {
  const enter = openPlaces(2);
  const entered: string[] = [];
  const leaves = new Map<string, () => void>();
  for (const [account, work] of ['a1', 'a2', 'b1', 'c1', 'a3'].map((work) => [work[0] as string, work] as const)) {
    void enter(account).then((leave) => {
      entered.push(work);
      leaves.set(work, leave);
    });
  }
  const after = async (work?: string) => {
    if (work) leaves.get(work)?.();
    await nextTurn();
    return entered.splice(0);
  };

  expect(await after()).toEqual(['a1', 'b1']);
  expect(await after('b1')).toEqual(['c1']);
  expect(await after('a1')).toEqual(['a2']);
  expect(await after('c1')).toEqual([]);
  expect(await after('a2')).toEqual(['a3']);
});
