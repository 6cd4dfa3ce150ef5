// Addresses of Redis that are a socket in the file system.
import { afterEach, expect, test } from '@jest/globals';
import { openRedis, type Redis } from '#libs/redis/connection.ts';

const opened: Redis[] = [];
afterEach(() => {
  for (const redis of opened.splice(0)) redis.disconnect();
});

function optionsOf(url: string) {
  const redis = openRedis(url, { retryStrategy: () => null });
  redis.on('error', () => undefined); // No server listens there.
  opened.push(redis);
  const { path, host, port, username, password, db } = redis.options;
  return { path, host, port, username, password, db };
}

test('when the address is a socket, then its path, user, password and database are read', () => {
  expect(optionsOf('unix:///run/a/redis.sock')).toMatchObject({ path: '/run/a/redis.sock', username: null, db: 0 });
  expect(optionsOf('unix://gateway:p%40ss%2F@/run/a%20b/redis.sock?db=2')).toMatchObject({
    path: '/run/a b/redis.sock',
    username: 'gateway',
    password: 'p@ss/',
    db: 2,
  });
});

test('when the address is a host, then host, port, user and password are read', () => {
  expect(optionsOf('redis://user:secret@127.0.0.1:1/3')).toMatchObject({
    host: '127.0.0.1',
    port: 1,
    username: 'user',
    password: 'secret',
  });
});
