// A key of an account, with its scopes, expiry and revocation. The database never has the key itself.
import { type InferSchemaType, model, Schema } from 'mongoose';
import { hashApiKey, makeApiKey } from '../../api-key.ts';
import { agreedDate } from '../../clock.ts';
import { appError, unauthorized } from '../../errors.ts';
import { inTransaction, type Session } from '../../mongo/connection.ts';
import { addListIndexes, type ListingOf } from '../list-indexes.ts';
import { lockOwn } from '../records.ts';
import { drawNext } from '../sequences.ts';
import { type Id, idField, newId, requiredIdField, tenant } from '../tenant.ts';
import { readAccount } from './account.ts';

/** The most usable keys of an account: enough for a key of its own for each program and person. */
export const KEYS_MAX = 100;
/** Returns the 409 for an account that has KEYS_MAX keys. */
export const keysMaxReached = () => appError('api_key_limit_reached', { limit: KEYS_MAX });
/** Longer than a yearly review looks back, like the audit log. MongoDB removes keys that ended before. */
const ENDED_KEPT_SECONDS = 400 * 24 * 3600;
/**
 * The latest keys of an account, of which those that ended are kept, too. A program may make a key for each of its runs:
 * a limit would stop it for a year, so the oldest make room.
 */
const LATEST_KEPT = 5_000;
/** More than KEYS_MAX, so that some of these have ended. */
const REMOVED_AT_ONCE = 200;
const SHOWN_START = 12; // `bh_live_` and four characters: enough to tell keys apart in a list.

const apiKeySchema = new Schema(
  {
    _id: { ...idField, default: newId },
    account_id: requiredIdField,
    hash: { type: String, required: true },
    /** The first characters, by which a person recognises the key. */
    start: { type: String, required: true },
    name: { type: String, required: true },
    scopes: { type: [String], required: true },
    expires_at: Date,
    last_used_at: Date,
    revoked_at: Date,
    /**
     * The time of the rotation. From then on `expires_at` is the end of the overlap, which no successor may inherit.
     */
    replaced_at: Date,
    /** The first key of the chain of rotations. */
    first_id: idField,
    /** See lockOwn. */
    lock_version: Number,
    created_at: { type: Date, required: true, default: () => new Date() },
  },
  { versionKey: false, strict: 'throw', collection: 'api_keys' },
);
apiKeySchema.plugin(tenant);
apiKeySchema.index({ hash: 1 }, { unique: true });
apiKeySchema.index({ expires_at: 1 }, { expireAfterSeconds: ENDED_KEPT_SECONDS });
apiKeySchema.index({ revoked_at: 1 }, { expireAfterSeconds: ENDED_KEPT_SECONDS });

export const apiKeyListing: ListingOf<ApiKeyRecord, 'created_at'> = {
  filters: [],
  orders: { created_at: '_id' },
  standard: '-created_at',
};

addListIndexes(apiKeySchema, apiKeyListing);

export type ApiKeyRecord = InferSchemaType<typeof apiKeySchema>;

export const ApiKey = model('ApiKey', apiKeySchema);

const RESOURCES = [
  'account',
  'keys',
  'clients',
  'projects',
  'tasks',
  'time-entries',
  'timers',
  'expenses',
  'hour-packages',
  'items',
  'quotes',
  'invoices',
  'recurring-invoices',
  'payments',
  'credit-notes',
  'documents',
  'messages',
  'links',
  'webhooks',
  'events',
  'reports',
] as const;

type Resource = (typeof RESOURCES)[number];
export type Scope = `${Resource}:${'read' | 'write'}`;

export const SCOPES: readonly Scope[] = RESOURCES.flatMap(
  (resource) => [`${resource}:read`, `${resource}:write`] as const,
);

/** True when a key with `scopes` may use `scope`. Writing includes reading, and `*` includes everything. */
export function allows(scopes: readonly string[], scope: string): boolean {
  return scopes.includes('*') || scopes.includes(scope) || scopes.includes(scope.replace(/:read$/, ':write'));
}

export interface NewApiKey {
  accountId: Id;
  name: string;
  scopes: string[];
  expiresAt?: Date | undefined;
  /** The key that the new one replaces. */
  replaces?: Pick<ApiKeyRecord, '_id' | 'first_id'> | undefined;
}

/**
 * Makes a key. The prefix shows the mode: a live account has no test keys, and a test account no live ones.
 * @returns the stored record and the key, which cannot be read again.
 * @throws AppError 409 when the account has KEYS_MAX keys that are neither revoked nor expired.
 */
