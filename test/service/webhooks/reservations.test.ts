// First attempts are born reserved, sick endpoints are left out at birth, and the clock leaves alone what is in hand.
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { deliverWebhook, fanOutEvent, retryWebhook } from '#libs/jobs/catalog.ts';
import { pauseQueue, resumeQueue } from '#libs/jobs/control.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { type Id, newId, storedId, wireId } from '#libs/models/tenant.ts';
import { Delivery, type DeliveryRecord, deliveryId } from '#libs/models/webhooks/delivery.ts';
import {
  claimDeliveries,
  extendLease,
  insertDeliveries,
  reservedDelivery,
} from '#libs/models/webhooks/delivery-clock.ts';
import { makeTakeDelivery } from '../../../services/webhooks/acquire-delivery.ts';
import { putDueDeliveries } from '../../../services/webhooks/enqueue-due-deliveries.ts';
import { AHEAD_MAX, openRelay } from '../../../services/webhooks/relay-events.ts';
import { settleDeliveries } from '../../../services/webhooks/store/delivery-settlement.ts';
import { recallPostponed } from '../../../services/webhooks/store/due-deliveries.ts';
import { openTraffic } from '../../../services/webhooks/traffic.ts';
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
  // What is due, or waits on a queue, is the clock's in the next test, too.
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
  // As it is, also before a majority has it: nobody waits for that when deliveries are settled.
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

test('when a delivery is named, then by the same id in every release: a job and a record of yesterday are found', () => {
  const eventId = '01a1ffa6-3f08-799e-87e0-b665e40f9447';
  const endpointId = '01a1ffa6-3f24-709b-bbe0-12239eaa91aa';
  expect(deliveryId(eventId, endpointId)).toBe('82719ca6-c3fe-896a-bc49-c93987a04e40');
  expect(deliveryId(storedId(eventId), storedId(endpointId))).toBe('82719ca6-c3fe-896a-bc49-c93987a04e40');
});

test('when a delivery is reserved, then only the holder of the reservation may claim it, until that ends', async () => {
  const { id, reservation } = await aReservedOne();
  const now = new Date();
  expect(await claimDeliveries([id], inAMinute())).toEqual([]);
  const other = { leaseId: newId(), until: reservation.until };
  expect(await claimDeliveries([id], inAMinute(), now, [other])).toEqual([]);
  expect(await claimDeliveries([id], inAMinute(), now, [reservation])).toHaveLength(1);
  // It is spent.
  expect(await claimDeliveries([id], inAMinute(), now, [reservation])).toEqual([]);
});

test('when a reservation has ended, then anybody may claim the delivery', async () => {
  const { id, reservation } = await aReservedOne();
  const later = new Date(reservation.until.getTime() + 1);
  expect(await claimDeliveries([id], new Date(later.getTime() + MINUTE_MS), later)).toHaveLength(1);
});

test('when the attempt of a reserved delivery takes long, then its lease grows and nobody else may claim it', async () => {
  const { accountId, eventId, endpointId, id, reservation } = await aReservedOne();
  const delivery = reservedDelivery({ deliveryId: id, eventId, accountId, endpointId, leaseId: reservation.leaseId });
  await extendLease(delivery, new Date(Date.now() + 3 * MINUTE_MS));
  const later = new Date(reservation.until.getTime() + 1);
  expect(await claimDeliveries([id], inAMinute(), later, [reservation])).toEqual([]);
});

test('when the store is away as the lease of a long attempt should grow, then it grows when the store is back', async () => {
  const { accountId, eventId, endpointId, id, reservation, find } = await aReservedOne();
  const { leaseId, until } = reservation;
  const job = { deliveryId: id, accountId, endpointId, reservation: { eventId, leaseId, until: until.getTime() } };
  const isAway = { times: 4, failCommands: ['update'], errorCode: NOT_PRIMARY };
  const hold = await withErrors(isAway, async () => {
    const taken = await makeTakeDelivery(3 * MINUTE_MS)(job, true);
    await eventually(async () => ((await find(id))?.lease_until ?? until) > until);
    return taken;
  });
  hold?.release();
});

