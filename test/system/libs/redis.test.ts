// Many commands at once over one connection: each gets its own response, also after the connection was lost.
import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { connectFailFast, connectWorker, whenReady, whenTried } from '#libs/redis/connection.ts';
import { testLog } from '../../support/workspace.ts';

const COUNT = 500;

test('when many commands are sent at once, then each gets its own response, in order, and one sent as the connection closes still arrives', async () => {
  const url = String(process.env['TEST_REDIS_URL']);
  const key = `test-${randomUUID()}`;
  const [redis, other] = [connectWorker(url, testLog), connectWorker(url, testLog)];
  const countUp = () => Promise.all(Array.from({ length: COUNT }, () => redis.incr(key)));
  try {
    await whenReady(redis, 60_000);
    const expected = Array.from({ length: COUNT }, (_, index) => index + 1);
    expect(await countUp()).toEqual(expected);

    await other.client('KILL', 'ID', await redis.client('ID'));
    await other.del(key);
    await redis.ping();
    expect(await countUp()).toEqual(expected);

    const last = redis.set(key, 'last');
    await redis.quit();
    expect(await last).toBe('OK');
    expect(await other.getdel(key)).toBe('last');
  } finally {
    redis.disconnect();
    other.disconnect();
  }
});

test('when the process pauses for longer than a command may take, then the answer that came meanwhile is used', async () => {
  const redis = connectFailFast(String(process.env['TEST_REDIS_URL']), testLog);
  try {
    await whenReady(redis, 60_000);
    const answer = redis.ping();
    await new Promise((resolve) => setImmediate(resolve));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_200);

    expect(await answer).toBe('PONG');
  } finally {
    redis.disconnect();
  }
});

test.each([
  ['right', 'undefined'],
  ['guessed', 'REDIS_URL: Redis rejects its user name or password (WRONGPASS)'],
])(
  'when the process pauses right after it began to connect with a %s password, then the start still learns the answer',
  async (password, problem) => {
    const owner = connectWorker(String(process.env['TEST_REDIS_URL']), testLog);
    const user = `test-${randomUUID()}`;
    await owner.acl('SETUSER', user, 'on', '>right', '~*', '+@all');
    const url = Object.assign(new URL(String(process.env['TEST_REDIS_URL'])), { username: user, password });
    const redis = connectFailFast(url.href, testLog);
    try {
      const tried = whenTried(redis).then(
        () => 'undefined',
        (error: Error) => error.message,
      );
      // It is longer than one try to connect may take, than one command, and than the start waits for Redis.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6_000);

      expect(await tried).toContain(problem);
      expect(redis.status === 'ready').toBe(password === 'right');
    } finally {
      redis.disconnect();
      await owner.acl('DELUSER', user);
      owner.disconnect();
    }
  },
);
