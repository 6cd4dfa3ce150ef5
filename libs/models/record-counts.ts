// The numbers of records that an account has of each kind and status, from which lists have their totals. A transaction
// that makes, changes or removes records adds up the differences, and the next update of the account's counter writes
// them.
import type { Session } from '../mongo/connection.ts';
import { perTransaction } from '../mongo/per-transaction.ts';

/** The way in which the records of a collection are counted. */
export interface CountedBy<Stored> {
  /** Returns the one count that a record belongs to. */
  keyOf: (record: Stored) => string;
  /**
   * Expressions with few values, by the fields that `keyOf` reads, for counting all records. A record of these fields
   * alone must have the same key as all records that it stands for.
   */
  groups: Readonly<Record<string, unknown>>;
  /** An index with these fields, so that a count reads no record. */
  index: Readonly<Record<string, 1>>;
}

/** The counting of records without a status. */
export const COUNTED_TOGETHER: CountedBy<object> = {
  keyOf: () => 'all',
  groups: {},
  index: { account_id: 1, _id: 1 },
};

/** The number of records by count. Undefined for an account without counts; its lists then count records. */
export type RecordCounts = Readonly<Record<string, number>>;

interface Counted {
  readonly collection: { readonly name: string };
  readonly countedBy?: CountedBy<never> | undefined;
}

const changesIn = perTransaction(() => new Map<string, number>());

function add(session: Session, name: string, by: number): void {
  const all = changesIn(session);
  const sum = (all.get(name) ?? 0) + by;
  if (sum === 0) all.delete(name);
  else all.set(name, sum);
}

/** Returns the name of a count, such as `invoices/Draft`. */
export function countName({ collection }: Counted, key: string): string {
  return `${collection.name}/${key}`;
}

/**
 * Counts a record that is made (`before` undefined), changed or removed (`after` undefined). The next update of the
 * account's counter stores it.
 */
export function countChange(session: Session, records: Counted, before: object | undefined, after: object | undefined) {
  const { countedBy } = records;
  if (!countedBy) return;
  const keyOf = countedBy.keyOf as (record: object) => string;
  if (before) add(session, countName(records, keyOf(before)), -1);
  if (after) add(session, countName(records, keyOf(after)), 1);
}

/**
 * Takes the changes that no update of the counter has written yet. The caller writes them.
 * @returns undefined when there are none.
 */
export function takeCountChanges(session: Session): ReadonlyMap<string, number> | undefined {
  const all = changesIn(session);
  if (all.size === 0) return undefined;
  const taken = new Map(all);
  all.clear();
  return taken;
}

/** True for a counter that this update makes. */
const IS_NEW = { $eq: ['$$ROOT', { _id: '$_id' }] };

/**
 * The field `counts` for the first stage of an update. A new counter begins with an empty one. A counter that is older
 * than counts has none until recount.ts makes it.
 */
export const COUNTS_BEGUN = { $ifNull: ['$counts', { $cond: [IS_NEW, { $literal: {} }, '$$REMOVE'] }] };

/**
 * Returns the stages that follow it, one per count: the database allows many stages, and few levels of an expression.
 */
export function countStages(changed: ReadonlyMap<string, number> = new Map()): object[] {
  return [...changed].map(([name, by]) => {
    const field = { $literal: name };
    const sum = { $add: [{ $ifNull: [{ $getField: { field, input: '$counts' } }, 0] }, by] };
    // A count of 0 is removed, so that statuses that are out of use do not pile up.
    const counts = { $setField: { field, input: '$counts', value: { $cond: [{ $eq: [sum, 0] }, '$$REMOVE', sum] } } };
    return { $set: { counts: { $cond: [{ $eq: [{ $type: '$counts' }, 'missing'] }, '$$REMOVE', counts] } } };
  });
}
