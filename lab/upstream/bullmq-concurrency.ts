// BullMQ: a worker whose slots are all taken does not notice that its `concurrency` was raised until a job ends.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import { findRedis } from '../../deploy/backends/redis.ts';
import { startRedis } from '../../deploy/backends/start-redis.ts';

const LIMIT_MS = 3_000;

const folder = await mkdtemp(join(tmpdir(), 'billhook-upstream-'));
const redis = await startRedis({ command: (await findRedis({ env: process.env })).command, folder, env: process.env });
try {
  const connection = { host: '127.0.0.1', port: redis.port, maxRetriesPerRequest: null };
  const queue = new Queue('upstream', { connection });
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<boolean>();
  const run = async ({ name }: { name: string }) => {
    if (name === 'second') return second.resolve(true);
    first.resolve();
    await new Promise(() => undefined);
  };
  const worker = new Worker('upstream', run, { connection, concurrency: 1 });
  await queue.add('first', {});
  await first.promise;
  worker.concurrency = 2;
  await queue.add('second', {});
  const isRun = await Promise.race([second.promise, pause(LIMIT_MS, false)]);
  const verdict = isRun
    ? 'repaired: the second job ran'
    : `still there: the second job waits after ${LIMIT_MS / 1_000} s`;
  process.stdout.write(`bullmq, concurrency raised while busy: ${verdict}\n`);
} finally {
  await redis.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit();
