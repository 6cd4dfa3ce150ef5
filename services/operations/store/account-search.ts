// Finds accounts for the dashboard, with the size of their records and the number of their failing endpoints.
import { Account, type AccountRecord } from '#libs/models/accounts/account.ts';
import { ApiKey, type ApiKeyRecord, countUsableKeys } from '#libs/models/accounts/api-key.ts';
import { Counter } from '#libs/models/counter.ts';
import { findMailServer, type MailServerRecord } from '#libs/models/messages/mail-server.ts';
import { acrossAccounts, isId, type StoredId } from '#libs/models/tenant.ts';
import {
  ENDPOINTS_MAX,
  FAILING,
  WebhookEndpoint,
  type WebhookEndpointRecord,
} from '#libs/models/webhooks/webhook-endpoint.ts';
import { SEARCH_LIMIT_MS } from './delivery-search.ts';

/** Names are compared without case and accents, along the index on them. */
const COLLATION = { locale: 'en', strength: 1 } as const;
/** It sorts behind every character of a name. */
const LAST_CHARACTER = '\uFFFF';
/** The keys that the page of an account shows, the latest first. */
const KEYS_SHOWN = 100;

export interface AccountRow {
  id: string;
  name: string;
  mode: string;
  createdAt: Date;
  /** The bytes of records, events and originals. */
  recordBytes: number;
  endpoints: number;
  failingEndpoints: number;
}

type Named = Pick<AccountRecord, '_id' | 'name' | 'mode' | 'created_at'>;

/** @param text the beginning of a name, or an id; all accounts unless given. @returns the newest first, or by name. */
export async function searchAccounts(
  text: string | undefined,
  { skip, limit }: { skip: number; limit: number },
): Promise<AccountRow[]> {
  const fields = { name: 1, mode: 1, created_at: 1 } as const;
  if (text !== undefined && isId(text)) {
    return rowsOf(await Account.find({ _id: text }).select(fields).lean<Named[]>());
  }
  const found =
    text === undefined
      ? Account.find().sort({ _id: -1 })
      : Account.find({ name: { $gte: text, $lt: `${text}${LAST_CHARACTER}` } })
          .collation(COLLATION)
          .sort({ name: 1 });
  return rowsOf(await found.select(fields).skip(skip).limit(limit).maxTimeMS(SEARCH_LIMIT_MS).lean<Named[]>());
}

async function rowsOf(accounts: readonly Named[]): Promise<AccountRow[]> {
  const ids = accounts.map(({ _id }) => _id as StoredId);
  const [counters, endpoints] = await Promise.all([
    Counter.find({ _id: { $in: ids } })
      .select({ stored_bytes: 1 })
      .lean<{ _id: StoredId; stored_bytes?: number }[]>(),
    // A page shows the endpoints of many accounts.
    WebhookEndpoint.find({ account_id: { $in: ids } })
      .setOptions(acrossAccounts)
      .select({ account_id: 1, enabled: 1, failures: 1 })
      .limit(accounts.length * ENDPOINTS_MAX)
      .maxTimeMS(SEARCH_LIMIT_MS)
      .lean<Pick<WebhookEndpointRecord, 'account_id' | 'enabled' | 'failures'>[]>(),
  ]);
  const bytes = new Map(counters.map(({ _id, stored_bytes }) => [String(_id), Math.max(0, stored_bytes ?? 0)]));
  const byAccount = Map.groupBy(endpoints, ({ account_id }) => String(account_id));
  return accounts.map(({ _id, name, mode, created_at }) => {
    const id = String(_id);
    const own = byAccount.get(id) ?? [];
    return {
      id,
      name,
      mode,
      createdAt: created_at,
      recordBytes: bytes.get(id) ?? 0,
      endpoints: own.length,
      failingEndpoints: own.filter(isFailing).length,
    };
  });
}

export function isFailing({ enabled, failures }: Pick<WebhookEndpointRecord, 'enabled' | 'failures'>): boolean {
  return enabled && (failures ?? 0) >= FAILING.failures.$gte;
}

export interface AccountDetails {
  account: Pick<AccountRecord, '_id' | 'name' | 'mode' | 'time_zone' | 'created_at'>;
  keys: ApiKeyRecord[];
  usableKeys: number;
  endpoints: WebhookEndpointRecord[];
  /** Undefined when its mail leaves by the server of the installation. */
  mailServer: Pick<MailServerRecord, 'host' | 'port' | 'from' | 'test'> | undefined;
}

/** Reads an account with its keys and endpoints. Undefined when there is no such account. */
export async function readAccountDetails(id: string): Promise<AccountDetails | undefined> {
  const account = await Account.findById(id)
    .select({ name: 1, mode: 1, time_zone: 1, created_at: 1 })
    .lean<AccountDetails['account']>();
  if (!account) return undefined;
  const [keys, usableKeys, endpoints, mailServer] = await Promise.all([
    ApiKey.find({ account_id: id }).select({ hash: 0 }).sort({ _id: -1 }).limit(KEYS_SHOWN).lean<ApiKeyRecord[]>(),
    countUsableKeys(id),
    WebhookEndpoint.find({ account_id: id })
      .select({ secret: 0, previous_secrets: 0 })
      .sort({ slot: 1 })
      .limit(ENDPOINTS_MAX)
      .lean<WebhookEndpointRecord[]>(),
    findMailServer(id),
  ]);
  return { account, keys, usableKeys, endpoints, mailServer };
}
