// Lists of an account's records: one declaration gives a collection's indexes, what callers may sort by, and its pages.
import type { Schema } from 'mongoose';
import { validationFailed } from '../errors.ts';
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
import { driverOf, type Owned, type Records } from './records.ts';
import { requireAccount, type StoredId, storedId } from './tenant.ts';

export interface Listing {
  /** Fields with a filter by equality: with each of them every order has an index. */
  readonly filters: readonly string[];
  /** Sort key of callers → stored field. Creation is the id: it carries the time. */
  readonly orders: Readonly<Record<string, string>>;
  /** The order when the caller names none; a leading minus means descending. */
  readonly standard: string;
  /** Stored fields that no list shows or reads. */
  readonly omitted?: readonly string[];
  /** Fields with a filter that finds one record at most. */
  readonly unique?: readonly string[];
  /** Stored fields at the end of the indexes of an order, so that a filter on both is counted without reading records. */
  readonly covers?: Readonly<Record<string, readonly string[]>>;
}

export interface Wanted {
  /** Stored values and operators, `account_id` among them. Nothing is cast. */
  filter: Readonly<Record<string, unknown>>;
  /** The same condition in the form that an index alone can count; `filter` unless given. */
  counted?: Readonly<Record<string, unknown>>;
  /** A key of `orders`, with a minus when descending. */
  sort: string;
  limit: number;
  offset: number;
  /** The page begins after it, and `offset` is 0. */
  after?: Position | undefined;
}

export interface Page<Stored> {
  records: Stored[];
  /** How many records match in all, wherever the page is. */
  total: number;
  /** Where the page ends, when there is more. */
  next?: Position;
}

/** A list must not run on in the database when no caller waits for it any more. */
export const LIST_LIMIT_MS = 5_000;

export function addListIndexes(schema: Schema, listing: Listing): void {
  for (const field of Object.values(listing.orders)) {
    for (const filter of [undefined, ...listing.filters]) schema.index(indexOf(listing, field, filter));
  }
  for (const name of listing.unique ?? []) schema.index({ account_id: 1, [name]: 1 });
}

/**
 * @returns the page with what is needed to go on.
 * @throws AppError 400 when the page begins after a record whose place only the record knows, and which is gone.
 */
export async function findPage<Stored extends Owned>(
  model: Records<Stored>,
  listing: Listing,
  { filter, counted = filter, sort, limit, offset, after }: Wanted,
): Promise<Page<Stored>> {
  requireAccount(filter['account_id'], `A list of ${model.modelName}`);
  const order = orderOf(listing, sort);
  const unique = listing.unique?.find((name) => name in filter);
  const hint: Record<string, 1> = unique ? { account_id: 1, [unique]: 1 } : hintFor(listing, filter, order.field);
  const begin = after && (await located(model, filter, order, after));
  const projection = Object.fromEntries((listing.omitted ?? []).map((name) => [name, 0]));
  const read = (part: Filter, most: number) =>
    driverOf(model)
      .find(part, {
        // One record is in every order.
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
    // One more than the page shows whether there is another one.
    if (!begin) return read(filter, limit + 1);
    const branches = eachValue(filter, filterOf(listing, filter));
    const lists = branches.map((branch) => readThrough(filtersAfter(branch, order, begin), limit + 1, read));
    return mergeInOrder(await Promise.all(lists), order);
  };
  const [records, total] = await Promise.all([
    readAll(),
    countAlong(unique ? hint : (coveringHint(listing, counted) ?? hint), model, counted),
  ]);
  return { ...pageOf(records as unknown as Stored[], limit, order), total };
}

/**
 * A page of records whose ids do not follow their creation, newest first.
 * @param filter names the account. @param hint of an index that ends in the time of creation and the id.
 */
export async function newestFirst<Stored extends Pick<Owned, '_id'>>(
  collection: Pick<ReturnType<typeof driverOf>, 'find'>,
  filter: Filter,
  { limit, offset, after }: Pick<Wanted, 'limit' | 'offset' | 'after'>,
  hint?: string | Record<string, 1 | -1>,
): Promise<Pick<Page<Stored>, 'records' | 'next'>> {
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
  if (!record) throw validationFailed({ after: ['after stands at a record that is gone: begin with the first page'] });
  return positionOf(record, order);
}

/** @param found what the page has, and one record more if there is one. */
export function pageOf<Stored extends Pick<Owned, '_id'>>(
  found: Stored[],
  limit: number,
  order: Order,
): Pick<Page<Stored>, 'records' | 'next'> {
  const records = found.slice(0, limit);
  const last = records.at(-1);
  return found.length > limit && last ? { records, next: positionOf(last, order) } : { records };
}

/** How many records match. The command counts index keys where countDocuments runs a pipeline over them: several times cheaper for many. */
export async function countAlong(
  hint: object,
  model: Pick<Records<Owned>, 'db' | 'collection'>,
  filter: object,
): Promise<number> {
  const { db } = model.db;
  if (!db) throw new Error('not connected');
  const { n } = await db.command({
    count: model.collection.name,
    query: filter,
    readConcern: { level: 'majority' },
    maxTimeMS: LIST_LIMIT_MS,
    hint,
  });
  return n as number;
}

function orderOf(listing: Listing, sort: string): Order {
  const isDescending = sort.startsWith('-');
  const field = listing.orders[isDescending ? sort.slice(1) : sort];
  if (!field) throw new Error(`${sort} is not an order of this list`);
  return { field, direction: isDescending ? -1 : 1 };
}

/**
 * The index to walk. Left to choose, the database tries every index that begins with the account, those that need a sort among
 * them, and a trial of a page at offset 10,000 costs more than the page; with a range it may even sort in memory.
 */
function hintFor(listing: Listing, filter: Wanted['filter'], field: string): Record<string, 1> {
  return indexOf(listing, field, filterOf(listing, filter));
}

/** The filter that an index serves; further ones are looked at record by record. */
function filterOf(listing: Listing, filter: Wanted['filter']): string | undefined {
  return listing.filters.find((name) => name in filter);
}

/** The index that holds a filter and a bound on what a list is ordered by ("sent, and due before today"): a count along it reads no record. */
function coveringHint(listing: Listing, filter: Wanted['filter']): Record<string, 1> | undefined {
  const { $or: either, ...others } = filter;
  const names = new Set([others, ...((either as object[] | undefined) ?? [])].flatMap(Object.keys));
  names.delete('account_id');
  const [equal, ...more] = listing.filters.filter((name) => names.has(name));
  const [bound, ...further] = Object.values(listing.orders).filter((field) => names.has(field));
  if (more.length > 0 || further.length > 0 || bound === undefined) return undefined;
  for (const name of [equal, bound, ...(listing.covers?.[bound] ?? [])]) if (name !== undefined) names.delete(name);
  return names.size === 0 ? indexOf(listing, bound, equal) : undefined;
}

function indexOf({ covers }: Listing, field: string, filter?: string): Record<string, 1> {
  const names = ['account_id', ...(filter ? [filter] : []), ...(field === '_id' ? [] : [field]), '_id'];
  return Object.fromEntries([...names, ...(covers?.[field] ?? [])].map((name) => [name, 1] as const));
}
