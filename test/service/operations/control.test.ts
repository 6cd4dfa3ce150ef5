// Queues and workers as an operator sees and controls them.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { deliverWebhook, fanOutEvent, renderDocument, retryWebhook } from '#libs/jobs/catalog.ts';
import { findFailedJobs, pauseQueue, readWorkers, resumeQueue, retryFailedJobs, retryJob } from '#libs/jobs/control.ts';
import { openQueues, type Queues } from '#libs/jobs/queue.ts';
import { type RunningWorker, startWorker } from '#libs/jobs/worker.ts';
import { primariesOf, type Server } from '#libs/redis/connection.ts';
import { addFailedJobs } from '../../support/dashboard/failed-jobs.ts';
import { eventually } from '../../support/eventually.ts';
import { openWorkspace, testLog, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let queues: Queues;
beforeAll(async () => {
  workspace = await openWorkspace();
  queues = openQueues({ redisUrl: workspace.redisUrl, prefix: workspace.redisPrefix, log: testLog });
  await eventually(() => queues.redis.status === 'ready');
});
afterAll(async () => {
  await queues.close();
  await workspace.close();
});

describe('workers', () => {
  let worker: RunningWorker;
  let release: () => void = () => undefined;
  const blocked = new Promise<void>((resolve) => {
    release = resolve;
  });
  afterAll(() => worker.close(1_000));

  test('when a worker runs a job, then it is shown with its name, the job and the request', async () => {
    const { redisUrl, redisPrefix: prefix } = workspace;
    worker = startWorker(fanOutEvent, () => blocked, { redisUrl, prefix, concurrency: 1, log: testLog });
    await queues.raw(fanOutEvent).add('fan-out-event', { requestId: 'request-1' }, { jobId: 'event-1' });

    const busy = await eventually(async () => (await readWorkers(queues)).workers.find(({ jobs }) => jobs.length > 0));

    expect(busy).toMatchObject({ queue: 'fan-out-event', jobs: [{ id: 'event-1', requestId: 'request-1' }] });
    expect(busy.name).toMatch(new RegExp(`/${process.pid}$`));
    release();
    await eventually(async () => (await readWorkers(queues)).workers.every(({ jobs }) => jobs.length === 0));
  });

  test('when a worker hangs while another one runs hundreds of jobs, then the jobs of the hanging one are shown, too', async () => {
    const queue = queues.raw(retryWebhook);
    const { redis } = queues;
    const oldest = Date.now() - 60_000;
    for (let index = 0; index < 150; index += 1) {
      const id = `held-${index}`;
      await redis.hset(queue.toKey(id), {
        pb: index < 20 ? 'host/1' : 'host/2',
        processedOn: oldest + index,
        data: '{}',
      });
      await redis.lpush(queue.toKey('active'), id);
    }

    const { orphans } = await readWorkers(queues);

    expect(orphans.filter(({ queue: name }) => name === retryWebhook.name).map(({ id }) => id)).toEqual(
      Array.from({ length: 150 }, (_, index) => `held-${index}`),
    );
    await queue.obliterate({ force: true });
  });

  test('when a queue is paused, then a job waits until it is resumed', async () => {
    await pauseQueue(queues, fanOutEvent);
    await queues.raw(fanOutEvent).add('fan-out-event', {}, { jobId: 'event-2' });
    expect(await queues.raw(fanOutEvent).isPaused()).toBe(true);
    expect(await queues.counts(fanOutEvent)).toMatchObject({ ready: 1, active: 0 });

    await resumeQueue(queues, fanOutEvent);

    await eventually(async () => (await queues.stateOf(fanOutEvent, 'event-2')) === 'unknown');
  });
});

test('when one of the two queues of deliveries is paused or resumed, then the other one is, too', async () => {
  const paused = () =>
    Promise.all([deliverWebhook, retryWebhook, fanOutEvent].map((each) => queues.raw(each).isPaused()));
  await pauseQueue(queues, deliverWebhook);
  const whilePaused = await paused();
  await resumeQueue(queues, retryWebhook);

  expect(whilePaused).toEqual([true, true, false]);
  expect(await paused()).toEqual([false, false, false]);
});

describe('documents', () => {
  test('when a job carries a large document, then inspecting the job does not transfer the document', async () => {
    const document = 'x'.repeat(2 * 1024 * 1024);
    const options = { jobId: 'large-1', timestamp: Date.now() - 5_000, attempts: 1, removeOnFail: false };
    await queues.raw(renderDocument).add('render-document', { document, requestId: 'request-2' }, options);
    let fail: (error: Error) => void = () => undefined;
    const blocked = new Promise<void>((_resolve, reject) => {
      fail = reject;
    });
    let bytes = 0;
    async function measured<Result>(read: Promise<Result>): Promise<Result> {
      const [server] = primariesOf(queues.redis) as [Server];
      const { bytesRead } = server.stream;
      const result = await read;
      bytes += server.stream.bytesRead - bytesRead;
      return result;
    }

    const ageMs = await measured(queues.oldestAgeMs(renderDocument));
    const { redisUrl, redisPrefix: prefix } = workspace;
    const worker = startWorker(renderDocument, () => blocked, { redisUrl, prefix, concurrency: 1, log: testLog });
    await eventually(() => worker.active() === 1);
    const { workers } = await measured(readWorkers(queues));
    fail(new Error('no page'));
    await eventually(async () => (await queues.counts(renderDocument)).failed === 1);
    const failed = await measured(findFailedJobs(queues, renderDocument, 10));
    await worker.close(1_000);

    expect(ageMs).toBeGreaterThanOrEqual(5_000);
    expect(workers.flatMap(({ jobs }) => jobs)).toEqual([
      { id: 'large-1', queue: 'render-document', sinceMs: expect.any(Number), requestId: undefined },
    ]);
    expect(failed).toEqual([{ id: 'large-1', reason: 'no page', failedAt: expect.any(Date), attempts: 1 }]);
    expect(bytes).toBeLessThan(document.length);
  });
});

describe('retry', () => {
  test('when a failed job is retried, then it waits again, and a job that no longer exists is reported as such', async () => {
    const [first, second] = await addFailedJobs(queues, workspace, deliverWebhook, ['no route', 'no route']);

    expect(await findFailedJobs(queues, deliverWebhook, 10)).toEqual(
      expect.arrayContaining([expect.objectContaining({ id: first, reason: 'no route', attempts: 1 })]),
    );
    expect(await retryJob(queues, deliverWebhook, first as string)).toBe('retried');
    expect(await queues.stateOf(deliverWebhook, first as string)).toBe('waiting');
    expect(await retryJob(queues, deliverWebhook, first as string)).toBe('not failed');
    expect(await retryJob(queues, deliverWebhook, 'never-was')).toBe('gone');

    expect(await retryFailedJobs(queues, deliverWebhook)).toBe(1);
    expect(await queues.stateOf(deliverWebhook, second as string)).toBe('waiting');
    expect(await retryFailedJobs(queues, deliverWebhook)).toBe(0);
  });
});