export async function issueApiKey(wanted: NewApiKey, session?: Session) {
  return session ? insertKey(wanted, session) : inTransaction((own) => insertKey(wanted, own));
}

async function insertKey({ accountId, name, scopes, expiresAt, replaces }: NewApiKey, session: Session) {
  await drawNext(session, accountId, 'key');
  if ((await countUsableKeys(accountId, session)) >= KEYS_MAX) throw keysMaxReached();
  await removeOldest(accountId, session);
  const { mode } = await readAccount(accountId, session);
  const key = makeApiKey(mode);
  const record = new ApiKey({
    account_id: accountId,
    hash: hashApiKey(key),
    start: key.slice(0, SHOWN_START),
    name,
    scopes,
    ...(expiresAt ? { expires_at: expiresAt } : {}),
    ...(replaces ? { first_id: replaces.first_id ?? replaces._id } : {}),
  });
  await record.save({ session });
  return { key, record };
}

/** Removes keys that ended and are not among the LATEST_KEPT of the account, a few at once. */
async function removeOldest(account_id: Id, session: Session): Promise<void> {
  const older = await ApiKey.find({ account_id })
    .sort({ _id: -1 })
    .skip(LATEST_KEPT)
    .limit(REMOVED_AT_ONCE)
    .session(session)
    .lean<ApiKeyRecord[]>();
  const now = agreedDate();
  const ended = older.filter((record) => !isUsable(record, now)).map(({ _id }) => _id);
  if (ended.length > 0) await ApiKey.deleteMany({ account_id, _id: { $in: ended } }, { session });
}

/** Returns the number of keys of the account that are neither revoked nor expired, at most KEYS_MAX. */
export async function countUsableKeys(accountId: Id, session?: Session): Promise<number> {
  const usable = { revoked_at: null, $or: [{ expires_at: null }, { expires_at: { $gt: agreedDate() } }] };
  const own = { account_id: accountId, ...usable };
  return ApiKey.countDocuments(own, { limit: KEYS_MAX, ...(session ? { session } : {}) });
}

/** Returns the key's record in the form of the API, without the key itself. */
export function apiKeyView(record: ApiKeyRecord) {
  return {
    id: String(record._id),
    name: record.name,
    start: record.start,
    scopes: record.scopes,
    expires_at: record.expires_at?.toISOString() ?? null,
    last_used_at: record.last_used_at?.toISOString() ?? null,
    revoked_at: record.revoked_at?.toISOString() ?? null,
    created_at: record.created_at.toISOString(),
  };
}

/** True for a key that is neither revoked nor expired. */
export function isUsable(
  { revoked_at, expires_at }: Pick<ApiKeyRecord, 'revoked_at' | 'expires_at'>,
  now: Date,
): boolean {
  return !revoked_at && !(expires_at && expires_at <= now);
}

/**
 * Reads the caller's key again in a transaction, because the result of the work outlives the key. A transaction that
 * ends the key at the same moment conflicts with this one.
 * @returns the current key. It may expire earlier than it did.
 * @throws AppError 401 when the key has ended since the request was admitted.
 */
export async function lockUsableKey(accountId: Id, keyId: Id, session: Session): Promise<ApiKeyRecord> {
  const record = await lockOwn<ApiKeyRecord>(ApiKey, accountId, keyId, session);
  if (!record || !isUsable(record, agreedDate())) throw unauthorized();
  return record;
}

/**
 * Ends a key, or sets its end. After the commit, await `untilForgotten` of key-cache.ts before responding.
 * @param end an `expires_at` that is no later than the present one.
 */
export async function endApiKey(
  { _id, account_id }: Pick<ApiKeyRecord, '_id' | 'account_id'>,
  end: { revoked_at: Date } | { expires_at: Date },
  session?: Session,
): Promise<void> {
  await ApiKey.updateOne({ _id, account_id }, { $set: end }, session ? { session } : {});
}

/** Ends a key that has a successor, at once or at `end`, and records the replacement. */
export async function endReplaced(
  record: Pick<ApiKeyRecord, '_id' | 'account_id' | 'expires_at'>,
  { now, end }: { now: Date; end: Date },
  session: Session,
): Promise<Date> {
  const endsAt = record.expires_at && record.expires_at < end ? record.expires_at : end;
  const replaced = { replaced_at: now };
  await endApiKey(record, end <= now ? { ...replaced, revoked_at: now } : { ...replaced, expires_at: endsAt }, session);
  return endsAt;
}
