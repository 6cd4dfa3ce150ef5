// A reply that is there is found, whether or not its notice came.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openReplies, type Replies, sendReply } from '#libs/jobs/replies.ts';
import { connectImpatient, type Redis, whenReady } from '#libs/redis.ts';
import { testLog } from '../support/workspace.ts';

const redisUrl = process.env['TEST_REDIS_URL'] ?? '';
const prefix = `test_${randomUUID()}`;
let redis: Redis;
let replies: Replies;
beforeAll(async () => {
  redis = connectImpatient(redisUrl, testLog);
  await whenReady(redis, 5_000);
  replies = openReplies({ redis, redisUrl, prefix, log: testLog });
});
afterAll(() => {
  replies.close();
  redis.disconnect();
});

const expectReply = (id: string) =>
  replies.expect(id, { deadlineAt: Date.now() + 30_000, signal: new AbortController().signal });

test('when the notice of a reply is lost, then the reply is found all the same, once', async () => {
  const id = randomUUID();
  const reply = expectReply(id);
  // The notice goes to an address where nobody listens.
  await sendReply(redis, { prefix, replyTo: 'nobody', id }, { bytes: Buffer.from('%PDF'), warnings: ['w'] });

  expect(await reply).toEqual({ bytes: Buffer.from('%PDF'), warnings: ['w'] });
  expect(await redis.keys(`${prefix}:reply:*`)).toEqual([]);
});

test('when a reply is for another job, then it is not this one’s', async () => {
  const [mine, other] = [randomUUID(), randomUUID()];
  const reply = expectReply(mine);
  await sendReply(redis, { prefix, replyTo: replies.address, id: other }, { bytes: Buffer.from('b'), warnings: [] });
  await sendReply(redis, { prefix, replyTo: replies.address, id: mine }, { bytes: Buffer.from('a'), warnings: [] });

  expect(String((await reply).bytes)).toBe('a');
});
