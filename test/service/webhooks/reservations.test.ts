// First attempts are reserved for their jobs, deliveries of failing endpoints are deferred at once, and the poller leaves leased ones alone.
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { deliverWebhook, fanOutEvent, retryWebhook } from '#libs/jobs/catalog.ts';
import { pauseQueue, resumeQueue } from '#libs/jobs/control.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { type Id, newId, storedId, wireId } from '#libs/models/tenant.ts';
import { Delivery, type DeliveryRecord, deliveryId } from '#libs/models/webhooks/delivery.ts';
import { makeAcquireDelivery } from '../../../services/webhooks/acquire-delivery.ts';
import { enqueueDueDeliveries } from '../../../services/webhooks/enqueue-due-deliveries.ts';
import { FIRST_ATTEMPTS_QUEUED_MAX } from '../../../services/webhooks/limits.ts';
import { openRelay } from '../../../services/webhooks/relay-events.ts';
import { acquireDeliveries, extendLease, reservedDelivery } from '../../../services/webhooks/store/delivery-leases.ts';
import { settleDeliveries } from '../../../services/webhooks/store/delivery-settlement.ts';
import { recallDeferred } from '../../../services/webhooks/store/due-deliveries.ts';
import { insertDeliveries } from '../../../services/webhooks/store/new-deliveries.ts';
import { openTraffic } from '../../../services/webhooks/traffic/traffic.ts';
import { eventually } from '../../support/eventually.ts';
import { NOT_PRIMARY, withErrors } from '../../support/mongodb-errors.ts';
import { openReadyQueues } from '../../support/queues.ts';
import { announcedEvent } from '../../support/webhooks.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

const MINUTE_MS = 60_000;

let workspace: Workspace;
let queues: Queues;
beforeAll(async () => {
  workspace = await openWorkspace();
  queues = await openReadyQueues(workspace);
});
afterEach(async () => {
  // The poller of the next test would bring due deliveries of this one.
  await Delivery.collection.deleteMany({});
  for (const definition of [deliverWebhook, retryWebhook]) await queues.raw(definition).drain();
});
afterAll(async () => {
  await queues.close();
  await workspace.close();
});

async function anEvent() {
  const { id: accountId } = await workspace.account();
  const event = await announcedEvent(accountId);
  const eventId = wireId(event._id);
  const endpointId = newId();
  // Local reads: deliveries are settled without waiting for a majority.
  const find = (id: Id) =>
    Delivery.findOne({ _id: id, account_id: accountId }).readConcern('local').lean<DeliveryRecord>();
  return { accountId, eventId, event, endpointId, id: deliveryId(eventId, endpointId), find };
}

const inAMinute = () => new Date(Date.now() + MINUTE_MS);

async function aReservedOne() {
  const made = await anEvent();
  const reservation = { leaseId: newId(), until: inAMinute() };
  const fanOut = { event: made.event, endpointIds: [storedId(made.endpointId)] };
  await insertDeliveries([fanOut], reservation.until, reservation);
  return { ...made, reservation };
}

test('when the id of a delivery is computed, then it is the same in every release: older jobs and records are found', () => {
  const eventId = '01a1ffa6-3f08-799e-87e0-b665e40f9447';
  const endpointId = '01a1ffa6-3f24-709b-bbe0-12239eaa91aa';
  expect(deliveryId(eventId, endpointId)).toBe('82719ca6-c3fe-896a-bc49-c93987a04e40');
  expect(deliveryId(storedId(eventId), storedId(endpointId))).toBe('82719ca6-c3fe-896a-bc49-c93987a04e40');
});

test('when a delivery is reserved, then only the job with the reservation acquires it, until that runs out', async () => {
  const { id, reservation } = await aReservedOne();
  const now = new Date();
  expect(await acquireDeliveries([id], inAMinute())).toEqual([]);
  const other = { leaseId: newId(), until: reservation.until };
  expect(await acquireDeliveries([id], inAMinute(), now, [other])).toEqual([]);
  expect(await acquireDeliveries([id], inAMinute(), now, [reservation])).toHaveLength(1);
  // The reservation is used up.
  expect(await acquireDeliveries([id], inAMinute(), now, [reservation])).toEqual([]);
});

