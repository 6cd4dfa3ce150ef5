// Pages that continue after a record instead of skipping a number of them, so that records that come and go meanwhile
// move no page.
import { type Id, type StoredId, storedId } from './tenant.ts';

/** The end of a page: the place of its last record in the order of the list. */
export interface Position {
  /**
   * The value of the field that orders the list. Null when that is the id alone, undefined when it has to be read from
   * the record.
   */
  value: string | number | Date | null | undefined;
  id: Id;
}

export interface Order {
  /** The stored field, or `_id` for the order of creation. Records with equal values are in the order of ids. */
  field: string;
  direction: 1 | -1;
}

/** The order for records whose ids do not follow their creation. */
export const NEWEST_FIRST: Order = { field: 'created_at', direction: -1 };

export type Filter = Readonly<Record<string, unknown>>;

/**
 * Returns the sort of a list in this order, for an index that ends in the field and the id. Where `filter` has one
 * value of the field, only the id is sorted. The database can merge several ranges of another field, such as null, only
 * by the id.
 */
export function sortOf({ field, direction }: Order, filter: Filter = {}): Record<string, 1 | -1> {
  const isTied = Object.hasOwn((filter[field] ?? {}) as object, '$eq');
  return field === '_id' || isTied ? { _id: direction } : { [field]: direction, _id: direction };
}

/** Returns the place of a record in an order. */
export function positionOf(record: { _id: StoredId }, { field }: Order): Position {
  const value = field === '_id' ? null : ((record as unknown as Record<string, Position['value']>)[field] ?? null);
  return { value, id: String(record._id) };
}

/**
 * Returns filters for the records that match `filter` and come after `position`. Read one after the other until the
 * page is full. Each filter is one range of the index, so the cost does not depend on the distance from the start of
 * the list. A single `$or` would not do: the database merges its walks only while the filter is simple, and otherwise
 * reads everything and sorts. For the same reason the field that the index begins with must have one value, see
 * eachValue.
 */
export function filtersAfter(filter: Filter, { field, direction }: Order, { value, id }: Position): Filter[] {
  const beyond = direction === 1 ? '$gt' : '$lt';
  const further = (name: string, bound: object) => ({ ...filter, [name]: { ...rangeOf(filter[name]), ...bound } });
  if (field === '_id') return [further('_id', { [beyond]: storedId(id) })];
  const tied = { ...further(field, { $eq: value }), _id: { ...rangeOf(filter['_id']), [beyond]: storedId(id) } };
  // Null comes first in the order, and no comparison operator holds between null and other values.
  if (value === null) return direction === 1 ? [tied, further(field, { $ne: null })] : [tied];
  const last = direction === -1 && filter[field] === undefined ? [further(field, { $eq: null })] : [];
  return [tied, further(field, { [beyond]: value }), ...last];
}

/**
 * Reads at most `limit` records from one filter after the other. If the ordering value of a record is raised between
 * two of them, the page may have the record twice. In ascending order no record is left out.
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

/** Returns a filter for each value of `name`, where the filter allows several (`$in`). */
export function eachValue(filter: Filter, name: string | undefined): Filter[] {
  const values = name === undefined ? undefined : (filter[name] as { $in?: unknown[] } | undefined)?.$in;
  if (name === undefined || values === undefined) return [filter];
  return values.map((value) => withValue(filter, name, value));
}

/**
 * Sets the value in a filter, and drops alternatives that the value rules out. The database would walk each alternative
 * and sort.
 */
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

/** Merges lists that are each in order. */
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

/** Compares as the database does: null first, text by its bytes. */
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
