// A job is completed even if its workers vanish in the middle of it.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { JobDefinition } from '#libs/jobs/catalog.ts';
import { openQueues, type Queues } from '#libs/jobs/queue.ts';
import { startWorker } from '#libs/jobs/worker.ts';
import { whenReady } from '#libs/redis/connection.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/workspace.ts';

const options = { redisUrl: process.env['TEST_REDIS_URL'] ?? '', prefix: `test_${randomUUID()}`, log: testLog };
const definition: JobDefinition<unknown> = {
  name: 'long-work',
  attempts: 1,
  backoffMs: 0,
  lockMs: 1_000,
  stalledMs: 500,
};
/** The same where no worker vanishes: a process that has no processor for a second would lose its lock, and its job. */
const kept: JobDefinition<unknown> = { ...definition, name: 'kept-work', lockMs: 60_000, stalledMs: 60_000 };
let queues: Queues;
beforeAll(async () => {
  queues = openQueues(options);
  await whenReady(queues.redis, 60_000);
});
afterAll(() => queues.close());

test('when two workers vanish in the middle of one job, as in two rollouts, then a third one completes it', async () => {
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
    // It abandons a job that it never ends, as a killed process does.
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
  // The handlers of the first two end long after they lost the job.
  for (const end of hanging) end();

  expect(ended).toBe(1);
});

test.each([
  [undefined, 0],
  [2, 2],
])('when three jobs fail and %j failed ones are to be kept, then %j are', async (failedKept, left) => {
  const failing: JobDefinition<unknown> = {
    ...kept,
    name: `failing-${left}`,
    ...(failedKept ? { failedKept } : {}),
  };
  for (const id of ['a', 'b', 'c']) await queues.enqueue(failing, { id, payload: {} });
  const worker = startWorker(failing, () => Promise.reject(new Error('broken')), { ...options, concurrency: 1 });
  await eventually(async () => {
    const { ready, active } = await queues.counts(failing);
    return ready + active === 0;
  });
  await worker.close(5_000);

  expect(await queues.counts(failing)).toMatchObject({ ready: 0, failed: left });
});

describe('when jobs yield their slots', () => {
  test('then other jobs begin in these slots, up to the limit of jobs off their slots', async () => {
    const waits = new Map<string, () => void>();
    const begun: string[] = [];
    const worker = startWorker(
      kept,
      async (_payload, { jobId, yieldSlot }) => {
        begun.push(jobId);
        // Two waits of one job free one slot.
        await Promise.all([
          yieldSlot(new Promise<void>((resolve) => waits.set(jobId, resolve))),
          yieldSlot(Promise.resolve()),
        ]);
      },
      { ...options, concurrency: 1, offSlotMax: 2 },
    );
    const ids = ['a', 'b', 'c', 'd', 'e'].map((letter) => `off-slot-${letter}`);
    for (const id of ids) await queues.enqueue(kept, { id, payload: {} });

    await eventually(() => begun.length === 3);
    await eventually(async () => (await queues.counts(kept)).active === 3);
    // All three still wait: none of them began because another one had ended.
    expect(begun).toEqual(ids.slice(0, 3));

    for (const id of ids) {
      await eventually(() => waits.has(id));
      waits.get(id)?.();
    }
    await eventually(async () => (await queues.stateOf(kept, 'off-slot-e')) === 'unknown');
    await worker.close(5_000);
    expect(begun).toEqual(ids);
  });

  test('when a job ends before what it waits for, then its slot is reused only once', async () => {
    let running = 0;
    let most = 0;
    let ended = 0;
    const worker = startWorker(
      kept,
      async (_payload, { jobId, yieldSlot }) => {
        running += 1;
        if (jobId === 'first') void yieldSlot(new Promise(() => undefined));
        else most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 20));
        running -= 1;
        ended += 1;
      },
      { ...options, concurrency: 1, offSlotMax: 8 },
    );
    await queues.enqueue(kept, { id: 'first', payload: {} });
    await eventually(() => ended === 1);
    for (let index = 0; index < 6; index += 1) await queues.enqueue(kept, { id: `later-${index}`, payload: {} });
    await eventually(() => ended === 7);
    await worker.close(5_000);

    expect(most).toBe(1);
  });
});
