// Keeps one account's records from another: a query on a tenant's collection that does not name the account throws.
import { randomInt } from 'node:crypto';
import { type Aggregate, type Query, Schema, Types } from 'mongoose';
import { v7 } from 'uuid';

/** Hex with dashes, as on the wire. */
export type Id = string;

/** A record's id as the driver returns it; `String(id)` is the wire form. */
export type StoredId = Types.UUID;

/** Half of what the counter holds, so that it never overflows within a millisecond. */
const COUNTER_STARTS = 2 ** 31;
let latest = { msecs: 0, seq: 0 };

/**
 * A new time-ordered id (UUIDv7): neighbours in time are neighbours in the index. Those of one process ascend within a millisecond, too, which
 * those of `node:crypto` do not: lists show the records of one transaction in the order in which they were made. A clock that is set back is
 * followed at once, which the library does not do by itself.
 */
export function newId(): Id {
  const msecs = Date.now();
  latest = { msecs, seq: msecs === latest.msecs ? latest.seq + 1 : randomInt(COUNTER_STARTS) };
  return v7(latest);
}

const UUID_FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isId(text: unknown): text is Id {
  return typeof text === 'string' && UUID_FORM.test(text);
}

/** The wire form as the driver stores it, for pipelines and filters that mongoose does not cast. */
export function storedId(id: Id): StoredId {
  return new Types.UUID(id);
}

/** As `String(id)`, in a fifth of the time: for what is done hundreds of times a second. */
export function wireId(id: StoredId): Id {
  return dashed(id.toString('hex'));
}

/** @param hex the 32 digits of an id. */
export function dashed(hex: string): Id {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** When the id was made, to the millisecond: the first 48 bits of a UUIDv7. */
export function timeOf(id: Id): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

/** What every record of an account starts with. The order of ids is the order of creation, so lists need no index on the time. */
export function newRecord(accountId: Id) {
  const id = newId();
  const now = timeOf(id);
  return { _id: storedId(id), account_id: storedId(accountId), created_at: now, updated_at: now };
}

/** How ids are declared in a model. */
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

/** @throws when `value` is not one account's id: an operator object such as { $ne: null } would name every account. */
export function requireAccount(value: unknown, where: string): void {
  if (!isId(value) && !(value instanceof Types.UUID)) throw new Error(`${where} does not name the account`);
}
