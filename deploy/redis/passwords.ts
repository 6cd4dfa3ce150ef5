// The passwords of the Redis users: drawn at random, or kept from before.
import { randomBytes } from 'node:crypto';
import { aclFile, REDIS_USERS, type RedisKind, type RedisUser, SERVER_USERS, type ServerUser } from './users.ts';

const PASSWORD_BYTES = 24;
const ALL: readonly (RedisUser | ServerUser)[] = [...REDIS_USERS, ...SERVER_USERS.sentinel];

export interface RedisUsers {
  acl: string;
  /** Returns the address with the user's name and password. */
  urlOf(user: RedisUser, url: string): string;
  passwordOf(user: RedisUser | ServerUser): string;
}

/** Draws passwords. @param kept passwords that stay unchanged. */
export function drawRedisUsers(
  prefix: string,
  kind: RedisKind = 'single',
  kept: Readonly<Partial<Record<RedisUser | ServerUser, string>>> = {},
): RedisUsers {
  const entries = ALL.map((user) => [user, kept[user] ?? randomBytes(PASSWORD_BYTES).toString('base64url')]);
  const passwords: Record<RedisUser | ServerUser, string> = Object.fromEntries(entries);
  return {
    acl: aclFile(prefix, kind, passwords),
    urlOf: (user, url) => url.replace('://', `://${user}:${passwords[user]}@`),
    passwordOf: (user) => passwords[user],
  };
}
