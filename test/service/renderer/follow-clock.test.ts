// A renderer whose clock is wrong still keeps the deadlines of gateways, because it takes the time from Redis.
import { afterEach, jest, test } from '@jest/globals';
import { agreedTime } from '#libs/clock.ts';
import { connectFailFast, whenReady } from '#libs/redis/connection.ts';
import { followClock } from '../../../services/renderer/follow-clock.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/workspace.ts';

const HOUR_MS = 3_600_000;

afterEach(() => {
  jest.restoreAllMocks();
});

test('when the clock of a renderer is an hour ahead, then it uses the time of Redis', async () => {
  const redis = connectFailFast(String(process.env['TEST_REDIS_URL']), testLog);
  // This begins while the connection is being made, as it does in a renderer. The next request follows ten seconds later.
  const unfollow = followClock(redis);
  await whenReady(redis, 5_000);
  try {
    const right = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(right + HOUR_MS);
    await eventually(() => Math.abs(agreedTime() - right) < HOUR_MS / 2);
  } finally {
    unfollow();
    redis.disconnect();
  }
});
