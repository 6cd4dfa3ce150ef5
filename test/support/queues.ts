// The queues of a test's own part of Redis.
import { openQueues, type Queues } from '#libs/jobs/queue.ts';
import { whenReady } from '#libs/redis/connection.ts';
import { testLog, type Workspace } from './workspace.ts';

/** Waits for Redis: a command that is sent while the connection is being made fails at once. */
export async function openReadyQueues({
  redisUrl,
  redisPrefix,
}: Pick<Workspace, 'redisUrl' | 'redisPrefix'>): Promise<Queues> {
  const queues = openQueues({ redisUrl, prefix: redisPrefix, log: testLog });
  await whenReady(queues.redis, 60_000);
  return queues;
}
