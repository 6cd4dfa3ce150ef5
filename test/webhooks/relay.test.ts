// How far the relay goes ahead of those who deliver.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { deliverWebhook, fanOutEvent } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { Event, findDueEvents } from '#libs/models/event.ts';
import { readOutbox } from '#libs/models/outbox.ts';
import { openRelay } from '../../services/webhooks/relay-events.ts';
import { openReadyQueues } from '../support/queues.ts';
import { announcedEvent, announceMany } from '../support/webhooks.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

const EVENTS = 500;
/** At a time. */
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
const workOff = () => queues.raw(fanOutEvent).drain();

test('when the events that wait will make as many deliveries as may wait, then the others stay where they are', async () => {
  const { relay, fannedOut } = openRelay(queues);
  for (let event = 0; event < 100; event += 1) fannedOut(40);
  await relay();
  expect(await relay()).toBe(false);
  expect(await waiting()).toBe(100);

  await workOff();
  await queues.enqueueAll(
    deliverWebhook,
    Array.from({ length: 2_000 }, (_, index) => ({ id: `waits-${index}`, payload: {} as never })),
  );
  expect(await relay()).toBe(false);
  expect(await waiting()).toBe(50);

  await workOff();
  await queues.raw(deliverWebhook).drain();
  // Nobody was interested in the events since: they may all come.
  for (let event = 0; event < 100; event += 1) fannedOut(0);
  while (await relay());
  expect(await waiting()).toBe(EVENTS - 150);
});

test('when more new events wait than are taken at a time, then one that was relayed long ago and lost is among them, and is seen', async () => {
  const { id: accountId } = await workspace.account();
  await announceMany(accountId, 2 * TAKEN);
  const hourAgo = new Date(Date.now() - 3_600_000);
  const lost = await announcedEvent(accountId);
  await Event.updateOne({ _id: lost._id, account_id: accountId }, { due_at: hourAgo, created_at: hourAgo });

  const due = await findDueEvents(TAKEN);
  const ids = due.map(({ _id }) => String(_id));

  expect(new Set(ids).size).toBe(TAKEN);
  // Also when there is room for few.
  expect(ids.slice(0, 8)).toContain(String(lost._id));
  expect((await readOutbox()).oldestMs).toBeGreaterThanOrEqual(3_600_000);
});

test('when much is overdue, then new events have the larger part of what is taken, in the order they were stored', async () => {
  const { id: accountId } = await workspace.account();
  await Event.collection.deleteMany({});
  const old = await announceMany(accountId, TAKEN);
  await Event.updateMany({ account_id: accountId }, { due_at: new Date(Date.now() - 60_000) });
  const fresh = await announceMany(accountId, TAKEN);

  const ids = (await findDueEvents(TAKEN)).map(({ _id }) => String(_id));
  const taken = ids.filter((id) => fresh.includes(id));

  expect(ids.filter((id) => old.includes(id))).toHaveLength(TAKEN / 8);
  expect(taken).toEqual(fresh.slice(0, taken.length));
  expect(new Set(ids).size).toBe(TAKEN);
});

test('when what is due is looked for, then along the index of due_at, sorted by it', async () => {
  const { db } = mongoose.connection;
  if (!db) throw new Error('not connected');
  await db.command({ profile: 2 });
  await findDueEvents(TAKEN);
  await readOutbox();
  await db.command({ profile: 0 });
  const looks = await db
    .collection('system.profile')
    .find({ ns: `${db.databaseName}.events`, op: 'query' })
    .toArray();
  await db.collection('system.profile').drop();

  expect(looks).toHaveLength(4);
  for (const { planSummary, hasSortStage = false } of looks)
    expect([planSummary, hasSortStage]).toEqual(['IXSCAN { due_at: 1 }', false]);
});
