// How many events the relay enqueues, and of which accounts.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { deliverWebhook, fanOutEvent } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { readOutbox } from '#libs/models/webhooks/outbox.ts';
import { openRelay } from '../../../services/webhooks/relay-events.ts';
import { findDueEvents } from '../../../services/webhooks/store/due-events.ts';
import { openReadyQueues } from '../../support/queues.ts';
import { announcedEvent, announceMany } from '../../support/webhooks.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

const EVENTS = 500;
/** Per round. */
const TAKEN = 40;
let workspace: Workspace;
let queues: Queues;
beforeAll(async () => {
  workspace = await openWorkspace();
  queues = await openReadyQueues(workspace);
  await announceMany((await workspace.account()).id, EVENTS);
});
afterAll(async () => {
  await queues.close();
  await workspace.close();
});

const waiting = async () => (await queues.counts(fanOutEvent)).ready;
const drainQueue = () => queues.raw(fanOutEvent).drain();

test('when the enqueued events will make as many deliveries as the queue may contain, then the others stay in the outbox', async () => {
  const { relay, fannedOut } = openRelay(queues);
  for (let event = 0; event < 100; event += 1) fannedOut(40);
  await relay();
  expect(await relay()).toBe(false);
  expect(await waiting()).toBe(100);

  await drainQueue();
  // A command has a second, which 2,000 jobs at once may take on a busy machine.
  for (let part = 0; part < 8; part += 1) {
    await queues.enqueueAll(
      deliverWebhook,
      Array.from({ length: 250 }, (_, index) => ({ id: `waits-${part}-${index}`, payload: {} as never })),
    );
  }
  expect(await relay()).toBe(false);
  expect(await waiting()).toBe(50);

  await drainQueue();
  await queues.raw(deliverWebhook).drain();
  // The latest events had no subscriber: all of the next ones may be enqueued.
  for (let event = 0; event < 100; event += 1) fannedOut(0);
  while (await relay());
  expect(await waiting()).toBe(EVENTS - 150);
});

test('when more new events wait than a round takes, then one that was relayed long ago and lost is taken, too, and its age shows in the outbox', async () => {
  const { id: accountId } = await workspace.account();
  await announceMany(accountId, 2 * TAKEN);
  const hourAgo = new Date(Date.now() - 3_600_000);
  const lost = await announcedEvent(accountId);
  await Event.updateOne({ _id: lost._id, account_id: accountId }, { due_at: hourAgo, created_at: hourAgo });

  const due = await findDueEvents({ limit: TAKEN });
  const ids = due.map(({ _id }) => String(_id));

  expect(new Set(ids).size).toBe(TAKEN);
  // It is taken even if there is room for only a few.
  expect(ids.slice(0, 8)).toContain(String(lost._id));
  expect((await readOutbox()).oldestMs).toBeGreaterThanOrEqual(3_600_000);
});

test('when many events are overdue, then new ones are the larger part of a round, in the order they were stored', async () => {
  const { id: accountId } = await workspace.account();
  await Event.collection.deleteMany({});
  const old = await announceMany(accountId, TAKEN);
  await Event.updateMany({ account_id: accountId }, { due_at: new Date(Date.now() - 60_000) });
  const fresh = await announceMany(accountId, TAKEN);

  const ids = (await findDueEvents({ limit: TAKEN })).map(({ _id }) => String(_id));
  const taken = ids.filter((id) => fresh.includes(id));

  expect(ids.filter((id) => old.includes(id))).toHaveLength(TAKEN / 8);
  expect(taken).toEqual(fresh.slice(0, taken.length));
  expect(new Set(ids).size).toBe(TAKEN);
});

test('when one account has more new events than a round takes, then the only one of another account is among the first', async () => {
  await Event.collection.deleteMany({});
  const [many, few] = [await workspace.account(), await workspace.account()];
  const burst = await announceMany(many.id, 2 * TAKEN);
  const only = await announcedEvent(few.id);

  const ids = (await findDueEvents({ limit: TAKEN })).map(({ _id }) => String(_id));

  expect(ids.slice(0, 2)).toContain(String(only._id));
  expect(ids.filter((id) => burst.includes(id))).toEqual(burst.slice(0, TAKEN - 1));
});

test('when more accounts have new events than share a round, then the others come in the next rounds', async () => {
  await drainQueue();
  await Event.collection.deleteMany({});
  const accounts = await Promise.all(Array.from({ length: 20 }, () => workspace.account()));
  for (const { id } of accounts) await announceMany(id, 30);
  const untouched = async () => {
    const queries = accounts.map(({ id }) => Event.exists({ account_id: id, enqueue_count: 1 }));
    return (await Promise.all(queries)).filter((event) => event === null).length;
  };

  const { relay } = openRelay(queues);
  const left: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    await relay();
    left.push(await untouched());
  }

  expect(left).toEqual([12, 4, 0]);
});

test('when due events are searched, then the queries use the index of due_at, in its order', async () => {
  const { db } = mongoose.connection;
  if (!db) throw new Error('not connected');
  for (let account = 0; account < 2; account += 1) await announceMany((await workspace.account()).id, TAKEN);
  await db.command({ profile: 2 });
  await findDueEvents({ limit: TAKEN });
  await readOutbox();
  await db.command({ profile: 0 });
  const queries = await db
    .collection('system.profile')
    .find({ ns: `${db.databaseName}.events`, op: { $in: ['query', 'command'] } })
    .toArray();
  await db.collection('system.profile').drop();

  expect(queries).toHaveLength(8);
  for (const { planSummary, hasSortStage = false } of queries)
    expect([planSummary, hasSortStage]).toEqual([expect.stringMatching(/SCAN { due_at: 1, account_id: 1 }$/), false]);
  // Counting, and finding the accounts, reads no event.
  const withoutEvents = queries.filter(({ op }) => op === 'command');
  expect(withoutEvents.map(({ docsExamined }) => docsExamined)).toEqual([0, 0]);
});
