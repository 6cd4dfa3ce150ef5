// Finds the key of a request, and caches it for a second (docs/adr/0015-cache-api-keys.md).
import { setTimeout as pause } from 'node:timers/promises';
import DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';
import { hashApiKey } from '../../api-key.ts';
import { agreedDate } from '../../clock.ts';
import type { Id } from '../tenant.ts';
import { ApiKey, type ApiKeyRecord, isUsable } from './api-key.ts';

/**
 * A process caches a key that it has read for so long: a busy one costs the database one read a second and not one a request. Ending
 * a key waits until no process caches it, so a revocation that was acknowledged holds everywhere.
 */
const REMEMBERED_MS = 1_000;
/** Timers may fire a little early. */
const MARGIN_MS = 50;
const REMEMBERED_MAX = 10_000;

const remembered = new LRUCache<string, ApiKeyRecord>({
  max: REMEMBERED_MAX,
  ttl: REMEMBERED_MS,
  // By the steady clock, and read anew each time: a process that stood still has nothing cached.
  ttlResolution: 0,
});

/** The key's record when it is known, not revoked and not expired; else null. Callers at about the same time get the same record. */
export async function findUsableKey(key: string, now: Date = agreedDate()): Promise<ApiKeyRecord | null> {
  const hash = hashApiKey(key);
  const record = remembered.get(hash) ?? (await lookups.load(hash));
  return record && isUsable(record, now) ? record : null;
}

/** The account of a key that this process has read within a second; undefined when it has not, which says nothing about the key. */
export function rememberedAccountOf(key: string, now: Date = agreedDate()): Id | undefined {
  const record = remembered.get(hashApiKey(key));
  return record && isUsable(record, now) ? String(record.account_id) : undefined;
}

/** Resolves when no process takes a key for what it was before this call. */
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
  // What is read may be as old as the question.
  const start = performance.now();
  // Straight from the driver: it is the one query of nearly every request. The caller is not known yet, so it goes over all accounts.
  const found = await ApiKey.collection.find<ApiKeyRecord>({ hash: { $in: [...new Set(hashes)] } }).toArray();
  for (const record of found) remembered.set(record.hash, record, { start });
  const byHash = new Map(found.map((record) => [record.hash, record]));
  return hashes.map((hash) => byHash.get(hash) ?? null);
}
