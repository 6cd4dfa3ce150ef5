// Says which collections a sharded cluster spreads over its shards, by which key, and which it leaves on one.
import { allModels } from './indexes.ts';

/** Collections of accounts that stay on one shard, and why. Those without an `account_id` stay there as well. */
export const UNSHARDED: Readonly<Record<string, string>> = {
  accounts: 'its unique index on the path that Stripe calls has no account; one small record for each account',
  api_keys: 'a request is found by the hash of its key, before its account is known',
  document_links: 'a visitor is found by the hash of the link, before the account is known',
  portal_links: 'a visitor is found by the hash of the link, before the account is known',
  portal_sessions: 'a visitor is found by the hash of the cookie, before the account is known',
};

const OPERATORS = 'it belongs to the operator, not to an account';

export interface Sharding {
  collection: string;
  /** The field that holds the account. Absent when the collection stays on one shard. */
  field?: 'account_id' | '_id';
  /** Why it stays on one shard. */
  reason?: string;
}

/**
 * Returns every collection with its shard key. All keys are hashes of the account's id, so that one division of the
 * hashes keeps all records of an account on one shard.
 */
export function shardingOfAll(): Sharding[] {
  return allModels.map(({ collection: { name }, schema }) => {
    if (UNSHARDED[name]) return { collection: name, reason: UNSHARDED[name] };
    // The counter of an account has its id, and every transaction that writes updates it.
    if (name === 'counters') return { collection: name, field: '_id' };
    if (schema.path('account_id')) return { collection: name, field: 'account_id' };
    return { collection: name, reason: OPERATORS };
  });
}
