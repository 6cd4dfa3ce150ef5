// How many records an account has of each kind and status: lists have their totals from here. The transactions that make, change and remove
// records add up what they change, and the next update of the account's counter takes it along.
import type { Session } from '../mongo/connection.ts';
import { perTransaction } from '../mongo/per-transaction.ts';

/** How the records of a collection are counted. */
export interface CountedBy<Stored> {
  /** The count that a record belongs to; each belongs to one. */
  keyOf: (record: Stored) => string;
  /**
   * For counting them all: expressions of few values, by the fields that `keyOf` reads. A record of these fields alone must have the key
   * of all records that it stands for.
   */
  groups: Readonly<Record<string, unknown>>;
  /** Holds these fields, so that no record is read for it. */
  index: Readonly<Record<string, 1>>;
}

/** For records without a status. */
export const COUNTED_TOGETHER: CountedBy<object> = {
  keyOf: () => 'all',
  groups: {},
  index: { account_id: 1, _id: 1 },
};

/** By count. Of an account that has none yet it is undefined, and its lists count records. */
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

/** The name of a count, such as `invoices/Draft`. */
export function countName({ collection }: Counted, key: string): string {
  return `${collection.name}/${key}`;
}

/** Counts a record that is made (`before` undefined), changed or removed (`after` undefined). The next update of the account's counter stores it. */
export function countChange(session: Session, records: Counted, before: object | undefined, after: object | undefined) {
  const { countedBy } = records;
  if (!countedBy) return;
  const keyOf = countedBy.keyOf as (record: object) => string;
  if (before) add(session, countName(records, keyOf(before)), -1);
  if (after) add(session, countName(records, keyOf(after)), 1);
}

/** What no update of the counter has written yet; its caller writes it. Undefined when there is nothing. */
export function takeCountChanges(session: Session): ReadonlyMap<string, number> | undefined {
  const all = changesIn(session);
  if (all.size === 0) return undefined;
  const taken = new Map(all);
  all.clear();
  return taken;
}

/** A counter that this update makes. */
const IS_NEW = { $eq: ['$$ROOT', { _id: '$_id' }] };

/**
 * The field `counts` for the first stage of an update. A new counter begins without any count; one from before there were counts goes
 * without the field until it is made, see recount.ts.
 */
export const COUNTS_BEGUN = { $ifNull: ['$counts', { $cond: [IS_NEW, { $literal: {} }, '$$REMOVE'] }] };

/** The stages that follow it, one for each count: the database allows many stages, and few levels of an expression. */
export function countStages(changed: ReadonlyMap<string, number> = new Map()): object[] {
  return [...changed].map(([name, by]) => {
    const field = { $literal: name };
    const sum = { $add: [{ $ifNull: [{ $getField: { field, input: '$counts' } }, 0] }, by] };
    // One of 0 goes, so that statuses which are out of use do not pile up.
    const counts = { $setField: { field, input: '$counts', value: { $cond: [{ $eq: [sum, 0] }, '$$REMOVE', sum] } } };
    return { $set: { counts: { $cond: [{ $eq: [{ $type: '$counts' }, 'missing'] }, '$$REMOVE', counts] } } };
  });
}
