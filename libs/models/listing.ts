// Reads pages of an account's records, each along an index of its list.
import { fieldProblem } from '../errors.ts';
import {
  eachValue,
  type Filter,
  filtersAfter,
  mergeInOrder,
  NEWEST_FIRST,
  type Order,
  type Position,
  positionOf,
  readThrough,
  sortOf,
} from './keyset.ts';
import { filterOf, hintFor, type Listing } from './list-indexes.ts';
import { LIST_LIMIT_MS, listTotal } from './list-total.ts';
import { driverOf, type Owned, type Records } from './records.ts';
import type { StatusFilter } from './status-filter.ts';
import { requireAccount, type StoredId, storedId } from './tenant.ts';

export interface Wanted {
  /** Stored values and operators, including `account_id`. The values are not cast. */
  filter: Filter;
  /** A condition on the status, in addition to `filter`. */
  status?: StatusFilter | undefined;
  /** A key of `orders`, with a minus for descending. */
  sort: string;
  limit: number;
  offset: number;
  /** The position after which the page begins. `offset` is then 0. */
  after?: Position | undefined;
}

export interface RecordPage<Stored> {
  records: Stored[];
  /** The number of all records that match, whatever the page. */
  total: number;
  /** The end of the page, when there are more records. */
  next?: Position;
}

/**
 * Reads a page.
 * @returns it with the position at which the next one begins.
 * @throws AppError 400 when the page begins after a record that is gone and whose place only the record had.
 */
export async function findPage<Stored extends Owned>(
  model: Records<Stored>,
  listing: Listing,
  { filter: others, status, sort, limit, offset, after }: Wanted,
): Promise<RecordPage<Stored>> {
  const filter: Filter = { ...others, ...status?.walked };
  requireAccount(filter['account_id'], `A list of ${model.modelName}`);
  const order = orderOf(listing, sort);
  const unique = listing.unique?.find((name) => name in filter);
  const hint: Record<string, 1> = unique ? { account_id: 1, [unique]: 1 } : hintFor(listing, filter, order.field);
  const begin = after && (await located(model, filter, order, after));
  const projection = Object.fromEntries((listing.omitted ?? []).map((name) => [name, 0]));
  const read = (part: Filter, most: number) =>
    driverOf(model)
      .find(part, {
        // A filter that matches one record needs no order.
        ...(unique ? {} : { sort: sortOf(order, part) }),
        skip: offset,
        limit: most,
        batchSize: most + 1,
        projection,
        maxTimeMS: LIST_LIMIT_MS,
        hint,
      })
      .toArray();
  const readAll = async () => {
    // One record more than the page shows whether there is a next page.
    if (!begin) return read(filter, limit + 1);
    const branches = eachValue(filter, filterOf(listing, filter));
    const lists = branches.map((branch) => readThrough(filtersAfter(branch, order, begin), limit + 1, read));
    return mergeInOrder(await Promise.all(lists), order);
  };
  const [records, total] = await Promise.all([readAll(), listTotal(model, listing, { filter: others, status, hint })]);
  return { ...pageOf(records as unknown as Stored[], limit, order), total };
}

/**
 * Returns a page of records whose ids do not follow their creation, newest first.
 * @param filter names the account.
 * @param hint of an index that ends in the time of creation and the id.
 */
export async function newestFirst<Stored extends Pick<Owned, '_id'>>(
  collection: Pick<ReturnType<typeof driverOf>, 'find'>,
  filter: Filter,
  { limit, offset, after }: Pick<Wanted, 'limit' | 'offset' | 'after'>,
  hint?: string | Record<string, 1 | -1>,
): Promise<Pick<RecordPage<Stored>, 'records' | 'next'>> {
  const read = (part: Filter, most: number) =>
    collection
      .find(part, {
        sort: sortOf(NEWEST_FIRST, part),
        skip: offset,
        limit: most,
        batchSize: most + 1,
        maxTimeMS: LIST_LIMIT_MS,
        ...(hint ? { hint } : {}),
      })
      .toArray();
  const parts = after ? filtersAfter(filter, NEWEST_FIRST, after) : [filter];
  const records = (await readThrough(parts, limit + 1, read)) as unknown as Stored[];
  return pageOf(records, limit, NEWEST_FIRST);
}

async function located(
  model: Records<Owned>,
  filter: Wanted['filter'],
  order: Order,
  after: Position,
): Promise<Position> {
  if (after.value !== undefined) return after;
  const own = { account_id: filter['account_id'] as StoredId, _id: storedId(after.id) };
  const record = await driverOf(model).findOne(own, { projection: { [order.field]: 1 } });
  if (!record) throw fieldProblem('after', 'cursor_gone');
  return positionOf(record, order);
}

/** Cuts off the additional record. @param found the records of the page, and one more if there is one. */
function pageOf<Stored extends Pick<Owned, '_id'>>(
  found: Stored[],
  limit: number,
  order: Order,
): Pick<RecordPage<Stored>, 'records' | 'next'> {
  const records = found.slice(0, limit);
  const last = records.at(-1);
  return found.length > limit && last ? { records, next: positionOf(last, order) } : { records };
}

function orderOf(listing: Listing, sort: string): Order {
  const isDescending = sort.startsWith('-');
  const field = listing.orders[isDescending ? sort.slice(1) : sort];
  if (!field) throw new Error(`${sort} is not an order of this list`);
  return { field, direction: isDescending ? -1 : 1 };
}