test('when the job of a reserved delivery comes again, then it is taken only if nobody has begun or ended the attempt', async () => {
  const take = makeTakeDelivery(2 * MINUTE_MS);
  const jobOf = ({ id, accountId, eventId, endpointId, reservation }: Awaited<ReturnType<typeof aReservedOne>>) => ({
    deliveryId: id,
    accountId,
    endpointId,
    reservation: { eventId, leaseId: reservation.leaseId, until: reservation.until.getTime() },
  });

  const done = await aReservedOne();
  const first = await take(jobOf(done), true);
  expect(first).toBeDefined();
  first?.release();
  if (first) await settleDeliveries([{ delivery: first.delivery, verdict: { status: 'delivered' } }]);
  expect(await take(jobOf(done), false)).toBeUndefined();

  const begun = await aReservedOne();
  const slow = await take(jobOf(begun), true);
  if (slow) await extendLease(slow.delivery, new Date(Date.now() + 3 * MINUTE_MS));
  expect(await take(jobOf(begun), false)).toBeUndefined();
  slow?.release();

  const untouched = await aReservedOne();
  expect(await take(jobOf(untouched), false)).toBeDefined();
  expect(await take(jobOf(untouched), false)).toBeUndefined();
});

test('when two jobs of one delivery are taken at the same time, then only one of them has it in hand', async () => {
  const take = makeTakeDelivery(2 * MINUTE_MS);
  const [first, late] = [await anEvent(), await anEvent()];
  for (const { event, endpointId } of [first, late]) {
    await insertDeliveries([{ event, endpointIds: [storedId(endpointId)] }], new Date());
  }
  const jobOf = ({ id: deliveryId, accountId, endpointId }: typeof late) => ({ deliveryId, accountId, endpointId });

  // The first goes alone; the others come meanwhile and are claimed together.
  const [, ...holds] = await Promise.all([first, late, late].map((one) => take(jobOf(one), true)));

  expect(holds.filter((hold) => hold !== undefined)).toHaveLength(1);
});

test('when an event is fanned out again to some endpoints and to a new one, then only the new one is told, and the others are as they were', async () => {
  const { event, eventId, endpointId, id, find, reservation } = await aReservedOne();
  const before = await find(id);
  const added = newId();
  const again = { leaseId: newId(), until: inAMinute() };
  const fanOut = { event, endpointIds: [storedId(endpointId), storedId(added)] };

  const told = await insertDeliveries([fanOut], again.until, again);

  expect(told).toEqual([[{ id: deliveryId(eventId, added), endpointId: storedId(added) }]]);
  expect(await find(id)).toEqual(before);
  expect(before?.lease_id).toBe(reservation.leaseId);
  expect((await find(deliveryId(eventId, added)))?.lease_id).toBe(again.leaseId);
});

test('when an endpoint cannot be tried now, then its delivery waits from birth, unreserved, and is not told of', async () => {
  const { event, endpointId, id, find } = await anEvent();
  const nextAt = inAMinute();
  const later = new Map([[endpointId, { nextAt, postponed: 1 }]]);
  const reservation = { leaseId: newId(), until: inAMinute() };

  expect(await insertDeliveries([{ event, endpointIds: [storedId(endpointId)], later }], nextAt, reservation)).toEqual([
    [],
  ]);
  const delivery = await find(id);
  expect(delivery).toMatchObject({ status: 'pending', next_at: nextAt, due_at: nextAt, postponed: 1 });
  expect(delivery?.lease_id).toBeUndefined();
});

/** Made due for the clock. */
async function due(made: Awaited<ReturnType<typeof anEvent>>) {
  await Delivery.updateOne({ _id: made.id, account_id: made.accountId }, { due_at: new Date() });
  return made.find(made.id);
}

test('when the clock meets a delivery that is in hand, then it comes back when the lease ends and puts nothing on the queue', async () => {
  const made = await aReservedOne();
  const before = await due(made);
  await putDueDeliveries(queues, openTraffic({ scale: 1 }));

  expect((await made.find(made.id))?.due_at).toEqual(made.reservation.until);
  expect(await queues.stateOf(retryWebhook, `${made.id}-${(before?.turn ?? 0) + 1}`)).toBe('unknown');
});

