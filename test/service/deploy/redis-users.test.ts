// The users of Redis, one for each service: what each may do and, above all, may not.
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type JobDefinition, loadLogo, renderDocument } from '#libs/jobs/catalog.ts';
import { openQueues, type Queues } from '#libs/jobs/queue.ts';
import { openReplies, sendReply } from '#libs/jobs/replies.ts';
import { startWorker } from '#libs/jobs/worker.ts';
import { type ConnectionOptions, openRedis, type Redis, whenReady } from '#libs/redis/connection.ts';
import { findRedis } from '../../../deploy/backends/redis.ts';
import { type RunningRedis, startRedis } from '../../../deploy/backends/start-redis.ts';
import { drawRedisUsers } from '../../../deploy/redis/passwords.ts';
import { REDIS_USERS, type RedisUser } from '../../../deploy/redis/users.ts';
import { openGuardedFolder } from '../../support/guarded-folder.ts';
import { testLog } from '../../support/workspace.ts';

const prefix = 'ours';
const users = drawRedisUsers(prefix);
const connections: Redis[] = [];
let guarded: Awaited<ReturnType<typeof openGuardedFolder>>;
let server: RunningRedis;

beforeAll(async () => {
  guarded = await openGuardedFolder('redis-users');
  const { command } = await findRedis({ env: process.env });
  const acl = { text: users.acl, url: (url: string) => users.urlOf('admin', url) };
  server = await startRedis({
    command,
    folder: guarded.path,
    env: { ...process.env, ...guarded.markedAs('redis') },
    acl,
  });
});
afterAll(async () => {
  // ioredis would wait two seconds for the end of a connection that its server has ended already.
  for (const redis of connections) if (redis.status !== 'end') redis.disconnect();
  await server.stop();
  await guarded.close();
});

