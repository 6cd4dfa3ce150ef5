// Finds the account behind the API key of a request.

import type { Request } from 'express';
import { LRUCache } from 'lru-cache';
import { isApiKeyForm } from '#libs/api-key.ts';
import { appError, unauthorized } from '#libs/errors.ts';
import { Account } from '#libs/models/accounts/account.ts';
import { ApiKey, type ApiKeyRecord, allows } from '#libs/models/accounts/api-key.ts';
import { findUsableKey } from '#libs/models/accounts/key-cache.ts';
import type { Id } from '#libs/models/tenant.ts';
import type { Caller, Profile } from './route.ts';

/** The scheme and the key are separated by one or more blanks (RFC 9110, 11.4). */
const BEARER = /^Bearer +([\x21-\x7e]+)$/i;
/** The profile of a caller may be this old. It tells the caller's current day; whatever is stored comes from readAccount instead. */
const PROFILE_AGE_MS = 1_000;
const LAST_USED_STEP_MS = 60_000;

/** The cache keeps these fields alone: it remembers thousands of accounts, and a logo may be inlined in its account. */
const PROFILE_FIELDS = { time_zone: 1, mode: 1, max_entry_hours: 1, payment_days: 1 } as const;
const profiles = new LRUCache<Id, Profile>({ max: 10_000, ttl: PROFILE_AGE_MS });

/** Returns the caller of a request. @throws AppError 401 with the same text, whatever is wrong with the key; 400 when the request names two hosts. */
export async function authenticate(request: Request): Promise<Caller> {
  // Node takes the first of two, while a proxy in front of the gateway may have decided by the other.
  if (timesOf(request, 'host') > 1) throw appError('malformed_request');
  if (timesOf(request, 'authorization') > 1) throw unauthorized();
  const key = bearerOf(request);
  if (key === undefined) throw unauthorized();
  const record = await findUsableKey(key);
  if (!record) throw unauthorized();
  const accountId = String(record.account_id);
  const account = await profileOf(accountId);
  if (!account) throw unauthorized();
  recordUse(record);
  const { scopes, expires_at } = record;
  const firstKeyId = String(record.first_id ?? record._id);
  return { accountId, account, keyId: String(record._id), firstKeyId, scopes, expiresAt: expires_at ?? undefined };
}

/** @returns the key of a request, undefined when it has none in the form of a key: the checksum rejects garbage without a read. */
export function bearerOf(request: Request): string | undefined {
  const key = BEARER.exec(request.get('Authorization') ?? '')?.[1];
  return key !== undefined && isApiKeyForm(key) ? key : undefined;
}

/** @throws AppError 403 when the caller's key lacks the scope. */
export function requireScope({ scopes }: Pick<Caller, 'scopes'>, scope: string): void {
  if (!allows(scopes, scope)) throw appError('scope_missing', { scope });
}

/** How often a header was sent. @param name in small letters. */
function timesOf({ rawHeaders }: Request, name: string): number {
  let times = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at];
    if (given?.length === name.length && given.toLowerCase() === name) times += 1;
  }
  return times;
}

/** Removes a changed profile from the cache, so that this process shows the change at once. */
export function forgetProfile(accountId: Id): void {
  profiles.delete(accountId);
}

async function profileOf(accountId: Id): Promise<Profile | undefined> {
  const known = profiles.get(accountId);
  if (known) return known;
  const start = performance.now(); // The profile may be as old as the start of the query.
  const account = await Account.findById(accountId, PROFILE_FIELDS).lean<Profile>();
  if (account) profiles.set(accountId, account, { start });
  return account ?? undefined;
}

/** Notes the use of a key at most once a minute, which is enough to find unused keys. No request waits for the write. */
function recordUse(record: ApiKeyRecord) {
  const { _id, account_id, last_used_at } = record;
  const now = new Date();
  if (last_used_at && now.getTime() - last_used_at.getTime() < LAST_USED_STEP_MS) return;
  record.last_used_at = now; // The next request may get the same record.
  ApiKey.updateOne({ _id, account_id }, { $set: { last_used_at: now } }).catch(() => undefined);
}
