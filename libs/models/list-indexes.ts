// Declares the orders and filters of a list in one place, makes its indexes from them, and picks the index that a query
// walks.
import type { Schema } from 'mongoose';
import type { Filter } from './keyset.ts';

/** The path of a stored field, also inside of embedded records: `client_id`, `allocations.invoice_id`. */
export type FieldOf<Stored> = {
  [Name in keyof Stored & string]: Name | `${Name}.${InnerOf<NonNullable<Stored[Name]>>}`;
}[keyof Stored & string];

type InnerOf<Value> = Value extends readonly (infer Item)[]
  ? keyof Item & string
  : Value extends string | number | boolean | Date
    ? never
    : keyof Value & string;

/** The listing of one kind of record. @template Key the sort keys of callers. */
export interface ListingOf<Stored, Key extends string> extends Listing<FieldOf<Stored>, Key> {
  // A cursor holds the value of the field, which it does not find inside of an embedded record.
  readonly orders: Readonly<Record<Key, keyof Stored & string>>;
}

export interface Listing<Field extends string = string, Key extends string = string> {
  /** Fields with a filter by equality. Each of them has an index for every order. */
  readonly filters: readonly Field[];
  /** The stored field of each sort key. The id stands for the time of creation, because it carries the time. */
  readonly orders: Readonly<Record<Key, Field>>;
  /** The order when the caller names none. A leading minus means descending. */
  readonly standard: Key | `-${Key}`;
  /**
   * Orders of which callers may ask a range. A list with a range is in that order, because its index is the one to
   * walk.
   */
  readonly ranges?: readonly Key[];
  /** Stored fields that no list shows or reads. */
  readonly omitted?: readonly Field[];
  /** Fields with a filter that matches one record at most. */
  readonly unique?: readonly Field[];
  /**
   * Stored fields at the end of the indexes of an order, so that a filter on both is counted without reading records.
   */
  readonly covers?: Readonly<Partial<Record<Field, readonly Field[]>>>;
}

/** Adds the indexes that a listing needs to a schema: one per order, and one per order and filter. */
export function addListIndexes(schema: Schema, listing: Listing): void {
  const made = Object.values(listing.orders).flatMap((field) =>
    [undefined, ...listing.filters].map((filter) => indexOf(listing, field, filter)),
  );
  // A field that is both an order and a filter would have the same index twice.
  for (const keys of new Map(made.map((index) => [JSON.stringify(index), index])).values()) schema.index(keys);
  for (const name of listing.unique ?? []) schema.index({ account_id: 1, [name]: 1 });
}

/**
 * Returns the index to walk. Without a hint the database tries every index that begins with the account, even those
 * that need a sort. At offset 10,000 such a trial costs more than the page, and with a range it may even sort in
 * memory.
 */
export function hintFor(listing: Listing, filter: Filter, field: string): Record<string, 1> {
  return indexOf(listing, field, filterOf(listing, filter));
}

/** Returns the filter that an index serves. The database checks further filters record by record. */
export function filterOf(listing: Listing, filter: Filter): string | undefined {
  return listing.filters.find((name) => name in filter);
}

/**
 * Returns the index that holds a filter and a bound on the ordering field ("sent, and due before today"). A count along
 * it reads no record.
 */
export function coveringHint(listing: Listing, filter: Filter): Record<string, 1> | undefined {
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
