// Keeps the records of accounts apart: a query on a tenant's collection that does not name the account throws.
import { randomInt } from 'node:crypto';
import { type Aggregate, type Query, Schema, Types } from 'mongoose';
import { v7 } from 'uuid';

/** An id in the form of the API: hex with dashes. */
export type Id = string;

/** An id as the driver returns it. `String(id)` is the form of the API. */
export type StoredId = Types.UUID;

/** Half of the counter's range, so that it never overflows within a millisecond. */
const COUNTER_STARTS = 2 ** 31;
let latest = { msecs: 0, seq: 0 };

/**
 * Returns a new time-ordered id (UUIDv7). Neighbours in time are neighbours in the index. Ids of one process ascend
 * within a millisecond, which those of `node:crypto` do not, so lists show the records of one transaction in the order
 * in which they were made. When the clock is set back, ids follow it at once, which the library alone does not do.
 */
export function newId(): Id {
  const msecs = Date.now();
  latest = { msecs, seq: msecs === latest.msecs ? latest.seq + 1 : randomInt(COUNTER_STARTS) };
  return v7(latest);
}

const UUID_FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** True for an id in the form of the API. */
export function isId(text: unknown): text is Id {
  return typeof text === 'string' && UUID_FORM.test(text);
}

/** Converts an id to the form that the driver stores, for pipelines and filters that mongoose does not cast. */
export function storedId(id: Id): StoredId {
  return new Types.UUID(id);
}

/** Does the same as `String(id)` in a fifth of the time, for code that runs hundreds of times a second. */
export function wireId(id: StoredId): Id {
  return dashed(id.toString('hex'));
}

/** Writes an id with dashes. @param hex its 32 digits. */
export function dashed(hex: string): Id {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Returns the time at which the id was made, to the millisecond: the first 48 bits of a UUIDv7. */
export function timeOfId(id: Id): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

/** Returns an id before all that are made from this time on. */
export function firstIdAt(time: Date): StoredId {
  const hex = Math.max(0, time.getTime()).toString(16).padStart(12, '0').padEnd(32, '0');
  return storedId(dashed(hex));
}

/**
 * Returns the fields that every record of an account starts with. Ids are in the order of creation, so lists need no
 * index on the time.
 */
export function newRecord(accountId: Id) {
  const id = newId();
  const now = timeOfId(id);
  return { _id: storedId(id), account_id: storedId(accountId), created_at: now, updated_at: now };
}

/** The declarations of ids in a mongoose schema. */
export const idField = { type: Schema.Types.UUID } as const;
export const requiredIdField = { type: Schema.Types.UUID, required: true } as const;

/**
 * The option of a query over all accounts. Only the services' own tasks (relay, retries, key lookup) may use it, each with its reason.
 */
export const acrossAccounts = { acrossAccounts: true } as const;

const GUARDED = [
  'find',
  'findOne',
  'findOneAndUpdate',
  'findOneAndDelete',
  'findOneAndReplace',
  'countDocuments',
  'distinct',
  'updateOne',
  'updateMany',
  'replaceOne',
  'deleteOne',
  'deleteMany',
] as const;

/** A mongoose plugin for every model that has an `account_id`. */
export function tenant(schema: Schema): void {
  schema.pre([...GUARDED], { query: true, document: false }, function (this: Query<unknown, unknown>) {
    if (this.getOptions()['acrossAccounts']) return;
    requireAccount((this.getFilter() as Record<string, unknown>)['account_id'], `A query on ${this.model.modelName}`);
  });
  schema.pre('aggregate', function (this: Aggregate<unknown>) {
    if ((this.options as Record<string, unknown>)['acrossAccounts']) return;
    const [first] = this.pipeline() as Array<{ $match?: Record<string, unknown> }>;
    requireAccount(first?.$match?.['account_id'], 'An aggregation');
  });
}

/** Checks an id. @throws when `value` is not one account's id. An operator object such as { $ne: null } would name every account. */
export function requireAccount(value: unknown, where: string): void {
  if (!isId(value) && !(value instanceof Types.UUID)) throw new Error(`${where} does not name the account`);
}