test('when a reservation has run out, then any worker may acquire the delivery', async () => {
  const { id, reservation } = await aReservedOne();
  const later = new Date(reservation.until.getTime() + 1);
  expect(await acquireDeliveries([id], new Date(later.getTime() + MINUTE_MS), later)).toHaveLength(1);
});

test('when the attempt of a reserved delivery takes long, then its lease is extended and no other worker can acquire it', async () => {
  const { accountId, eventId, endpointId, id, reservation } = await aReservedOne();
  const delivery = reservedDelivery({ deliveryId: id, eventId, accountId, endpointId, leaseId: reservation.leaseId });
  await extendLease(delivery, new Date(Date.now() + 3 * MINUTE_MS));
  const later = new Date(reservation.until.getTime() + 1);
  expect(await acquireDeliveries([id], inAMinute(), later, [reservation])).toEqual([]);
});

test('when the store is unavailable as the lease of a long attempt is extended, then it is extended once the store is available', async () => {
  const { accountId, eventId, endpointId, id, reservation, find } = await aReservedOne();
  const { leaseId, until } = reservation;
  const job = { deliveryId: id, accountId, endpointId, reservation: { eventId, leaseId, until: until.getTime() } };
  const unavailable = { times: 4, failCommands: ['update'], errorCode: NOT_PRIMARY };
  const lease = await withErrors(unavailable, async () => {
    const acquired = await makeAcquireDelivery(3 * MINUTE_MS)(job, true);
    await eventually(async () => ((await find(id))?.lease_until ?? until) > until);
    return acquired;
  });
  lease?.release();
});

test('when another worker has acquired a delivery before the lease of its reservation is extended, then that lease is over', async () => {
  const { accountId, eventId, endpointId, id, reservation } = await aReservedOne();
  const { leaseId, until } = reservation;
  const job = { deliveryId: id, accountId, endpointId, reservation: { eventId, leaseId, until: until.getTime() } };
  const lease = await makeAcquireDelivery(3 * MINUTE_MS)(job, true);
  // This process seems to have stood still until then.
  expect(await acquireDeliveries([id], inAMinute(), new Date(until.getTime() + 1))).toHaveLength(1);

  await eventually(() => lease && lease.until() < Date.now());
  lease?.release();
});

test('when the job of a reserved delivery runs again, then it acquires the delivery only if the attempt was neither begun nor ended', async () => {
  const acquire = makeAcquireDelivery(2 * MINUTE_MS);
  const jobOf = ({ id, accountId, eventId, endpointId, reservation }: Awaited<ReturnType<typeof aReservedOne>>) => ({
    deliveryId: id,
    accountId,
    endpointId,
    reservation: { eventId, leaseId: reservation.leaseId, until: reservation.until.getTime() },
  });

  const done = await aReservedOne();
  const first = await acquire(jobOf(done), true);
  expect(first).toBeDefined();
  first?.release();
  if (first) await settleDeliveries([{ delivery: first.delivery, verdict: { move: 'deliver' } }]);
  expect(await acquire(jobOf(done), false)).toBeUndefined();

  const begun = await aReservedOne();
  const slow = await acquire(jobOf(begun), true);
  if (slow) await extendLease(slow.delivery, new Date(Date.now() + 3 * MINUTE_MS));
  expect(await acquire(jobOf(begun), false)).toBeUndefined();
  slow?.release();

  const untouched = await aReservedOne();
  expect(await acquire(jobOf(untouched), false)).toBeDefined();
  expect(await acquire(jobOf(untouched), false)).toBeUndefined();
});

test('when two jobs of one delivery run at the same time, then only one of them acquires it', async () => {
  const acquire = makeAcquireDelivery(2 * MINUTE_MS);
  const [first, late] = [await anEvent(), await anEvent()];
  for (const { event, endpointId } of [first, late]) {
    await insertDeliveries([{ event, endpointIds: [storedId(endpointId)] }], new Date());
  }
  const jobOf = ({ id: deliveryId, accountId, endpointId }: typeof late) => ({ deliveryId, accountId, endpointId });

  // The first makes a batch alone; the others share the next one.
  const [, ...leases] = await Promise.all([first, late, late].map((one) => acquire(jobOf(one), true)));

  expect(leases.filter((lease) => lease !== undefined)).toHaveLength(1);
});

