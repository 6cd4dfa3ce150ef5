// REDIS_URL: the accepted forms, what they mean, and problems that never repeat a password.
import { afterEach, expect, test } from '@jest/globals';
import { readRedisUrl } from '#libs/redis/address.ts';
import { failsOver, isCluster, openRedis, primariesOf, type Redis } from '#libs/redis/connection.ts';
import { ConfigError } from '#libs/service/config-error.ts';
import { readConfig } from '../../../services/scheduler/config.ts';

const opened: Redis[] = [];
afterEach(() => {
  for (const redis of opened.splice(0)) redis.disconnect();
});

function open(url: string) {
  // No server listens there.
  const redis = openRedis(url, { lazyConnect: true });
  opened.push(redis);
  return redis;
}

test('when the address is a socket, then its path, user, password and database are read', () => {
  const optionsOf = (url: string) => primariesOf(open(url))[0]?.options;

  expect(optionsOf('unix:///run/a/redis.sock')).toMatchObject({ path: '/run/a/redis.sock', username: null, db: 0 });
  expect(optionsOf('unix://gateway:p%40ss%2F@/run/a%20b/redis.sock?db=2')).toMatchObject({
    path: '/run/a b/redis.sock',
    username: 'gateway',
    password: 'p@ss/',
    db: 2,
  });
});

test('when the address is a host, then host, port, user and password are read', () => {
  const redis = open('redis://user:secret@127.0.0.1:1/3');

  expect(primariesOf(redis)[0]?.options).toMatchObject({
    host: '127.0.0.1',
    port: 1,
    username: 'user',
    password: 'secret',
    db: 3,
  });
  expect(failsOver(redis)).toBe(false);
});

test.each([
  [
    'redis+sentinel://user:p%40ss@a:26380,b,[::1]:26381/mymaster?db=2',
    {
      kind: 'sentinel',
      hosts: [
        { host: 'a', port: 26380 },
        { host: 'b', port: 26379 },
        { host: '::1', port: 26381 },
      ],
      name: 'mymaster',
      db: 2,
      isTls: false,
      username: 'user',
      password: 'p@ss',
      sentinel: {},
    },
  ],
  [
    'rediss+sentinel://a/our%20primary?sentinelUsername=watch&sentinelPassword=p%3Dw',
    {
      kind: 'sentinel',
      hosts: [{ host: 'a', port: 26379 }],
      name: 'our primary',
      db: 0,
      isTls: true,
      sentinel: { username: 'watch', password: 'p=w' },
    },
  ],
  [
    'redis+cluster://:word@a:7000,b',
    {
      kind: 'cluster',
      hosts: [
        { host: 'a', port: 7000 },
        { host: 'b', port: 6379 },
      ],
      isTls: false,
      password: 'word',
    },
  ],
  ['rediss+cluster://a/0?db=0', { kind: 'cluster', hosts: [{ host: 'a', port: 6379 }], isTls: true }],
])('when the address is %s, then it means these servers', (url, address) => {
  expect(readRedisUrl(url)).toEqual({ address });
});

test('when the address names sentinels or a cluster, then the connection knows that a lost primary is replaced', () => {
  const [sentinel, cluster] = [open('redis+sentinel://127.0.0.1:1/main'), open('redis+cluster://127.0.0.1:1')];

  expect([failsOver(sentinel), failsOver(cluster)]).toEqual([true, true]);
  expect([isCluster(sentinel), isCluster(cluster)]).toEqual([false, true]);
});

test.each([
  ['redis+sentinel://user:secret@a:26379', [/must name the primary/]],
  ['redis+sentinel://user:secret@/main', [/empty or invalid host/]],
  ['redis+sentinel://a,,b/main', [/empty or invalid host/]],
  ['redis+sentinel://a/main/0', [/nothing but the name of the primary/]],
  ['redis+sentinel://a/main?sentinelUsername=watch', [/no sentinelPassword/]],
  ['redis+sentinel://a/main?db=1&db=2', [/db twice/]],
  ['redis+sentinel://a:0,b:70000/', [/port of a that/, /port of b that/, /must name the primary/]],
  ['redis+cluster://a/1', [/database 0 or none/]],
  ['redis+cluster://a?db=1&name=main', [/unknown option "name"; known are db/, /database 0 or none/]],
  ['redis+cluster://a/main', [/no number/]],
  ['redis+cluster://secret@a', [/without a password/]],
  ['redis+cluster://user:secret:more@a', [/":" in its user name/]],
  ['redis+cluster://user:%ecret@a', [/"%" that begins no/]],
  ['redis+cluster://user:sec/ret@a', [/"\/", "\?" or "@"/]],
  ['redis+cluster://user:sec?ret@a', [/"\/", "\?" or "@"/]],
  ['redis+cluster://user:sec@ret@a', [/^must be redis:/]],
  ['redis+cluster://user:secret@a b', [/^must be redis:/]],
  ['redis+proxy://user:secret@a', [/^must be redis:/]],
  ['unix:///run/redis.sock?name=secret', [/^must be redis:/]],
  ['localhost', [/^must be redis:/]],
])('when the address is %s, then all its problems are named, without its password', (url, problems) => {
  expect(readRedisUrl(url)).toEqual({ problems: problems.map((problem) => expect.stringMatching(problem)) });
  expect(JSON.stringify(readRedisUrl(url))).not.toMatch(/sec|ret|watch|ecret/);
});

test('when a service gets such an address, then the problems stand behind the name of the variable', () => {
  const env = { MONGODB_URI: 'mongodb://a/billhook', REDIS_URL: 'redis+sentinel://a,/?db=x' };

  expect(() => readConfig(env)).toThrow(
    new ConfigError([
      'REDIS_URL has an empty or invalid host: hosts are HOST:PORT, separated by commas; must name the primary after the sentinels, such as redis+sentinel://HOST:26379/mymaster; has a database that is no number',
    ]),
  );
});
