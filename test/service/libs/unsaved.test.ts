// Redis writes nothing to disk of a document that passes through the queue.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { deliverWebhook, renderDocument } from '#libs/jobs/catalog.ts';
import { openQueues, type Queues } from '#libs/jobs/queue.ts';
import { openReplies, type Replies, sendReply } from '#libs/jobs/replies.ts';
import { type JobHandler, type RunningWorker, startWorker } from '#libs/jobs/worker.ts';
import { connectFailFast, type Redis, whenReady } from '#libs/redis/connection.ts';
import { findRedis } from '../../../deploy/backends/redis.ts';
import { type RunningRedis, startRedis } from '../../../deploy/backends/start-redis.ts';
import { eventually } from '../../support/eventually.ts';
import { scratchFolders } from '../../support/scratch.ts';
import { testLog } from '../../support/workspace.ts';

const newFolder = scratchFolders();
const prefix = 'unsaved';
const MARK = 'IBAN DE00 MARKED';
let folder: string;
let server: RunningRedis;
let queues: Queues;
let replies: Replies;
let redis: Redis;
let worker: RunningWorker | undefined;

beforeEach(async () => {
  folder = await newFolder();
  await startServer();
  const options = { redisUrl: server.url, prefix, log: testLog };
  queues = openQueues(options);
  replies = openReplies({ ...options, redis: queues.redis });
  redis = connectFailFast(server.url, testLog);
  await Promise.all([queues.redis, redis].map((each) => whenReady(each, 60_000)));
});
afterEach(async () => {
  await worker?.close(5_000);
  worker = undefined;
  replies.close();
  redis.disconnect();
  await queues.close();
  await server.stop();
});

test('when a document is printed, then neither it nor its PDF is written to the append-only file', async () => {
  work(async (payload, { jobId }) => {
    expect(payload.document.title).toBe(MARK);
    const bytes = Buffer.from(`%PDF-1.7 ${payload.document.title}`);
    await sendReply(redis, { prefix, replyTo: payload.replyTo, id: jobId }, { bytes, warnings: [] });
  });
  // The payload of a job of another queue is written: it proves that the search below can find something.
  await queues.enqueue(deliverWebhook, {
    id: 'delivery-1',
    payload: { deliveryId: 'CONTROL', accountId: 'a', endpointId: 'e' },
  });

  const reply = await print('job-1');

  expect(reply.bytes.toString()).toBe(`%PDF-1.7 ${MARK}`);
  await eventually(async () => (await redis.exists(`${prefix}:unsaved:render-document:job-1`)) === 0);
  await worker?.close(5_000); // Without Redis BullMQ's own close would never end, nor its timer.
  await server.stop(); // Flushes everything to disk.
  const written = await filesOf(folder);
  expect(written).toContain('CONTROL');
  expect(written).toContain('job-1');
  expect(written).not.toContain(MARK);
  expect(written).not.toContain('%PDF');
});

test('when Redis is killed meanwhile, then the job ends unprinted and is removed, so that it can be enqueued again', async () => {
  const printed: string[] = [];
  await enqueue('job-2');
  process.kill(server.pid, 'SIGKILL');
  await server.child.exited;
  await startServer(server.port);
  await eventually(async () => (await queues.stateOf(renderDocument, 'job-2').catch(() => '')) === 'waiting');

  work(async ({ document }) => void printed.push(document.title));

  await eventually(async () => (await queues.stateOf(renderDocument, 'job-2')) === 'unknown');
  expect(printed).toEqual([]);
  await enqueue('job-2');
  await eventually(() => printed.length === 1);
});

test('when a job that no worker has taken is removed, then its document is deleted at once', async () => {
  await enqueue('job-3');
  expect(await redis.exists(`${prefix}:unsaved:render-document:job-3`)).toBe(1);

  expect(await queues.remove(renderDocument, 'job-3')).toBe(true);

  expect(await redis.exists(`${prefix}:unsaved:render-document:job-3`)).toBe(0);
});

async function startServer(port?: number) {
  const { command } = await findRedis({ env: process.env });
  const fixedPort = port === undefined ? {} : { port };
  server = await startRedis({ command, folder, env: process.env, ...fixedPort });
}

function work(
  handler: JobHandler<typeof renderDocument extends { payload?: infer Payload } ? NonNullable<Payload> : never>,
) {
  worker = startWorker(renderDocument, handler, { redisUrl: server.url, prefix, concurrency: 1, log: testLog });
}

async function enqueue(id: string) {
  const document = { title: MARK, number: '1', amount: 1, lineItems: [] };
  const payload = {
    document,
    accountId: 'a',
    requestId: 'r',
    deadlineAt: Date.now() + 30_000,
    replyTo: replies.address,
  };
  await queues.enqueue(renderDocument, { id, payload: payload as never });
}

async function print(id: string) {
  const reply = replies.expect(id, { deadlineAt: Date.now() + 30_000, signal: new AbortController().signal });
  await enqueue(id);
  return await reply;
}

async function filesOf(path: string): Promise<string> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return (await Promise.all(files.map((file) => readFile(file, 'latin1')))).join('\n');
}
