// A stored reply is found, whether or not its notice arrived.
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openReplies, type Replies, sendReply } from '#libs/jobs/replies.ts';
import { connectFailFast, type Redis, whenReady } from '#libs/redis/connection.ts';
import { chanceOf } from '../../support/chance.ts';
import { eventually } from '../../support/eventually.ts';
import { openFaultProxy } from '../../support/faults/system/fault-proxy.ts';
import { steadyPort } from '../../support/steady-port.ts';
import { testLog } from '../../support/workspace.ts';

const redisUrl = process.env['TEST_REDIS_URL'] ?? '';
const prefix = `test_${randomUUID()}`;
let redis: Redis;
let replies: Replies;
beforeAll(async () => {
  redis = connectFailFast(redisUrl, testLog);
  await whenReady(redis, 60_000);
  replies = openReplies({ redis, redisUrl, prefix, log: testLog });
});
afterAll(() => {
  replies.close();
  redis.disconnect();
});

const expectReply = (id: string) =>
  replies.expect(id, { deadlineAt: Date.now() + 30_000, signal: new AbortController().signal });

test('when the notice of a reply is lost, then the reply is still found, and nothing of it stays in Redis', async () => {
  const id = randomUUID();
  const reply = expectReply(id);
  // The notice goes to an address that has no subscriber.
  await sendReply(redis, { prefix, replyTo: 'absent', id }, { bytes: Buffer.from('%PDF'), warnings: ['w'] });

  expect(await reply).toEqual({ bytes: Buffer.from('%PDF'), warnings: ['w'] });
  await eventually(async () => (await redis.keys(`${prefix}:reply:*`)).length === 0);
});

test.each([
  ['small', 10_000],
  ['as large as a notice may be', 256 * 1024],
  ['large', 3_000_000],
])('when a reply is %s, then it arrives complete, and nothing of it stays in Redis', async (_size, length) => {
  const id = randomUUID();
  const bytes = randomBytes(length);
  const reply = expectReply(id);
  await sendReply(redis, { prefix, replyTo: replies.address, id }, { bytes, warnings: ['logoUrl: größer'] });

  const { bytes: got, warnings } = await reply;
  expect([got.equals(bytes), warnings]).toEqual([true, ['logoUrl: größer']]);
  await eventually(async () => (await redis.exists(`${prefix}:reply:${id}`)) === 0);
});

test('when the response with a large reply is lost, then the reply is read again', async () => {
  const { hostname, port } = new URL(redisUrl);
  const proxyPort = await steadyPort();
  const proxy = await openFaultProxy(proxyPort, Number(port), chanceOf(1, 'replies'));
  const distant = connectFailFast(redisUrl.replace(`${hostname}:${port}`, `127.0.0.1:${proxyPort}`), testLog);
  const failed = Promise.withResolvers<void>();
  const log = Object.assign(Object.create(testLog), { debug: () => failed.resolve() });
  await whenReady(distant, 60_000);
  const mine = openReplies({ redis: distant, redisUrl, prefix, log });
  const id = randomUUID();
  const bytes = randomBytes(300_000);
  const reply = mine.expect(id, { deadlineAt: Date.now() + 30_000, signal: new AbortController().signal });
  try {
    await eventually(async () => Number((await redis.pubsub('NUMSUB', `${prefix}:replies:${mine.address}`))[1]) === 1);
    proxy.become({ kind: 'black hole' });
    await sendReply(redis, { prefix, replyTo: mine.address, id }, { bytes, warnings: [] });
    await failed.promise;
    // Now Redis gets the command, and responds to a connection that is no longer read.
    proxy.become(undefined);

    expect((await reply).bytes.equals(bytes)).toBe(true);
    await eventually(async () => (await redis.exists(`${prefix}:reply:${id}`)) === 0);
  } finally {
    mine.close();
    distant.disconnect();
    await proxy.close();
  }
});

test.each([
  ['this release', 422, { code: 'document_too_long', params: { pages: 212, limit: 115 } }, 'document_too_long'],
  ['an earlier release', 422, {}, 'document_not_printable'],
  ['an earlier release', 500, {}, 'internal_error'],
  ['an earlier release', 502, {}, 'renderer_ended'],
  ['an earlier release', 503, {}, 'printing_failed'],
  ['an earlier release', 504, {}, 'document_late'],
  ['a later release', 422, { code: 'ink_dried' }, 'document_not_printable'],
])(
  'when a job failed at a renderer of %s with %d, then the waiting caller gets the reason and a known code',
  async (_which, status, coded, code) => {
    const failure = { status, message: 'no', ...coded };
    const id = randomUUID();
    // The failure may arrive before the response to the sender.
    const rejected = expect(expectReply(id)).rejects.toMatchObject({ ...failure, code });
    await sendReply(redis, { prefix, replyTo: replies.address, id }, failure);

    await rejected;
  },
);

test('when a reply arrives twice, then the second one changes nothing and is deleted', async () => {
  const id = randomUUID();
  const reply = expectReply(id);
  const target = { prefix, replyTo: replies.address, id };
  await sendReply(redis, target, { bytes: Buffer.from('first'), warnings: [] });
  await sendReply(redis, target, { bytes: Buffer.from('second'), warnings: [] });

  expect(String((await reply).bytes)).toBe('first');
  await eventually(async () => (await redis.exists(`${prefix}:reply:${id}`)) === 0);
});

test('when a reply is for another job, then the caller of this job does not get it', async () => {
  const [mine, other] = [randomUUID(), randomUUID()];
  const reply = expectReply(mine);
  await sendReply(redis, { prefix, replyTo: replies.address, id: other }, { bytes: Buffer.from('b'), warnings: [] });
  await sendReply(redis, { prefix, replyTo: replies.address, id: mine }, { bytes: Buffer.from('a'), warnings: [] });

  expect(String((await reply).bytes)).toBe('a');
});
