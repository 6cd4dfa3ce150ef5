// Finds the key of a request, and caches it for a second (docs/adr/0015-cache-api-keys.md).
import { setTimeout as pause } from 'node:timers/promises';
import DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';
import { hashApiKey } from '../../api-key.ts';
import { agreedDate } from '../../clock.ts';
import type { Id } from '../tenant.ts';
import { ApiKey, type ApiKeyRecord, isUsable } from './api-key.ts';

/**
 * The time for which a process caches a key: a busy key costs the database one read per second instead of one per request. Ending
 * a key waits until no process caches it, so an acknowledged revocation holds everywhere.
 */
const REMEMBERED_MS = 1_000;
/** Timers may fire a little early. */
const MARGIN_MS = 50;
const REMEMBERED_MAX = 10_000;

const remembered = new LRUCache<string, ApiKeyRecord>({
  max: REMEMBERED_MAX,
  ttl: REMEMBERED_MS,
  // The cache reads the monotonic clock anew each time, so a process that was suspended has nothing cached.
  ttlResolution: 0,
});

/**
 * Returns the record of a key that exists and is neither revoked nor expired, else null. Callers at about the same time
 * get the same record.
 */
export async function findUsableKey(key: string, now: Date = agreedDate()): Promise<ApiKeyRecord | null> {
  const hash = hashApiKey(key);
  const record = remembered.get(hash) ?? (await lookups.load(hash));
  return record && isUsable(record, now) ? record : null;
}

/** Returns the account of a key that this process has read within a second. Undefined says nothing about the key. */
export function rememberedAccountOf(key: string, now: Date = agreedDate()): Id | undefined {
  const record = remembered.get(hashApiKey(key));
  return record && isUsable(record, now) ? String(record.account_id) : undefined;
}

/** Resolves when no process has a copy of the key from before this call. */
export async function untilForgotten(): Promise<void> {
  await pause(REMEMBERED_MS + MARGIN_MS);
}

// Requests of the same event-loop turn share one read.
const lookups = new DataLoader(findByHashes, {
  cache: false,
  batchScheduleFn: (ask) => void setImmediate(ask),
  maxBatchSize: 100,
});

async function findByHashes(hashes: readonly string[]): Promise<(ApiKeyRecord | null)[]> {
  // The result may be as old as the start of the read, so its age counts from here.
  const start = performance.now();
  // The driver is faster than mongoose, and nearly every request makes this query. The caller is not known yet, so it
  // covers all accounts.
  const found = await ApiKey.collection.find<ApiKeyRecord>({ hash: { $in: [...new Set(hashes)] } }).toArray();
  for (const record of found) remembered.set(record.hash, record, { start });
  const byHash = new Map(found.map((record) => [record.hash, record]));
  return hashes.map((hash) => byHash.get(hash) ?? null);
}
