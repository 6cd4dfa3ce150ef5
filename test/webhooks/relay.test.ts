// How far the relay goes ahead of those who deliver.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { deliverWebhook, fanOutEvent } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { openRelay } from '../../services/webhooks/relay-events.ts';
import { openReadyQueues } from '../support/queues.ts';
import { announceMany } from '../support/webhooks.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

const EVENTS = 500;
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