describe.each(REDIS_USERS)('%s', (user) => {
  test.each([
    ['CONFIG', 'GET', 'dir'],
    ['CONFIG', 'SET', 'dir', '/tmp'],
    ['MODULE', 'LIST'],
    ['DEBUG', 'JMAP'],
    ['FLUSHALL'],
    ['FLUSHDB'],
    ['KEYS', '*'],
    ['SCAN', '0'],
    ['RANDOMKEY'],
    ['SAVE'],
    ['BGREWRITEAOF'],
    ['SHUTDOWN'],
    ['REPLICAOF', '127.0.0.1', '1'],
    ['MONITOR'],
    ['ACL', 'LIST'],
    ['CLIENT', 'KILL', 'ID', '1'],
    ['SCRIPT', 'FLUSH'],
    ['GET', 'others:key'],
    ['SET', 'others:key', '1'],
    ['PUBLISH', 'others:channel', '1'],
    ['EVAL', "return redis.call('GET', KEYS[1])", '1', 'others:key'],
    ['EVAL', "return redis.call('CONFIG', 'GET', 'dir')", '0'],
  ])('when it sends %s %s %s, then Redis rejects it', async (command, ...args) => {
    await expect(as(user).call(command, ...args)).rejects.toThrow(/NOPERM|ACL|permission|can't run|not allowed/i);
  });
});

test.each([
  ['HGETALL', 'ours:deliver-webhook:1'],
  ['LRANGE', 'ours:deliver-webhook:wait', '0', '-1'],
  ['GET', 'ours:rate:requests:key'],
  ['DEL', 'ours:retry-webhook:meta'],
  ['HSET', 'ours:fan-out-event:meta', 'paused', '1'],
  ['PUBLISH', 'ours:nudges', ''],
  ['CLIENT', 'LIST'],
])(
  'when the renderer sends %s %s, then Redis rejects it: the renderer may use its own queue only',
  async (command, ...args) => {
    await expect(as('renderer').call(command, ...args)).rejects.toThrow(/NOPERM/);
  },
);

test.each([
  ['GET', 'ours:unsaved:render-document:1'],
  ['GET', 'ours:unsaved:load-logo:1'],
  ['HGETALL', 'ours:render-document:1'],
  ['GET', 'ours:reply:1'],
  ['PUBLISH', 'ours:replies:gateway', 'forged'],
])(
  'when the webhook service sends %s %s, then Redis rejects it: the service may not read documents',
  async (command, ...args) => {
    await expect(as('webhooks').call(command, ...args)).rejects.toThrow(/NOPERM/);
  },
);

test.each([
  ['GET', 'ours:unsaved:render-document:1'],
  ['GET', 'ours:reply:1'],
  ['GET', 'ours:rate:requests:key'],
  ['PUBLISH', 'ours:replies:gateway', 'forged'],
])(
  'when the dashboard sends %s %s, then Redis rejects it: the dashboard may read the queues without their documents',
  async (command, ...args) => {
    await expect(as('operations').call(command, ...args)).rejects.toThrow(/NOPERM/);
  },
);

test.each([
  ['LRANGE', 'ours:deliver-webhook:wait', '0', '-1'],
  ['HGETALL', 'ours:fan-out-event:1'],
  ['GET', 'ours:rate:requests:key'],
])(
  'when the mail service sends %s %s, then Redis rejects it: it may use its own queue and that of documents only',
  async (command, ...args) => {
    await expect(as('mail').call(command, ...args)).rejects.toThrow(/NOPERM/);
  },
);

test.each([
  ['LRANGE', 'ours:send-mail:wait', '0', '-1'],
  ['GET', 'ours:rate:requests:key'],
  ['CLIENT', 'LIST'],
])(
  'when the portal sends %s %s, then Redis rejects it: it may nudge, have documents printed and logos fetched only',
  async (command, ...args) => {
    await expect(as('portal').call(command, ...args)).rejects.toThrow(/NOPERM/);
  },
);

test.each([
  ['LRANGE', 'ours:deliver-webhook:wait', '0', '-1'],
  ['HGETALL', 'ours:render-document:1'],
  ['PUBLISH', 'ours:cancels', '1'],
  ['CLIENT', 'LIST'],
])(
  'when the scheduler sends %s %s, then Redis rejects it: the scheduler may only nudge the relay',
  async (command, ...args) => {
    await expect(as('scheduler').call(command, ...args)).rejects.toThrow(/NOPERM/);
    expect(await as('scheduler').publish('ours:nudges', '')).toBe(0);
  },
);

test('when a connection does not log in, then nothing is answered; as the user of health checks it may send PING only', async () => {
  for (const line of ['PING', 'INFO', 'GET ours:reply:1', 'EVAL "return 1" 0'])
    expect(await answerWithoutLogin(line)).toMatch(/^-NOAUTH/);

  const health = connection(server.url.replace('://', '://health:none@'), { enableReadyCheck: false });
  expect(await health.call('PING')).toBe('PONG');
  const rejected: [string, ...string[]][] = [
    ['GET', 'ours:reply:1'],
    ['INFO'],
    ['CONFIG', 'GET', 'dir'],
    ['ACL', 'WHOAMI'],
    ['EVAL', 'return 1', '0'],
  ];
  for (const command of rejected) await expect(health.call(...command)).rejects.toThrow(/NOPERM/);
});

test.each([
  'AUTH ""',
  'AUTH none',
  'AUTH default ""',
  'AUTH default none',
  'AUTH gateway none',
  'HELLO 3 AUTH default ""',
])('when a login is tried as %s, then it is rejected', async (line) => {
  expect(await answerWithoutLogin(line)).toMatch(/^-WRONGPASS/);
});

test('when Redis starts again, then it has what transactions and scripts wrote', async () => {
  const { command } = await findRedis({ env: process.env });
  const acl = { text: users.acl, url: (url: string) => users.urlOf('admin', url) };
  const start = () => startRedis({ command, folder: join(guarded.path, 'again'), env: process.env, acl });
  const gatewayOf = ({ url }: RunningRedis) => connection(users.urlOf('gateway', url));
  const first = await start();
  const before = gatewayOf(first);
  await before.multi().set('ours:a', 1, 'PX', 600_000).incrby('ours:a', 1).exec();
  await before.eval("redis.call('SET', KEYS[1], 1); return redis.call('SET', KEYS[2], 2)", 2, 'ours:b', 'ours:c');
  await first.stop();

  const second = await start();
  const after = gatewayOf(second);
  const kept = [await after.mget('ours:a', 'ours:b', 'ours:c'), (await after.pttl('ours:a')) > 0];
  await second.stop();

  expect(kept).toEqual([['2', '1', '2'], true]);
});

test('when the gateway requests a document and the renderer prints it, then neither lacks a right for it', async () => {
  const document = { title: 'Invoice 7' } as never;

  const { text, queues, end } = await asked(
    'gateway',
    renderDocument,
    { document, requestId: 'r' },
    (payload) => payload.document.title,
  );

  expect(text).toBe('Invoice 7');
  expect(await queues.workerCount(renderDocument)).toBe(1);
  await end();
});

test('when the portal asks for a logo and the renderer fetches it, then neither lacks a right for it', async () => {
  const url = 'https://studio.example/';

  const { text, end } = await asked('portal', loadLogo, { url }, (payload) => payload.url);

  expect(text).toBe(url);
  await end();
});

/** Lets a user ask for a job and the renderer run it. Returns the text of the reply, and closes both with `end`. */
async function asked<Payload extends { replyTo: string }>(
  user: RedisUser,
  job: JobDefinition<Payload>,
  content: Omit<Payload, 'accountId' | 'deadlineAt' | 'replyTo'>,
  textOf: (payload: Payload) => string,
): Promise<{ text: string; queues: Queues; end(): Promise<void> }> {
  const asking = { redisUrl: users.urlOf(user, server.url), prefix, log: testLog };
  const queues = openQueues(asking);
  const replies = openReplies({ ...asking, redis: queues.redis });
  const redis = as('renderer');
  await whenReady(queues.redis, 60_000);
  const worker = startWorker(
    job,
    async (payload, { jobId }) => {
      const reply = { bytes: Buffer.from(textOf(payload)), warnings: [] };
      await sendReply(redis, { prefix, replyTo: payload.replyTo, id: jobId }, reply);
    },
    { redisUrl: users.urlOf('renderer', server.url), prefix, concurrency: 1, log: testLog },
  );
  const deadlineAt = Date.now() + 30_000;
  const reply = replies.expect('job-1', { deadlineAt, signal: new AbortController().signal });
  const payload = { ...content, accountId: 'a', deadlineAt, replyTo: replies.address } as unknown as Payload;

  await queues.enqueue(job, { id: 'job-1', payload });

  return {
    text: (await reply).bytes.toString(),
    queues,
    async end() {
      await worker.close(5_000);
      replies.close();
      await queues.close();
    },
  };
}

/** ioredis itself ends a connection that may not even say its name. */
async function answerWithoutLogin(line: string): Promise<string> {
  const socket = connect(server.port, '127.0.0.1');
  socket.write(`${line}\r\n`);
  const [answer] = await once(socket, 'data');
  socket.destroy();
  return String(answer);
}

function as(user: RedisUser): Redis {
  return connection(users.urlOf(user, server.url));
}

function connection(url: string, options: ConnectionOptions = {}): Redis {
  const redis = openRedis(url, { retryStrategy: () => null, ...options });
  redis.on('error', () => undefined); // Some forbidden commands end the connection.
  connections.push(redis);
  return redis;
}