test('when an event is fanned out again to some endpoints and to a new one, then only the new one gets a delivery, and the others are unchanged', async () => {
  const { event, eventId, endpointId, id, find, reservation } = await aReservedOne();
  const before = await find(id);
  const added = newId();
  const again = { leaseId: newId(), until: inAMinute() };
  const fanOut = { event, endpointIds: [storedId(endpointId), storedId(added)] };

  const inserted = await insertDeliveries([fanOut], again.until, again);

  expect(inserted).toEqual([[{ id: deliveryId(eventId, added), endpointId: storedId(added) }]]);
  expect(await find(id)).toEqual(before);
  expect(before?.lease_id).toBe(reservation.leaseId);
  expect((await find(deliveryId(eventId, added)))?.lease_id).toBe(again.leaseId);
});

test('when an endpoint cannot be tried now, then its delivery is stored as deferred, without a reservation, and not enqueued', async () => {
  const { event, endpointId, id, find } = await anEvent();
  const nextAt = inAMinute();
  const deferred = new Map([[endpointId, { nextAt, deferrals: 1 }]]);
  const reservation = { leaseId: newId(), until: inAMinute() };

  expect(
    await insertDeliveries([{ event, endpointIds: [storedId(endpointId)], deferred }], nextAt, reservation),
  ).toEqual([[]]);
  const delivery = await find(id);
  expect(delivery).toMatchObject({ status: 'pending', next_at: nextAt, due_at: nextAt, deferrals: 1 });
  expect(delivery?.lease_id).toBeUndefined();
});

/** Makes the delivery due for the poller. */
async function due(made: Awaited<ReturnType<typeof anEvent>>) {
  await Delivery.updateOne({ _id: made.id, account_id: made.accountId }, { due_at: new Date() });
  return made.find(made.id);
}

test('when the poller finds a delivery that is leased, then it checks again when the lease ends, and enqueues nothing', async () => {
  const made = await aReservedOne();
  const before = await due(made);
  await enqueueDueDeliveries(queues, openTraffic({ scale: 1 }));

  expect((await made.find(made.id))?.due_at).toEqual(made.reservation.until);
  expect(await queues.stateOf(retryWebhook, `${made.id}-${(before?.revision ?? 0) + 1}`)).toBe('unknown');
});

test('when the poller finds a delivery of an endpoint whose breaker is open, then it defers it without the queue', async () => {
  const traffic = openTraffic({ scale: 1 });
  const [well, sick] = [await anEvent(), await anEvent()];
  for (const { event, endpointId } of [well, sick])
    await insertDeliveries([{ event, endpointIds: [storedId(endpointId)] }], new Date());
  for (let count = 0; count < 10; count += 1) {
    const admission = await traffic.admit(sick.endpointId);
    if (admission.admitted) admission.release({ isWell: false, durationMs: 5 });
  }
  // The poller reads with majority, which may be a moment behind the two inserts.
  await eventually(async () => {
    await enqueueDueDeliveries(queues, traffic);
    const isQueued = (await queues.stateOf(retryWebhook, `${well.id}-1`)) === 'waiting';
    return isQueued && (await sick.find(sick.id))?.deferrals === 1;
  });

  expect(await queues.stateOf(retryWebhook, `${sick.id}-1`)).toBe('unknown');
  const delivery = await sick.find(sick.id);
  expect(delivery).toMatchObject({ status: 'pending', deferrals: 1, attempts_made: 0, attempts: [] });
  expect(delivery?.next_at?.getTime()).toBeGreaterThan(Date.now());
  expect(delivery?.due_at).toEqual(delivery?.next_at);
});

