// A job outlives the workers that vanish in the middle of it.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { JobDefinition } from '#libs/jobs/catalog.ts';
import { openQueues, type Queues } from '#libs/jobs/queue.ts';
import { startWorker } from '#libs/jobs/worker.ts';
import { whenReady } from '#libs/redis.ts';
import { eventually } from '../support/eventually.ts';
import { testLog } from '../support/workspace.ts';

const options = { redisUrl: process.env['TEST_REDIS_URL'] ?? '', prefix: `test_${randomUUID()}`, log: testLog };
const definition: JobDefinition<unknown> = {
  name: 'long-work',
  attempts: 1,
  backoffMs: 0,
  lockMs: 1_000,
  stalledMs: 500,
};
let queues: Queues;
beforeAll(async () => {
  queues = openQueues(options);
  await whenReady(queues.redis, 5_000);
});
afterAll(() => queues.close());

test('when two workers vanish in the middle of one job, as in two rollouts, then the third does it', async () => {
  await queues.enqueue(definition, { id: 'one', payload: {} });
  const hanging: Array<() => void> = [];
  for (let vanished = 0; vanished < 2; vanished += 1) {
    const begun = Promise.withResolvers<void>();
    const endless = async () => {
      begun.resolve();
      await new Promise<void>((resolve) => hanging.push(resolve));
    };
    const worker = startWorker(definition, endless, { ...options, concurrency: 1 });
    await begun.promise;
    // It lets go of a job it never ends, as a process does that is killed.
    await worker.close(0);
  }
  let ended = 0;
  const last = startWorker(
    definition,
    async () => {
      ended += 1;
    },
    { ...options, concurrency: 1 },
  );
  await eventually(() => ended === 1);
  await eventually(async () => (await queues.stateOf(definition, 'one')) === 'unknown');
  await last.close(5_000);
  // What the first two had in hand ends long after it was taken from them.
  for (const end of hanging) end();

  expect(ended).toBe(1);
});
