// A key of an account: what it may do, until when, and whether it was revoked. The key itself is never stored.
import DataLoader from 'dataloader';
import { type InferSchemaType, model, Schema } from 'mongoose';
import { hashApiKey, makeApiKey } from '../api-key.ts';
import { agreedDate } from '../clock.ts';
import type { Session } from '../mongo.ts';
import { addListIndexes, type Listing } from './listing.ts';
import { type Id, idField, newId, requiredIdField, tenant } from './tenant.ts';

const SHOWN_START = 12; // `bh_live_` and four characters: enough to tell keys apart in a list.

const apiKeySchema = new Schema(
  {
    _id: { ...idField, default: newId },
    account_id: requiredIdField,
    hash: { type: String, required: true },
    /** The first characters, to recognise it by. */
    start: { type: String, required: true },
    name: { type: String, required: true },
    scopes: { type: [String], required: true },
    expires_at: Date,
    last_used_at: Date,
    revoked_at: Date,
    created_at: { type: Date, required: true, default: () => new Date() },
  },
  { versionKey: false, strict: 'throw', collection: 'api_keys' },
);
apiKeySchema.plugin(tenant);
apiKeySchema.index({ hash: 1 }, { unique: true });

export const apiKeyListing: Listing = { filters: [], orders: { created_at: '_id' }, standard: '-created_at' };

addListIndexes(apiKeySchema, apiKeyListing);

export type ApiKeyRecord = InferSchemaType<typeof apiKeySchema>;

export const ApiKey = model('ApiKey', apiKeySchema);

export const RESOURCES = [
  'account',
  'keys',
  'clients',
  'projects',
  'tasks',
  'time-entries',
  'quotes',
  'invoices',
  'documents',
  'webhooks',
  'events',
] as const;

export type Resource = (typeof RESOURCES)[number];
export type Scope = `${Resource}:${'read' | 'write'}`;

export const SCOPES: readonly Scope[] = RESOURCES.flatMap(
  (resource) => [`${resource}:read`, `${resource}:write`] as const,
);

/** True when a key with `scopes` may do what needs `scope`; writing includes reading, `*` is everything. */
export function allows(scopes: readonly string[], scope: string): boolean {
  return scopes.includes('*') || scopes.includes(scope) || scopes.includes(scope.replace(/:read$/, ':write'));
}

export interface NewApiKey {
  accountId: Id;
  name: string;
  scopes: string[];
  expiresAt?: Date | undefined;
  mode?: 'live' | 'test' | undefined;
}

/** @returns the stored record and the key, which nobody can ever read again. */
export async function issueApiKey({ accountId, name, scopes, expiresAt, mode }: NewApiKey, session?: Session) {
  const key = makeApiKey(mode);
  const record = new ApiKey({
    account_id: accountId,
    hash: hashApiKey(key),
    start: key.slice(0, SHOWN_START),
    name,
    scopes,
    ...(expiresAt ? { expires_at: expiresAt } : {}),
  });
  await record.save(session ? { session } : {});
  return { key, record };
}

/** What is known of the key, as the API returns it: never the key itself. */
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

/** The key's record when it is known, not revoked and not expired; else null. */
export async function findUsableKey(key: string, now: Date = agreedDate()): Promise<ApiKeyRecord | null> {
  const record = await lookups.load(hashApiKey(key));
  if (!record || record.revoked_at) return null;
  return record.expires_at && record.expires_at <= now ? null : record;
}

// Every request asks, and nothing is remembered: a revocation holds at once. Those that arrived in the same turn ask together.
const lookups = new DataLoader(findByHashes, {
  cache: false,
  batchScheduleFn: (ask) => void setImmediate(ask),
  maxBatchSize: 100,
});

async function findByHashes(hashes: readonly string[]): Promise<(ApiKeyRecord | null)[]> {
  // Straight from the driver: it is the one query of every request. The caller is not known yet, so it goes over all accounts.
  const found = await ApiKey.collection.find<ApiKeyRecord>({ hash: { $in: [...new Set(hashes)] } }).toArray();
  const byHash = new Map(found.map((record) => [record.hash, record]));
  return hashes.map((hash) => byHash.get(hash) ?? null);
}
