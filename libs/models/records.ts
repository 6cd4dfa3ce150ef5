// One account's records straight from the driver: nothing is hydrated, and no call works without the account.
import { type Connection, type Model, model, type mongo, type Schema } from 'mongoose';
import type { Session } from '../mongo/connection.ts';
import { changeTime } from './counter.ts';
import { type CountedBy, countChange } from './record-counts.ts';
import { countStored, sizeOf } from './stored-bytes.ts';
import { type Id, type StoredId, storedId } from './tenant.ts';

export interface Owned {
  _id: StoredId;
  account_id: StoredId;
}

/** What `newRecord` gives every record that callers make and change. */
export interface Stamped extends Owned {
  created_at: Date;
  updated_at: Date;
}

/** Any model of records that belong to accounts. */
export interface Records<Stored extends Owned> {
  readonly modelName: string;
  readonly collection: { readonly name: string };
  readonly db: Connection;
  /** Absent where lists count the records. */
  readonly countedBy?: CountedBy<never> | undefined;
  /** Carries the type only; never set. */
  readonly stored?: Stored;
}

// biome-ignore lint/suspicious/noExplicitAny: the types of a schema know no unions and no literal strings.
type RecordModel<Stored extends Owned> = Model<any> & Records<Stored>;

/** A model whose records look like `Stored`. @param countedBy when the account's counter keeps how many there are. */
export function recordsOf<Stored extends Owned>(
  name: string,
  schema: Schema,
  countedBy?: CountedBy<Stored>,
): RecordModel<Stored> {
  return Object.assign(model(name, schema), { countedBy }) as unknown as RecordModel<Stored>;
}

/** The driver's collection. Mongoose types it as if every id were an ObjectId. */
export function driverOf({ collection }: Pick<Records<Owned>, 'collection'>): mongo.Collection<Owned> {
  return collection as unknown as mongo.Collection<Owned>;
}

/** The account's record, or null when the id is unknown or another account's. */
export async function findOwn<Stored extends Owned>(
  records: Records<Stored>,
  accountId: Id,
  id: Id | StoredId,
  session?: Session,
): Promise<Stored | null> {
  const record = await driverOf(records).findOne(own(accountId, id), session ? { session } : {});
  return record as Stored | null;
}

/** The account's records with these ids, by their ids. Unknown and foreign ones are left out. */
export async function findAllOwn<Stored extends Owned>(
  records: Records<Stored>,
  accountId: Id,
  ids: Iterable<string>,
  fields: readonly (keyof Stored & string)[],
  session?: Session,
): Promise<Map<string, Stored>> {
  return findAllOwnWith(session ? { session } : {}, records, accountId, ids, fields);
}

/** As findAllOwn, with options of the driver. */
export async function findAllOwnWith<Stored extends Owned>(
  options: mongo.FindOptions,
  records: Records<Stored>,
  accountId: Id,
  ids: Iterable<string>,
  fields: readonly (keyof Stored & string)[],
): Promise<Map<string, Stored>> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return new Map();
  const found = await driverOf(records)
    .find(
      { account_id: storedId(accountId), _id: { $in: wanted.map(storedId) } },
      { projection: Object.fromEntries(fields.map((field) => [field, 1])), ...options },
    )
    .toArray();
  return new Map(found.map((record) => [String(record._id), record as unknown as Stored]));
}

/** Reads side by side, or one after the other in a transaction, which carries only one at a time. */
export async function readAll<Reads extends readonly (() => Promise<unknown>)[]>(
  session: Session | undefined,
  reads: readonly [...Reads],
): Promise<{ -readonly [Index in keyof Reads]: Awaited<ReturnType<Reads[Index]>> }> {
  if (!session) return (await Promise.all(reads.map((read) => read()))) as never;
  const results: unknown[] = [];
  for (const read of reads) results.push(await read());
  return results as never;
}