test('when a breaker closes while the poller defers the others, then they are recalled, too', async () => {
  const clock = { now: 0 };
  const traffic = openTraffic({ scale: 1, now: () => clock.now });
  const { accountId, event, endpointId } = await anEvent();
  const events = [event, await announcedEvent(accountId)];
  const fanOuts = events.map((one) => ({ event: one, endpointIds: [storedId(endpointId)] }));
  await insertDeliveries(fanOuts, new Date());
  await eventually(async () => (await Delivery.countDocuments({ account_id: accountId })) === 2);
  for (let count = 0; count < 10; count += 1) {
    const admission = await traffic.admit(endpointId);
    if (admission.admitted) admission.release({ isWell: false, durationMs: 5 });
  }
  clock.now += MINUTE_MS; // One is the trial, and the other one waits for its outcome.
  const quick: Queues = {
    ...queues,
    async enqueueAll(...args) {
      const trial = await traffic.admit(endpointId);
      if (trial.admitted && trial.release({ isWell: true, durationMs: 5 }).recovered)
        await recallDeferred(accountId, endpointId);
      await queues.enqueueAll(...args);
    },
  };

  await enqueueDueDeliveries(quick, traffic);

  const deferred = { account_id: accountId, next_at: { $gt: new Date() } };
  expect(await Delivery.countDocuments(deferred).readConcern('local')).toBe(0);
});

test('when the relay has filled its queue, then the poller still enqueues due deliveries', async () => {
  for (let ahead = 0; ahead < FIRST_ATTEMPTS_QUEUED_MAX; ahead += 500) {
    await queues.enqueueAll(
      deliverWebhook,
      Array.from({ length: 500 }, (_, index) => ({ id: `ahead-${ahead + index}`, payload: {} as never })),
    );
  }
  const { event, endpointId, id } = await anEvent();
  await insertDeliveries([{ event, endpointIds: [storedId(endpointId)] }], new Date());
  await eventually(async () => {
    await enqueueDueDeliveries(queues, openTraffic({ scale: 1 }));
    return (await queues.stateOf(retryWebhook, `${id}-1`)) === 'waiting';
  });
  expect((await queues.counts(deliverWebhook)).ready).toBe(FIRST_ATTEMPTS_QUEUED_MAX);
});

test('when more deliveries are due than the queue of the poller may contain, then new events are still relayed', async () => {
  const { event, accountId } = await anEvent();
  const endpointIds = Array.from({ length: FIRST_ATTEMPTS_QUEUED_MAX + 600 }, () => storedId(newId()));
  const aWhileAgo = new Date(Date.now() - MINUTE_MS);
  await insertDeliveries([{ event, endpointIds }], aWhileAgo, undefined, aWhileAgo);
  const traffic = openTraffic({ scale: 1 });
  const stillDue = () => Delivery.countDocuments({ account_id: accountId, due_at: aWhileAgo });
  await eventually(async () => (await stillDue()) === endpointIds.length);
  await eventually(async () => !(await enqueueDueDeliveries(queues, traffic)));
  expect(await stillDue()).toBeLessThan(endpointIds.length);

  const { _id } = await announcedEvent(accountId);
  await eventually(async () => {
    await openRelay(queues).relay();
    return (await queues.stateOf(fanOutEvent, `${wireId(_id)}-1`)) === 'waiting';
  });
});

test('when an enqueued delivery waits in the queue for long, then it is not enqueued again', async () => {
  const { event, accountId, endpointId, id } = await anEvent();
  await insertDeliveries([{ event, endpointIds: [storedId(endpointId)] }], new Date());
  const traffic = openTraffic({ scale: 1 });
  const enqueueAgain = async () => {
    await Delivery.updateOne({ _id: id, account_id: accountId }, { due_at: new Date() });
    await eventually(async () => {
      await enqueueDueDeliveries(queues, traffic);
      return (await Delivery.countDocuments({ account_id: accountId, due_at: { $gt: new Date() } })) === 1;
    });
  };
  for (let time = 0; time < 3; time += 1) await enqueueAgain();
  expect((await queues.counts(retryWebhook)).ready).toBe(1);

  // Redis was flushed.
  await queues.raw(retryWebhook).drain();
  await enqueueAgain();
  expect((await queues.counts(retryWebhook)).ready).toBe(1);
});

