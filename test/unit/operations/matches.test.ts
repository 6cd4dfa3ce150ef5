// A page of matches and its number agree, whatever is made meanwhile.
import { expect, test } from '@jest/globals';
import { PAGE_SIZE } from '#libs/pages/query.ts';
import { readMatches } from '../../../services/operations/views/matches.ts';

const storeOf = (records: number[]) => ({
  search: async ({ skip, limit }: { skip: number; limit: number }) => records.slice(skip, skip + limit),
  count: async () => records.length,
});

test('when a record is made between the search and the count, then the number is that of what is shown', async () => {
  const records: number[] = [];
  const store = storeOf(records);
  const search: typeof store.search = async (slice) => {
    const found = await store.search(slice);
    records.push(1);
    return found;
  };

  expect(await readMatches(1, { ...store, search })).toEqual({ rows: [], total: 0, hasNext: false });
  expect(await readMatches(1, { ...store, search })).toEqual({ rows: [1], total: 1, hasNext: false });
});

test.each([
  { records: PAGE_SIZE, page: 1, shown: PAGE_SIZE, hasNext: false },
  { records: PAGE_SIZE + 1, page: 1, shown: PAGE_SIZE, hasNext: true },
  { records: PAGE_SIZE + 1, page: 2, shown: 1, hasNext: false },
  { records: PAGE_SIZE, page: 2, shown: 0, hasNext: false },
])('when there are $records matches, then page $page shows $shown and counts them all', async (given) => {
  const { rows, total, hasNext } = await readMatches(
    given.page,
    storeOf(Array.from({ length: given.records }, () => 1)),
  );

  expect({ shown: rows.length, total, hasNext }).toEqual({
    shown: given.shown,
    total: given.records,
    hasNext: given.hasNext,
  });
});