/**
 * The record, locked because another is about to refer to it: a transaction that deletes it at the same moment conflicts with this one,
 * so that no record ever refers to a deleted one.
 */
export async function lockOwn<Stored extends Owned>(
  records: Records<Stored>,
  accountId: Id,
  id: Id | StoredId,
  session: Session,
): Promise<Stored | null> {
  const record = await driverOf(records).findOneAndUpdate(
    own(accountId, id),
    { $inc: { lock_version: 1 } },
    { session, returnDocument: 'after' },
  );
  return record as Stored | null;
}

/** As lockOwn, for records whose fields are not needed. */
export async function lockAllOwn(
  records: Pick<Records<Owned>, 'collection'>,
  accountId: Id,
  ids: Iterable<Id>,
  session: Session,
): Promise<void> {
  await driverOf(records).updateMany(
    { account_id: storedId(accountId), _id: { $in: [...new Set(ids)].toSorted().map(storedId) } },
    { $inc: { lock_version: 1 } as never },
    { session },
  );
}

/**
 * Stores a record. Fields that are undefined are not stored.
 * @param record gets its `updated_at` here, if it has one: see changeTime.
 */
export async function insertOwn<Stored extends Owned>(
  records: Records<Stored>,
  record: Stored,
  session: Session,
): Promise<void> {
  countChange(session, records, undefined, record);
  if (isStamped(record)) record.updated_at = await changeTime(session, record.account_id, record.updated_at);
  await driverOf(records).insertOne(record as Owned, { session, ignoreUndefined: true });
  countStored(session, sizeOf(record));
}

/** The fields that the record would have other values of: null, undefined and a field that was never stored are the same. */
export function changedFields<Stored extends object>(record: Stored, changes: Partial<Stored>): (keyof Stored)[] {
  const names = Object.keys(changes) as (keyof Stored)[];
  return names.filter((name) => JSON.stringify(record[name] ?? null) !== JSON.stringify(changes[name] ?? null));
}

export function isUnchanged<Stored extends object>(record: Stored, changes: Partial<Stored>): boolean {
  return changedFields(record, changes).length === 0;
}

/** Sets the given fields and `updated_at`; a field given as undefined is removed. @returns the record as it is now. */
export async function changeOwn<Stored extends Stamped>(
  records: Records<Stored>,
  record: Stored,
  changes: Partial<Stored>,
  session: Session,
): Promise<Stored> {
  countChange(session, records, record, { ...record, ...changes });
  const set = { ...changes, updated_at: await changeTime(session, record.account_id, new Date()) };
  const removed = Object.entries(changes).filter(([, value]) => value === undefined);
  await driverOf(records).updateOne(
    { _id: record._id, account_id: record.account_id },
    { $set: set, ...(removed.length > 0 ? { $unset: Object.fromEntries(removed.map(([name]) => [name, 1])) } : {}) },
    { session, ignoreUndefined: true },
  );
  const changed = { ...record, ...set };
  countStored(session, sizeOf(changed) - sizeOf(record));
  return changed;
}

export async function removeOwn<Stored extends Owned>(
  records: Records<Stored>,
  record: Stored,
  session: Session,
): Promise<void> {
  await driverOf(records).deleteOne({ _id: record._id, account_id: record.account_id }, { session });
  countChange(session, records, record, undefined);
  countStored(session, -sizeOf(record));
}

/** True when the account has a record with these values. */
export async function hasOwn(
  records: Pick<Records<Owned>, 'collection'>,
  accountId: Id,
  filter: object,
  session: Session,
): Promise<boolean> {
  const found = await driverOf(records).findOne(
    { account_id: storedId(accountId), ...filter },
    { session, projection: { _id: 1 } },
  );
  return found !== null;
}

function isStamped(record: Owned): record is Stamped {
  return 'updated_at' in record;
}

function own(accountId: Id, id: Id | StoredId) {
  return { _id: typeof id === 'string' ? storedId(id) : id, account_id: storedId(accountId) };
}
