// Reads and writes one account's records with the driver. Nothing is hydrated, and no call works without the account.
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

/** The fields that `newRecord` gives every record that callers make and change. */
export interface Stamped extends Owned {
  created_at: Date;
  updated_at: Date;
}

/** A model of records that belong to accounts. */
export interface Records<Stored extends Owned> {
  readonly modelName: string;
  readonly collection: { readonly name: string };
  readonly db: Connection;
  /** Absent where lists count the records themselves. */
  readonly countedBy?: CountedBy<never> | undefined;
  /** A carrier of the type. It is never set. */
  readonly stored?: Stored;
}

// biome-ignore lint/suspicious/noExplicitAny: the types of a schema know no unions and no literal strings.
type RecordModel<Stored extends Owned> = Model<any> & Records<Stored>;

/**
 * Makes a model whose records have the type `Stored`.
 * @param countedBy when the account's counter keeps their numbers.
 */
export function recordsOf<Stored extends Owned>(
  name: string,
  schema: Schema,
  countedBy?: CountedBy<Stored>,
): RecordModel<Stored> {
  return Object.assign(model(name, schema), { countedBy }) as unknown as RecordModel<Stored>;
}

/** Returns the driver's collection. Mongoose types it as if every id were an ObjectId. */
export function driverOf({ collection }: Pick<Records<Owned>, 'collection'>): mongo.Collection<Owned> {
  return collection as unknown as mongo.Collection<Owned>;
}

/** Returns the account's record, or null when the id is unknown or another account's. */
export async function findOwn<Stored extends Owned>(
  records: Records<Stored>,
  accountId: Id,
  id: Id | StoredId,
  session?: Session,
): Promise<Stored | null> {
  const record = await driverOf(records).findOne(own(accountId, id), session ? { session } : {});
  return record as Stored | null;
}

/** Returns the account's records with these ids, by id. Unknown and foreign ids are left out. */
export async function findAllOwn<Stored extends Owned>(
  records: Records<Stored>,
  accountId: Id,
  ids: Iterable<string>,
  fields: readonly (keyof Stored & string)[],
  session?: Session,
): Promise<Map<string, Stored>> {
  return findAllOwnWith(session ? { session } : {}, records, accountId, ids, fields);
}

/** Does the same as findAllOwn, with options of the driver. */
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

/**
 * Returns the ids of records. `distinct` would do no more, and a sharded cluster refuses it in transactions and
 * snapshots.
 */
export async function findIds(
  records: Parameters<typeof driverOf>[0],
  filter: object,
  options: mongo.FindOptions = {},
): Promise<StoredId[]> {
  const found = driverOf(records).find(filter, { ...options, projection: { _id: 1 } });
  return (await found.toArray()).map(({ _id }) => _id);
}

/** Reads concurrently, or one after the other in a transaction, which carries only one read at a time. */
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
 * Returns the record under a row lock, because another record is about to refer to it. A transaction that deletes it at
 * the same moment conflicts with this one, so that no record ever refers to a deleted one.
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

/** Locks as lockOwn does, for records whose fields are not needed. */
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
 * Stores a record without its undefined fields.
 * @param record gets its `updated_at` here, if it has one, see changeTime.
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

/**
 * Returns the names of the fields that the changes give another value. Null, undefined and an absent field are equal.
 */
export function changedFields<Stored extends object>(record: Stored, changes: Partial<Stored>): (keyof Stored)[] {
  const names = Object.keys(changes) as (keyof Stored)[];
  return names.filter((name) => JSON.stringify(record[name] ?? null) !== JSON.stringify(changes[name] ?? null));
}

/** True when the changes give no field another value. */
export function isUnchanged<Stored extends object>(record: Stored, changes: Partial<Stored>): boolean {
  return changedFields(record, changes).length === 0;
}

/** Sets the given fields and `updated_at`, and removes a field given as undefined. @returns the changed record. */
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

/** Removes a record, and subtracts it from the counts and bytes of its account. */
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
    { ...filter, account_id: storedId(accountId) },
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