test('when the worker of a leased delivery has died, then the delivery is enqueued beside the job that is left', async () => {
  const { event, accountId, endpointId, id } = await anEvent();
  await insertDeliveries([{ event, endpointIds: [storedId(endpointId)] }], new Date());
  const traffic = openTraffic({ scale: 1 });
  const isEnqueued = async (revision: number) => {
    await enqueueDueDeliveries(queues, traffic);
    return (await queues.stateOf(retryWebhook, `${id}-${revision}`)) === 'waiting';
  };
  await eventually(() => isEnqueued(1));
  expect(await acquireDeliveries([id], new Date(Date.now() - 1))).toHaveLength(1);
  await Delivery.updateOne({ _id: id, account_id: accountId }, { due_at: new Date() });

  await eventually(() => isEnqueued(2));
});

test('when one account has a long backlog, then a delivery of another account that falls due now does not wait behind it', async () => {
  const [many, one] = [await anEvent(), await anEvent()];
  const aWhileAgo = new Date(Date.now() - MINUTE_MS);
  const endpointIds = Array.from({ length: 1_500 }, () => storedId(newId()));
  await insertDeliveries([{ event: many.event, endpointIds }], aWhileAgo, undefined, aWhileAgo);
  await insertDeliveries([{ event: one.event, endpointIds: [storedId(one.endpointId)] }], new Date());
  const backlog = () => Delivery.countDocuments({ account_id: many.accountId, due_at: aWhileAgo });
  await eventually(
    async () =>
      (await backlog()) === endpointIds.length && (await Delivery.countDocuments({ account_id: one.accountId })) === 1,
  );
  await enqueueDueDeliveries(queues, openTraffic({ scale: 1 }));

  expect(await queues.stateOf(retryWebhook, `${one.id}-1`)).toBe('waiting');
  expect(await backlog()).toBeGreaterThan(0);
  // Nor does the backlog wait for deliveries that fall due now.
  expect(await backlog()).toBeLessThan(endpointIds.length);
});

test('when the clock of a process is an hour ahead, then its leases do not last for an hour', async () => {
  const { endpointId, accountId, event, id, find } = await anEvent();
  // Due for a while: the time of the store may be older by the duration of the call.
  const aWhileAgo = new Date(Date.now() - 10_000);
  await insertDeliveries([{ event, endpointIds: [storedId(endpointId)] }], inAMinute(), undefined, aWhileAgo);
  const job = { deliveryId: id, accountId, endpointId };
  const right = Date.now();
  jest.spyOn(Date, 'now').mockReturnValue(right + 60 * MINUTE_MS);
  try {
    expect(await makeAcquireDelivery(MINUTE_MS)(job, true)).toBeDefined();
  } finally {
    jest.restoreAllMocks();
  }
  const { lease_until } = (await find(id)) as DeliveryRecord;
  expect(lease_until?.getTime()).toBeLessThan(right + 10 * MINUTE_MS);
});

test('when deliveries are paused for longer than a reservation lasts, then the poller leaves them in their queue, and they are delivered from there', async () => {
  const { id, event, eventId, accountId, endpointId } = await anEvent();
  const reservation = { leaseId: newId(), until: new Date(Date.now() - 1_000) };
  await insertDeliveries([{ event, endpointIds: [storedId(endpointId)] }], reservation.until, reservation);
  await pauseQueue(queues, deliverWebhook);

  await enqueueDueDeliveries(queues, openTraffic({ scale: 1 }));
  const whilePaused = (await queues.counts(retryWebhook)).ready;
  await resumeQueue(queues, deliverWebhook);
  const usedUp = { eventId, leaseId: reservation.leaseId, until: reservation.until.getTime() };
  const job = { deliveryId: id, accountId, endpointId, reservation: usedUp };
  const lease = await makeAcquireDelivery(MINUTE_MS)(job, true);
  lease?.release();

  expect(whilePaused).toBe(0);
  expect(lease?.delivery).toMatchObject({ attempts_made: 0 });
});
