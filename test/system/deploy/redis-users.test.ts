// The Redis users that compose and the manifests use: the program makes them, a real Redis loads them, and the real services work
// with them. test/service/deploy/redis-users.test.ts tests, command by command, what a service may not do.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openRedis, type Redis } from '#libs/redis/connection.ts';
import { findRedis } from '../../../deploy/backends/redis.ts';
import { startRedis } from '../../../deploy/backends/start-redis.ts';
import { REDIS_USERS, type RedisUser } from '../../../deploy/redis/users.ts';
import {
  type Running,
  rejectedCommands,
  SERVICES,
  startServices,
  useEverything,
} from '../../support/redis/use-everything.ts';
import { steadyPort } from '../../support/steady-port.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

/** Reads the log of rejected commands, which no service may. */
const AUDITOR = 'user auditor on >auditor resetkeys resetchannels -@all +acl|log +ping +info';

let workspace: Workspace;
let folder: string;
let redisUrl: string;
let auditor: Redis;
const running = {} as Running;
const closers: (() => unknown)[] = [];

beforeAll(async () => {
  workspace = await openWorkspace();
  folder = await mkdtemp(join(tmpdir(), 'billhook-redis-users-'));
  const port = await steadyPort();
  redisUrl = `redis://127.0.0.1:${port}`;
  makeUsers('--folder', folder);
  const { command } = await findRedis({ env: { ...process.env, REDIS_URL: '' } });
  const text = `${readFileSync(join(folder, 'acl', 'users.acl'), 'utf8')}${AUDITOR}\n`;
  const url = (address: string) => address.replace('://', '://auditor:auditor@');
  const redis = await startRedis({ command, folder: join(folder, 'data'), env: process.env, port, acl: { text, url } });
  closers.push(() => redis.stop());
  auditor = openRedis(url(redis.url));
  closers.push(() => auditor.disconnect());
  await startServices(workspace, addressOf, running);
});
afterAll(async () => {
  await Promise.all(Object.values(running).map((service) => service.stop()));
  for (const close of closers.reverse()) await close();
  await rm(folder, { recursive: true, force: true });
  await workspace.close();
});

const program = ['deploy/redis/main.ts', '--url'];
const makeUsers = (...args: string[]) =>
  execFileSync('node', [...program, redisUrl, '--prefix', workspace.redisPrefix, ...args], { encoding: 'utf8' });
const addressOf = (user: RedisUser) => readFileSync(join(folder, user, 'redis-url'), 'utf8').trim();

test('when all services work with their users, then documents, batches, webhooks, dashboard and commands work, and no command was rejected', async () => {
  await useEverything({ workspace, running, adminUrl: addressOf('admin') });

  expect(await rejectedCommands(auditor)).toEqual([]);
  for (const name of SERVICES) expect(running[name].output()).not.toMatch(/NOPERM|NOAUTH|WRONGPASS/);
});

test('when the renderer guesses the names of other documents and queues, then it finds none and its attempts are logged', async () => {
  const renderer = openRedis(addressOf('renderer'));
  closers.push(() => renderer.disconnect());
  const { redisPrefix } = workspace;

  for (const [command, ...args] of [
    ['KEYS', `${redisPrefix}:unsaved:*`],
    ['SCAN', '0'],
    ['CONFIG', 'GET', '*'],
    ['FLUSHALL'],
    ['MODULE', 'LIST'],
    ['LRANGE', `${redisPrefix}:deliver-webhook:wait`, '0', '-1'],
    ['GET', `${redisPrefix}:rate:requests:key`],
  ] as [string, ...string[]][]) {
    await expect(renderer.call(command, ...args)).rejects.toThrow(/NOPERM/);
  }

  // The body of a finished document is deleted, so its key has no value.
  const jobs = (await renderer.zrange(`${redisPrefix}:render-document:completed`, '0', '-1')) as string[];
  for (const id of jobs) expect(await renderer.get(`${redisPrefix}:unsaved:render-document:${id}`)).toBeNull();
  expect((await auditor.call('ACL', 'LOG', '100')) as unknown[]).not.toEqual([]);
});

test('when the users are made again, then passwords stay and nothing is written; with --renew all passwords are new', () => {
  const before = REDIS_USERS.map(addressOf);

  expect(makeUsers('--folder', folder)).toContain('unchanged');
  expect(REDIS_USERS.map(addressOf)).toEqual(before);
  expect(makeUsers('--folder', folder, '--renew')).toContain('restart Redis');
  expect(REDIS_USERS.filter((user, index) => addressOf(user) === before[index])).toEqual([]);
  for (const user of REDIS_USERS) expect(statSync(join(folder, user, 'redis-url')).mode % 0o1000).toBe(0o400);
});

test('when the Secret is printed, then it has the same entries as the folder', () => {
  const { kind, metadata, stringData } = JSON.parse(makeUsers('--kubernetes', '--namespace', 'billing'));

  expect(kind).toBe('Secret');
  expect(metadata.namespace).toBe('billing');
  for (const user of REDIS_USERS) expect(stringData[user]).toMatch(new RegExp(`^redis://${user}:[\\w-]{32}@127`));
  expect(stringData['users.acl']).toMatch(
    /^user default off .*\nuser health on nopass .*\n(user \w+ on #[0-9a-f]{64} .*\n){8}$/,
  );
});

test('when the address has sentinels, then Redis itself has users, too, whose passwords stay', () => {
  const url = 'redis+sentinel://one:26379,two:26379/main';
  const make = (...args: string[]) =>
    execFileSync('node', ['deploy/redis/main.ts', '--url', url, ...args], { encoding: 'utf8' });
  const place = join(folder, 'sentinels');
  make('--folder', place);
  const passwordOf = (user: string) => readFileSync(join(place, user, 'password'), 'utf8').trim();
  const before = ['replication', 'sentinel'].map(passwordOf);

  expect(make('--folder', place)).toContain('unchanged');
  expect(['replication', 'sentinel'].map(passwordOf)).toEqual(before);
  expect(readFileSync(join(place, 'gateway', 'redis-url'), 'utf8')).toMatch(
    /^redis\+sentinel:\/\/gateway:[\w-]{32}@one:26379,two:26379\/main\n$/,
  );
  expect(readFileSync(join(place, 'acl', 'users.acl'), 'utf8')).toMatch(
    /^user replication on #.*\nuser sentinel on #/m,
  );
  expect(Object.keys(JSON.parse(make('--kubernetes')).stringData).slice(-3)).toEqual([
    'replication',
    'sentinel',
    'users.acl',
  ]);
});

test.each([
  [['--folder', 'x'], '--url must be'],
  [['--url', 'redis+cluster://host,/3', '--kubernetes'], '--url has an empty or invalid host'],
  [['--url', 'unix:///run/redis.sock', '--kubernetes'], '--url must name a host'],
  [['--url', 'redis://user:secret@host:6379', '--kubernetes'], '--url must be'],
  [['--url', 'redis://host:6379'], 'either --folder or --kubernetes must be given'],
  [['--url', 'redis://host:6379', '--kubernetes', '--prefix', 'a b'], '--prefix must have'],
])('when the program is called with %j, then it says what is wrong and writes nothing', (args, problem) => {
  const { status, stdout, stderr } = spawnSync('node', ['deploy/redis/main.ts', ...args], { encoding: 'utf8' });

  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toContain(problem);
  expect(stderr).not.toContain('secret');
});
