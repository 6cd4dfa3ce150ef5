// `npm run redis-users`: makes the Redis users of all services, as files or as a Kubernetes Secret. `--help` says how.
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRedisUrl } from '#libs/redis/address.ts';
import { readOptions } from '#libs/service/command-line.ts';
import { drawRedisUsers } from './passwords.ts';
import { ACL_KEY, SECRET_NAME, secretOf } from './secret.ts';
import { REDIS_USERS, type RedisKind, SERVER_USERS } from './users.ts';

const HELP = `Makes one Redis user per service, each with the least rights it needs and a random password.

Usage: npm run -s redis-users -- --url redis://HOST:6379 (--folder FOLDER | --kubernetes) [options]

  --url URL        the address without a user, of any form that REDIS_URL takes but a socket. With sentinels or a cluster
                   it makes users of Redis itself as well: "replication" (masteruser, masterauth), and "sentinel"
                   (sentinel auth-user, auth-pass). FOLDER/USER/password has their passwords

  --folder FOLDER  writes FOLDER/acl/${ACL_KEY} for "redis-server --aclfile", and the address for each service to
                   FOLDER/SERVICE/redis-url. Passwords that are there are kept
  --renew          draws new passwords even so
  --kubernetes     prints the Secret "${SECRET_NAME}" with the same, and new passwords
  --namespace NAME the namespace of that Secret (default: billhook)
  --prefix NAME    REDIS_PREFIX of the services (default: REDIS_PREFIX, else billhook)
`;

const values = readOptions({
  url: { type: 'string' },
  prefix: { type: 'string', default: process.env['REDIS_PREFIX'] || 'billhook' },
  folder: { type: 'string' },
  renew: { type: 'boolean', default: false },
  kubernetes: { type: 'boolean', default: false },
  namespace: { type: 'string', default: 'billhook' },
  help: { type: 'boolean', short: 'h', default: false },
});
const PREFIX_FORM = /^[\w-]+$/;
/** A label of RFC 1123, as Kubernetes wants it. */
const NAMESPACE_FORM = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const problems = problemsOf(values);

if (values.help) process.stdout.write(HELP);
else if (problems.length > 0) refuse(problems.join('; '));
else if (values.folder) writeFolder(values.folder, values.url ?? '');
else printSecret(values.url ?? '');

function problemsOf({ url, prefix, folder, kubernetes, namespace }: typeof values): string[] {
  const found = urlProblems(url ?? '').map((problem) => `--url ${problem}`);
  if (!PREFIX_FORM.test(prefix)) found.push('--prefix must have letters, digits, dashes or underscores only');
  if (!NAMESPACE_FORM.test(namespace)) {
    found.push('--namespace must have 1 to 63 small letters, digits and inner dashes');
  }
  if (Boolean(folder) === kubernetes) found.push('either --folder or --kubernetes must be given, see --help');
  return found;
}

function urlProblems(url: string): string[] {
  const { address, problems } = readRedisUrl(url);
  if (problems) return problems;
  if (address.kind === 'socket') return ['must name a host: a socket is for one machine'];
  return url.includes('@') ? ['must be without a user'] : [];
}

function kindOf(url: string): RedisKind {
  const kind = readRedisUrl(url).address?.kind;
  return kind === 'sentinel' || kind === 'cluster' ? kind : 'single';
}

function printSecret(url: string) {
  const kind = kindOf(url);
  process.stdout.write(secretOf(drawRedisUsers(values.prefix, kind), url, { kind, namespace: values.namespace }));
}

/**
 * Writes the files that have changed. Unchanged ones stay, so that a running Redis and its services keep the values of
 * their start.
 */
function writeFolder(folder: string, url: string) {
  const kind = kindOf(url);
  const kept = [
    ...REDIS_USERS.map((user) => [user, passwordIn(join(folder, user, 'redis-url'))]),
    ...SERVER_USERS[kind].map((user) => [user, textIn(join(folder, user, 'password'))]),
  ];
  const users = drawRedisUsers(values.prefix, kind, Object.fromEntries(kept.filter(([, password]) => password)));
  for (const user of SERVER_USERS[kind]) write(join(folder, user), 'password', `${users.passwordOf(user)}\n`, 0o400);
  for (const user of REDIS_USERS) write(join(folder, user), 'redis-url', `${users.urlOf(user, url)}\n`, 0o400);
  // Redis runs as a user of its own. The file has hashes of passwords that cannot be guessed.
  const isNew = write(join(folder, 'acl'), ACL_KEY, users.acl, 0o444);
  process.stdout.write(
    isNew ? 'The Redis users are written; restart Redis if it runs\n' : 'The Redis users are unchanged\n',
  );
}

/** The password in an address, which may name several hosts and is then no URL. */
function passwordIn(file: string): string | undefined {
  return /:\/\/[^:@]*:([^@]+)@/.exec(textIn(file) ?? '')?.[1];
}

function textIn(file: string): string | undefined {
  return existsSync(file) && !values.renew ? readFileSync(file, 'utf8').trim() : undefined;
}

/** Writes a file. @returns true when it is new or has changed. */
function write(folder: string, name: string, text: string, mode: number): boolean {
  const path = join(folder, name);
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return false;
  mkdirSync(folder, { recursive: true });
  rmSync(`${path}.new`, { force: true });
  writeFileSync(`${path}.new`, text, { mode });
  // The process may have a narrower mask.
  chmodSync(`${path}.new`, mode);
  renameSync(`${path}.new`, path);
  return true;
}

function refuse(problem: string) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 2;
}
