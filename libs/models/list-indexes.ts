// One declaration gives a list its orders, its filters and its indexes, and says which index a query walks.
import type { Schema } from 'mongoose';
import type { Filter } from './keyset.ts';

/** A stored field of a record, or a field of the records in one: `client_id`, `allocations.invoice_id`. */
export type FieldOf<Stored> = {
  [Name in keyof Stored & string]: Name | `${Name}.${InnerOf<NonNullable<Stored[Name]>>}`;
}[keyof Stored & string];

type InnerOf<Value> = Value extends readonly (infer Item)[]
  ? keyof Item & string
  : Value extends string | number | boolean | Date
    ? never
    : keyof Value & string;

/** The listing of one kind of record. @template Key what callers sort by. */
export type ListingOf<Stored, Key extends string> = Listing<FieldOf<Stored>, Key>;

export interface Listing<Field extends string = string, Key extends string = string> {
  /** Fields with a filter by equality: with each of them every order has an index. */
  readonly filters: readonly Field[];
  /** Sort key of callers → stored field. Creation is the id: it carries the time. */
  readonly orders: Readonly<Record<Key, Field>>;
  /** The order when the caller names none; a leading minus means descending. */
  readonly standard: Key | `-${Key}`;
  /** Orders that callers may ask a range of. A list with a range is in its order: its index is the one to walk. */
  readonly ranges?: readonly Key[];
  /** Stored fields that no list shows or reads. */
  readonly omitted?: readonly Field[];
  /** Fields with a filter that finds one record at most. */
  readonly unique?: readonly Field[];
  /** Stored fields at the end of the indexes of an order, so that a filter on both is counted without reading records. */
  readonly covers?: Readonly<Partial<Record<Field, readonly Field[]>>>;
}

export function addListIndexes(schema: Schema, listing: Listing): void {
  for (const field of Object.values(listing.orders)) {
    for (const filter of [undefined, ...listing.filters]) schema.index(indexOf(listing, field, filter));
  }
  for (const name of listing.unique ?? []) schema.index({ account_id: 1, [name]: 1 });
}

/**
 * The index to walk. Left to choose, the database tries every index that begins with the account, those that need a sort among
 * them, and a trial of a page at offset 10,000 costs more than the page; with a range it may even sort in memory.
 */
export function hintFor(listing: Listing, filter: Filter, field: string): Record<string, 1> {
  return indexOf(listing, field, filterOf(listing, filter));
}

/** The filter that an index serves; further ones are looked at record by record. */
export function filterOf(listing: Listing, filter: Filter): string | undefined {
  return listing.filters.find((name) => name in filter);
}

/** The index that holds a filter and a bound on what a list is ordered by ("sent, and due before today"): a count along it reads no record. */
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
