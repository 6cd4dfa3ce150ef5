// Pages that go on after a record instead of skipping a number of them: records that come and go meanwhile move no page.
import { type Id, type StoredId, storedId } from './tenant.ts';

/** Where a page ends: the place of its last record in the order of the list. */
export interface Position {
  /** What the list is ordered by: null when that is the id alone, undefined when it is to be read from the record. */
  value: string | number | Date | null | undefined;
  id: Id;
}

export interface Order {
  /** The stored field; `_id` for the order of creation. Ties are in the order of ids. */
  field: string;
  direction: 1 | -1;
}

/** For records whose ids do not follow their creation. */
export const NEWEST_FIRST: Order = { field: 'created_at', direction: -1 };

export type Filter = Readonly<Record<string, unknown>>;

/**
 * @returns the sort of a list in this order, for an index that ends in the field and the id. Where `filter` has one value of the field,
 * the id alone is in order: of an index with several ranges of another field, such as null, the database merges them only by it.
 */
export function sortOf({ field, direction }: Order, filter: Filter = {}): Record<string, 1 | -1> {
  const isTied = Object.hasOwn((filter[field] ?? {}) as object, '$eq');
  return field === '_id' || isTied ? { _id: direction } : { [field]: direction, _id: direction };
}

export function positionOf(record: { _id: StoredId }, { field }: Order): Position {
  const value = field === '_id' ? null : ((record as unknown as Record<string, Position['value']>)[field] ?? null);
  return { value, id: String(record._id) };
}

/**
 * What matches `filter` and comes after `position`, as filters to be read one after the other until the page is full. Each is one range
 * of the index, so the cost does not depend on how far down the list the position is. (Of a single `$or` of them the database makes
 * one merged walk only while the filter itself is simple; otherwise it reads everything and sorts.) For the same reason the field that
 * the index begins with must have one value: see eachValue.
 */
export function filtersAfter(filter: Filter, { field, direction }: Order, { value, id }: Position): Filter[] {
  const beyond = direction === 1 ? '$gt' : '$lt';
  const further = (name: string, bound: object) => ({ ...filter, [name]: { ...rangeOf(filter[name]), ...bound } });
  if (field === '_id') return [further('_id', { [beyond]: storedId(id) })];
  const tied = { ...further(field, { $eq: value }), _id: { ...rangeOf(filter['_id']), [beyond]: storedId(id) } };
  // No comparison holds between null, which comes first, and anything else.
  if (value === null) return direction === 1 ? [tied, further(field, { $ne: null })] : [tied];
  const last = direction === -1 && filter[field] === undefined ? [further(field, { $eq: null })] : [];
  return [tied, further(field, { [beyond]: value }), ...last];
}

/**
 * Reads at most `limit` records from one filter after the other.
 * A record whose value of the order is raised between two of them may come twice in a page, and is never left out in ascending order.
 */
export async function readThrough<Stored>(
  filters: readonly Filter[],
  limit: number,
  read: (filter: Filter, limit: number) => Promise<Stored[]>,
): Promise<Stored[]> {
  const records: Stored[] = [];
  for (const filter of filters) {
    if (records.length >= limit) break;
    records.push(...(await read(filter, limit - records.length)));
  }
  return records;
}

/** A filter for each value that `name` may have, where it may have several (`$in`). */
export function eachValue(filter: Filter, name: string | undefined): Filter[] {
  const values = name === undefined ? undefined : (filter[name] as { $in?: unknown[] } | undefined)?.$in;
  if (name === undefined || values === undefined) return [filter];
  return values.map((value) => withValue(filter, name, value));
}

/** An alternative that only the value decides is decided here: the database would walk each alternative and sort. */
function withValue({ $or: alternatives, ...filter }: Filter, name: string, value: unknown): Filter {
  const set = { ...filter, [name]: value };
  if (!alternatives) return set;
  const isClear = (alternatives as Filter[]).every(({ [name]: wanted }) => typeof wanted !== 'object');
  if (!isClear) return { ...set, $or: alternatives };
  const possible = (alternatives as Filter[]).flatMap(({ [name]: wanted, ...others }) =>
    wanted === undefined || wanted === value ? [others] : [],
  );
  if (possible.some((others) => Object.keys(others).length === 0)) return set;
  return possible.length === 1 ? { ...set, $and: possible } : { ...set, $or: possible };
}

/** One list of several that are in order each. */
export function mergeInOrder<Stored extends { _id: StoredId }>(lists: readonly Stored[][], order: Order): Stored[] {
  const [only, ...others] = lists;
  if (only && others.length === 0) return only;
  const keyed = lists.flat().map((record) => ({ record, at: positionOf(record, order) }));
  return keyed
    .toSorted(
      (one, other) => order.direction * (compared(one.at.value, other.at.value) || compared(one.at.id, other.at.id)),
    )
    .map(({ record }) => record);
}

/** As the database compares: null first, text by its bytes. */
function compared(one: Position['value'], other: Position['value']): number {
  if (one == null || other == null) return Number(one != null) - Number(other != null);
  if (typeof one === 'string' && typeof other === 'string') return Buffer.compare(Buffer.from(one), Buffer.from(other));
  return Number(one) - Number(other);
}

function rangeOf(condition: unknown): object {
  if (condition === undefined) return {};
  const isOperators =
    typeof condition === 'object' && condition !== null && Object.getPrototypeOf(condition) === Object.prototype;
  return isOperators ? condition : { $eq: condition };
}
