// The Kubernetes Secret of the Redis users: each service mounts its own address, and Redis the ACL file.
import type { RedisUsers } from './passwords.ts';
import { REDIS_USERS, type RedisKind, SERVER_USERS } from './users.ts';

export const SECRET_NAME = 'billhook-redis';
export const ACL_KEY = 'users.acl';

/** Returns a manifest in JSON, which kubectl takes like YAML. The servers' own users have their password only. */
export function secretOf(
  users: RedisUsers,
  url: string,
  { kind = 'single', namespace = 'billhook' }: { kind?: RedisKind; namespace?: string } = {},
): string {
  const addresses = REDIS_USERS.map((user) => [user, users.urlOf(user, url)]);
  const servers = SERVER_USERS[kind].map((user) => [user, users.passwordOf(user)]);
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: SECRET_NAME, namespace },
    stringData: { ...Object.fromEntries([...addresses, ...servers]), [ACL_KEY]: users.acl },
  };
  return `${JSON.stringify(secret, null, 2)}\n`;
}
