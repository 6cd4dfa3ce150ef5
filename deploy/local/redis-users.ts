// The Redis users of `npm start`: one per service, with new passwords on each run.
import { randomBytes } from 'node:crypto';
import { aclFile, REDIS_USERS, type RedisUser } from '../redis/users.ts';

export interface RedisUsers {
  acl: string;
  /** @returns the address with the user's name and password. */
  urlOf(user: RedisUser, url: string): string;
}

export function drawRedisUsers(prefix: string): RedisUsers {
  const drawn = REDIS_USERS.map((user) => [user, randomBytes(24).toString('base64url')] as const);
  const passwords = Object.fromEntries(drawn) as Record<RedisUser, string>;
  return {
    acl: aclFile(prefix, passwords),
    urlOf: (user, url) => url.replace('://', `://${user}:${passwords[user]}@`),
  };
}