test('when the clock meets a delivery of an endpoint whose breaker is open, then it puts it off without the queue', async () => {
  const traffic = openTraffic({ scale: 1 });
  const [well, sick] = [await anEvent(), await anEvent()];
  for (const { event, endpointId } of [well, sick])
    await insertDeliveries([{ event, endpointIds: [storedId(endpointId)] }], new Date());
  for (let count = 0; count < 10; count += 1) {
    const admission = await traffic.enter(sick.endpointId);
    if (admission.admitted) admission.leave({ isWell: false, durationMs: 5 });
  }
  // The clock reads what a majority has, which may be a moment behind the two just made.
  await eventually(async () => {
    await putDueDeliveries(queues, traffic);
    const isPut = (await queues.stateOf(retryWebhook, `${well.id}-1`)) === 'waiting';
    return isPut && (await sick.find(sick.id))?.postponed === 1;
  });

  expect(await queues.stateOf(retryWebhook, `${sick.id}-1`)).toBe('unknown');
  const delivery = await sick.find(sick.id);
  expect(delivery).toMatchObject({ status: 'pending', postponed: 1, attempts_made: 0, attempts: [] });
  expect(delivery?.next_at?.getTime()).toBeGreaterThan(Date.now());
  expect(delivery?.due_at).toEqual(delivery?.next_at);
});

test('when a breaker closes while the clock puts the others aside, then they are recalled, too', async () => {
  const clock = { now: 0 };
  const traffic = openTraffic({ scale: 1, now: () => clock.now });
  const { accountId, event, endpointId } = await anEvent();
  const events = [event, await announcedEvent(accountId)];
  const fanOuts = events.map((one) => ({ event: one, endpointIds: [storedId(endpointId)] }));
  await insertDeliveries(fanOuts, new Date());
  await eventually(async () => (await Delivery.countDocuments({ account_id: accountId })) === 2);
  for (let count = 0; count < 10; count += 1) {
    const admission = await traffic.enter(endpointId);
    if (admission.admitted) admission.leave({ isWell: false, durationMs: 5 });
  }
  clock.now += MINUTE_MS; // One is tried, the other one waits for what becomes of it.
  const quick: Queues = {
    ...queues,
    async enqueueAll(...args) {
      const trial = await traffic.enter(endpointId);
      if (trial.admitted && trial.leave({ isWell: true, durationMs: 5 }).recovered)
        await recallPostponed(accountId, endpointId);
      await queues.enqueueAll(...args);
    },
  };

  await putDueDeliveries(quick, traffic);

  const aside = { account_id: accountId, next_at: { $gt: new Date() } };
  expect(await Delivery.countDocuments(aside).readConcern('local')).toBe(0);
});

test('when the relay has filled its queue, then what the clock brings still finds room', async () => {
  for (let ahead = 0; ahead < AHEAD_MAX; ahead += 500) {
    await queues.enqueueAll(
      deliverWebhook,
      Array.from({ length: 500 }, (_, index) => ({ id: `ahead-${ahead + index}`, payload: {} as never })),
    );
  }
  const { event, endpointId, id } = await anEvent();
  await insertDeliveries([{ event, endpointIds: [storedId(endpointId)] }], new Date());
  await eventually(async () => {
    await putDueDeliveries(queues, openTraffic({ scale: 1 }));
    return (await queues.stateOf(retryWebhook, `${id}-1`)) === 'waiting';
  });
  expect((await queues.counts(deliverWebhook)).ready).toBe(AHEAD_MAX);
});

test('when the clock has more than it may put on its queue, then new events are relayed all the same', async () => {
  const { event, accountId } = await anEvent();
  const endpointIds = Array.from({ length: AHEAD_MAX + 600 }, () => storedId(newId()));
  const aWhileAgo = new Date(Date.now() - MINUTE_MS);
  await insertDeliveries([{ event, endpointIds }], aWhileAgo, undefined, aWhileAgo);
  const traffic = openTraffic({ scale: 1 });
  const looksDue = () => Delivery.countDocuments({ account_id: accountId, due_at: aWhileAgo });
  await eventually(async () => (await looksDue()) === endpointIds.length);
  await eventually(async () => !(await putDueDeliveries(queues, traffic)));
  expect(await looksDue()).toBeLessThan(endpointIds.length);

  const { _id } = await announcedEvent(accountId);
  await eventually(async () => {
    await openRelay(queues).relay();
    return (await queues.stateOf(fanOutEvent, `${wireId(_id)}-1`)) === 'waiting';
  });
});

