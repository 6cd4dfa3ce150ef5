// A record whose job failed, because a store was away, gets another job: each round that enqueues records by id has a row, and a queue
// without one is red.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { catalog, type JobDefinition, retryWebhook } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { startWorker } from '#libs/jobs/worker.ts';
import { Message, type MessageRecord } from '#libs/models/messages/message.ts';
import { type Id, newId } from '#libs/models/tenant.ts';
import { Delivery } from '#libs/models/webhooks/delivery.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { enqueueDueMessages } from '../../../services/mail/enqueue-due-messages.ts';
import { enqueueDueDeliveries } from '../../../services/webhooks/enqueue-due-deliveries.ts';
import { openRelay } from '../../../services/webhooks/relay-events.ts';
import { openTraffic } from '../../../services/webhooks/traffic/traffic.ts';
import { eventually } from '../../support/eventually.ts';
import { insertMessage } from '../../support/messages.ts';
import { openReadyQueues } from '../../support/queues.ts';
import { announcedEvent, startWebhookService, storedDelivery } from '../../support/webhooks.ts';
import { openWorkspace, testLog, type Workspace } from '../../support/workspace.ts';

interface Round {
  /** Stores a record that is due now. Returns how to make it due again, as time does. */
  store: (accountId: Id) => Promise<() => Promise<unknown>>;
  run: () => Promise<unknown>;
}

/** Due by every clock: a process whose first answer of MongoDB came late may agree on an earlier time than its own. */
const LONG_DUE = new Date('2020-01-01');

/** A job that fails leaves its record as it is, and time makes the record due again. */
const ROUNDS: Readonly<Record<string, Round>> = {
  'fan-out-event': {
    async store(accountId) {
      const { _id } = await announcedEvent(accountId);
      return () => Event.updateOne({ account_id: accountId, _id }, { due_at: LONG_DUE });
    },
    run: () => openRelay(queues).relay(),
  },
  'retry-webhook': {
    async store(accountId) {
      const _id = await storedDelivery(accountId, newId());
      return () => Delivery.updateOne({ account_id: accountId, _id }, { due_at: LONG_DUE });
    },
    run: () => enqueueDueDeliveries(queues, openTraffic({ scale: 1 })),
  },
  'send-mail': mails({}),
  'send-own-mail': mails({ sender: 'ada@example.com' }),
};
/** Queues on which no round enqueues anything again. */
const WITHOUT_ROUND = {
  'deliver-webhook': 'The poller enqueues its deliveries on retry-webhook.',
  'render-document': 'Each enqueue has a random id.',
  'load-logo': 'Each enqueue has a random id.',
};

let workspace: Workspace;
let queues: Queues;
beforeAll(async () => {
  workspace = await openWorkspace();
  queues = await openReadyQueues(workspace);
});
afterAll(async () => {
  await queues.close();
  await workspace.close();
});

const workerOptions = () => ({
  redisUrl: workspace.redisUrl,
  prefix: workspace.redisPrefix,
  log: testLog,
  concurrency: 1,
});

function mails(fields: Partial<MessageRecord>): Round {
  return {
    async store(accountId) {
      const { _id } = await insertMessage(accountId, fields);
      return () => Message.updateOne({ account_id: accountId, _id }, { due_at: LONG_DUE });
    },
    run: () => enqueueDueMessages({ queues, retryScale: 1, onEvents: () => undefined }),
  };
}

test('every queue has a round here, or the reason why it has none', () => {
  const named = [...Object.keys(ROUNDS), ...Object.keys(WITHOUT_ROUND)];
  expect(named.toSorted()).toEqual(catalog.map(({ name }) => name).toSorted());
});

test.each(Object.entries(ROUNDS))(
  'when jobs of %s fail again and again, then their record is enqueued again and again',
  async (name, round) => {
    const definition = catalog.find((one) => one.name === name) as JobDefinition<unknown>;
    const { id } = await workspace.account();
    const becomeDue = await round.store(id);
    let failed = 0;
    const worker = startWorker(
      definition,
      () => {
        failed += 1;
        return Promise.reject(new Error('a store is away'));
      },
      workerOptions(),
    );
    try {
      for (let times = 1; times <= 4; times += 1) {
        await becomeDue();
        await round.run();
        // BullMQ ignores the id of a job that its queue still has, and this round runs once, unlike that of a service.
        await eventually(async () => failed >= times && (await queues.counts(definition)).active === 0);
      }
    } finally {
      await worker.close(5_000);
    }
    expect(failed).toBe(4);
  },
);

test('when an earlier version kept the failed job of a delivery, then a new one removes it as it starts', async () => {
  const { id: accountId } = await workspace.account();
  const _id = await storedDelivery(accountId, newId());
  const job = { deliveryId: _id, accountId, endpointId: newId() };
  await queues.raw(retryWebhook).add(retryWebhook.name, job, { jobId: `${_id}-1`, removeOnFail: { count: 200 } });
  const broken = startWorker(retryWebhook, () => Promise.reject(new Error('a store is away')), workerOptions());
  await eventually(async () => (await queues.counts(retryWebhook)).failed === 1);
  await broken.close(5_000);

  const service = await startWebhookService(workspace);

  await eventually(async () => (await queues.counts(retryWebhook)).failed === 0);
  await service.stop();
});

test('when a process whose clock is an hour ahead plans an attempt, then it comes after its delay', async () => {
  const { now } = Date;
  Date.now = () => now() + 3_600_000;
  const id = newId();
  await queues.enqueue(retryWebhook, { id, delayMs: 500, payload: {} as never });
  Date.now = now;
  let ran = 0;
  const worker = startWorker(
    retryWebhook,
    async () => {
      ran += 1;
    },
    workerOptions(),
  );

  await eventually(() => ran === 1);

  await worker.close(5_000);
});
