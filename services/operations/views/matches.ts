// A page of matches with their number.
import { shownOf, sliceOf } from '#libs/pages/query.ts';

export interface Matches<Found> {
  rows: Found[];
  total: number;
  hasNext: boolean;
}

/**
 * Reads a page and then counts, so that a record made meanwhile is never counted without being shown. The last page needs no count.
 * @param number the page, from 1.
 */
export async function readMatches<Found>(
  number: number,
  { search, count }: { search(slice: ReturnType<typeof sliceOf>): Promise<Found[]>; count(): Promise<number> },
): Promise<Matches<Found>> {
  const slice = sliceOf(number);
  const { rows, hasNext } = shownOf(await search(slice));
  const isLast = !hasNext && (rows.length > 0 || number === 1);
  return { rows, hasNext, total: isLast ? slice.skip + rows.length : await count() };
}
