// Jobs that really failed, of a queue that keeps them, for tests of what an operator does with them.
import { Worker } from 'bullmq';
import type { JobDefinition } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { connectWorker } from '#libs/redis/connection.ts';
import { eventually } from '../eventually.ts';
import { testLog } from '../workspace.ts';

/** @param reasons one job fails for each of them. @returns their ids. */
export async function addFailedJobs(
  queues: Queues,
  place: { redisUrl: string; redisPrefix: string },
  definition: JobDefinition<unknown>,
  reasons: string[],
): Promise<string[]> {
  const connection = connectWorker(place.redisUrl, testLog);
  const fail = async (job: { data: { reason: string } }) => {
    throw new Error(job.data.reason);
  };
  const worker = new Worker(definition.name, fail, { connection, prefix: place.redisPrefix, skipVersionCheck: true });
  const ids: string[] = [];
  for (const [index, reason] of reasons.entries()) {
    const id = `failing-${index}-${Math.random().toString(36).slice(2)}`;
    await queues.raw(definition).add(definition.name, { reason }, { jobId: id });
    ids.push(id);
  }
  await eventually(async () => {
    const states = await Promise.all(ids.map((id) => queues.stateOf(definition, id)));
    return states.every((state) => state === 'failed');
  });
  await worker.close();
  connection.disconnect();
  return ids;
}