test('when what the clock has put on the queue waits there for long, then it is there once', async () => {
  const { event, accountId, endpointId, id } = await anEvent();
  await insertDeliveries([{ event, endpointIds: [storedId(endpointId)] }], new Date());
  const traffic = openTraffic({ scale: 1 });
  const putAgain = async () => {
    await Delivery.updateOne({ _id: id, account_id: accountId }, { due_at: new Date() });
    await eventually(async () => {
      await putDueDeliveries(queues, traffic);
      return (await Delivery.countDocuments({ account_id: accountId, due_at: { $gt: new Date() } })) === 1;
    });
  };
  for (let time = 0; time < 3; time += 1) await putAgain();
  expect((await queues.counts(retryWebhook)).ready).toBe(1);

  // Redis was emptied.
  await queues.raw(retryWebhook).drain();
  await putAgain();
  expect((await queues.counts(retryWebhook)).ready).toBe(1);
});

test('when whoever had a delivery in hand has died, then it is put on the queue beside the job that is left', async () => {
  const { event, accountId, endpointId, id } = await anEvent();
  await insertDeliveries([{ event, endpointIds: [storedId(endpointId)] }], new Date());
  const traffic = openTraffic({ scale: 1 });
  const isPut = async (turn: number) => {
    await putDueDeliveries(queues, traffic);
    return (await queues.stateOf(retryWebhook, `${id}-${turn}`)) === 'waiting';
  };
  await eventually(() => isPut(1));
  expect(await claimDeliveries([id], new Date(Date.now() - 1))).toHaveLength(1);
  await Delivery.updateOne({ _id: id, account_id: accountId }, { due_at: new Date() });

  await eventually(() => isPut(2));
});

test('when one account has a long backlog, then what has just fallen due for another one does not wait behind it', async () => {
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
  await putDueDeliveries(queues, openTraffic({ scale: 1 }));

  expect(await queues.stateOf(retryWebhook, `${one.id}-1`)).toBe('waiting');
  expect(await backlog()).toBeGreaterThan(0);
  // Nor does the backlog wait for what falls due anew.
  expect(await backlog()).toBeLessThan(endpointIds.length);
});

test('when the clock of a process is an hour ahead, then what it takes in hand is not kept from others for an hour', async () => {
  const { endpointId, accountId, event, id, find } = await anEvent();
  // Due for a while: what the store says of the time may be older by how long it took.
  const aWhileAgo = new Date(Date.now() - 10_000);
  await insertDeliveries([{ event, endpointIds: [storedId(endpointId)] }], inAMinute(), undefined, aWhileAgo);
  const job = { deliveryId: id, accountId, endpointId };
  const right = Date.now();
  jest.spyOn(Date, 'now').mockReturnValue(right + 60 * MINUTE_MS);
  try {
    expect(await makeTakeDelivery(MINUTE_MS)(job, true)).toBeDefined();
  } finally {
    jest.restoreAllMocks();
  }
  const { lease_until } = (await find(id)) as DeliveryRecord;
  expect(lease_until?.getTime()).toBeLessThan(right + 10 * MINUTE_MS);
});

test('when deliveries are paused for longer than a reservation lasts, then the clock leaves them where they wait, and they go from there', async () => {
  const { id, event, eventId, accountId, endpointId } = await anEvent();
  const reservation = { leaseId: newId(), until: new Date(Date.now() - 1_000) };
  await insertDeliveries([{ event, endpointIds: [storedId(endpointId)] }], reservation.until, reservation);
  await pauseQueue(queues, deliverWebhook);

  await putDueDeliveries(queues, openTraffic({ scale: 1 }));
  const whilePaused = (await queues.counts(retryWebhook)).ready;
  await resumeQueue(queues, deliverWebhook);
  const spent = { eventId, leaseId: reservation.leaseId, until: reservation.until.getTime() };
  const job = { deliveryId: id, accountId, endpointId, reservation: spent };
  const hold = await makeTakeDelivery(MINUTE_MS)(job, true);
  hold?.release();

  expect(whilePaused).toBe(0);
  expect(hold?.delivery).toMatchObject({ attempts_made: 0 });
});
