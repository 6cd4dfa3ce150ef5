// The passwords of the Redis users: drawn at random, or kept from before.
import { randomBytes } from 'node:crypto';
import { aclFile, REDIS_USERS, type RedisUser } from './users.ts';

const PASSWORD_BYTES = 24;

export interface RedisUsers {
  acl: string;
  /** Returns the address with the user's name and password. */
  urlOf(user: RedisUser, url: string): string;
}

/** Draws passwords. @param kept passwords that stay unchanged. */
export function drawRedisUsers(prefix: string, kept: Readonly<Partial<Record<RedisUser, string>>> = {}): RedisUsers {
  const entries = REDIS_USERS.map((user) => [user, kept[user] ?? randomBytes(PASSWORD_BYTES).toString('base64url')]);
  const passwords: Record<RedisUser, string> = Object.fromEntries(entries);
  return {
    acl: aclFile(prefix, passwords),
    urlOf: (user, url) => url.replace('://', `://${user}:${passwords[user]}@`),
  };
}
