// Writes of the webhook service for many records at once: outcomes of deliveries, each with its own attempt, and relayed events.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Id, newId, storedId, wireId } from '#libs/models/tenant.ts';
import {
  ATTEMPTS_KEPT,
  type Attempt,
  Delivery,
  type DeliveryRecord,
  deliveryId,
} from '#libs/models/webhooks/delivery.ts';
import { Event, type EventRecord } from '#libs/models/webhooks/event.ts';
import { acquireDeliveries, type LeasedDelivery } from '../../../services/webhooks/store/delivery-leases.ts';
import { settleDeliveries } from '../../../services/webhooks/store/delivery-settlement.ts';
import { findDueEvents, markRelayed } from '../../../services/webhooks/store/due-events.ts';
import { markFannedOut } from '../../../services/webhooks/store/events.ts';
import { insertDeliveries } from '../../../services/webhooks/store/new-deliveries.ts';
import { withErrors } from '../../support/mongodb-errors.ts';
import { announce, announcedEvent } from '../../support/webhooks.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

const MINUTE_MS = 60_000;

let workspace: Workspace;
beforeAll(async () => {
  workspace = await openWorkspace();
});
afterAll(() => workspace.close());

async function someDeliveries(count: number) {
  const { id: accountId } = await workspace.account();
  const event = await announcedEvent(accountId);
  const eventId = wireId(event._id);
  const endpointIds = Array.from({ length: count }, () => storedId(newId()));
  await insertDeliveries([{ event, endpointIds }], new Date(Date.now() + MINUTE_MS));
  return { accountId, ids: endpointIds.map((endpointId) => deliveryId(eventId, endpointId)) };
}

async function acquire(ids: Id[], now = new Date()): Promise<LeasedDelivery[]> {
  const leased = await acquireDeliveries(ids, new Date(now.getTime() + MINUTE_MS), now);
  expect(leased).toHaveLength(ids.length);
  return ids.map((id) => leased.find(({ _id }) => String(_id) === id) as LeasedDelivery);
}

async function read(accountId: Id, ids: Id[]): Promise<DeliveryRecord[]> {
  const found = await Delivery.find({ account_id: accountId }).readConcern('local').lean<DeliveryRecord[]>();
  return ids.map((id) => found.find(({ _id }) => String(_id) === id) as DeliveryRecord);
}

const attemptAt = (ms: number, more: Partial<Attempt> = {}): Attempt => ({
  at: new Date(ms),
  duration_ms: ms,
  response_status: 204,
  ...more,
});

test('when the outcomes of several leases and accounts are written together, then each delivery has its own attempt and its own verdict', async () => {
  const [one, other] = [await someDeliveries(3), await someDeliveries(3)];
  const [a, b, c] = await acquire(one.ids);
  const [d, e, f] = await acquire(other.ids);
  const nextAt = new Date(Date.now() + MINUTE_MS);
  const settledAt = new Date(Date.now() - MINUTE_MS);
  const delivered = { move: 'deliver' } as const;
  await settleDeliveries(
    [
      { delivery: d as LeasedDelivery, verdict: delivered, attempt: attemptAt(4) },
      { delivery: a as LeasedDelivery, verdict: delivered, attempt: attemptAt(1) },
      {
        delivery: b as LeasedDelivery,
        verdict: { move: 'retryLater', nextAt, dueAt: nextAt },
        attempt: attemptAt(2, { response_status: 500, error_class: 'status' }),
      },
      { delivery: e as LeasedDelivery, verdict: { move: 'suspendLeased' } },
      { delivery: f as LeasedDelivery, verdict: delivered, attempt: attemptAt(6) },
      { delivery: c as LeasedDelivery, verdict: delivered, attempt: attemptAt(3) },
    ],
    settledAt,
  );

  const ended = { status: 'delivered', attempts_made: 1, revision: 1, deferrals: 0, settled_at: settledAt };
  expect(await read(one.accountId, one.ids)).toMatchObject([
    { ...ended, updated_at: settledAt, attempts: [attemptAt(1)] },
    { status: 'pending', next_at: nextAt, attempts: [{ duration_ms: 2, error_class: 'status' }] },
    { ...ended, attempts: [attemptAt(3)] },
  ]);
  expect(await read(other.accountId, other.ids)).toMatchObject([
    { ...ended, attempts: [attemptAt(4)] },
    { status: 'held', attempts: [] },
    { ...ended, attempts: [attemptAt(6)] },
  ]);
  for (const { status, lease_id, lease_until, next_at, due_at } of await read(one.accountId, one.ids)) {
    expect([lease_id, lease_until]).toEqual([undefined, undefined]);
    if (status === 'delivered') expect([next_at, due_at]).toEqual([undefined, undefined]);
  }
});

test('when one of several deliveries is leased to another worker by now, or was settled before, then it stays unchanged and the others are settled', async () => {
  const { accountId, ids } = await someDeliveries(3);
  const [lost, done, mine] = await acquire(ids);
  const verdict = { move: 'deliver' } as const;
  await settleDeliveries([{ delivery: done as LeasedDelivery, verdict, attempt: attemptAt(1) }]);
  const later = new Date(Date.now() + 2 * MINUTE_MS);
  await acquire(ids.slice(0, 1), later);
  await settleDeliveries(
    [lost, done, mine].map((delivery) => ({ delivery: delivery as LeasedDelivery, verdict, attempt: attemptAt(2) })),
  );

  expect(await read(accountId, ids)).toMatchObject([
    { status: 'pending', attempts: [], attempts_made: 0 },
    { status: 'delivered', attempts: [attemptAt(1)], attempts_made: 1 },
    { status: 'delivered', attempts: [attemptAt(2)], attempts_made: 1 },
  ]);
});

test('when a delivery with many attempts finally succeeds, then the latest attempts are kept', async () => {
  const { accountId, ids } = await someDeliveries(1);
  const attempts = Array.from({ length: ATTEMPTS_KEPT }, (_, index) => attemptAt(index));
  await Delivery.updateOne({ _id: ids[0] as Id, account_id: accountId }, { attempts, attempts_made: 10, deferrals: 3 });
  const [delivery] = await acquire(ids);
  const last = attemptAt(1_000);
  await settleDeliveries([{ delivery: delivery as LeasedDelivery, verdict: { move: 'deliver' }, attempt: last }]);

  const [ended] = await read(accountId, ids);
  expect(ended).toMatchObject({ status: 'delivered', attempts_made: 11, deferrals: 0 });
  expect(ended?.attempts).toEqual([...attempts.slice(1), last]);
});

test('when events are marked as relayed, then those that another process has fanned out or relayed meanwhile stay unchanged', async () => {
  const { id: accountId } = await workspace.account();
  for (let count = 0; count < 3; count += 1) await announce(accountId, 'client.created', { count });
  const mine = (await findDueEvents({ limit: 1_000 })).filter(({ account_id }) => String(account_id) === accountId);
  const [fannedOut, relayed, left] = mine;
  if (!fannedOut || !relayed || !left) throw new Error('three are due');
  await markFannedOut([fannedOut._id]);
  const byAnother = new Date(Date.now() + MINUTE_MS);
  await markRelayed([relayed], byAnother);
  const byUs = new Date(Date.now() + 2 * MINUTE_MS);
  await markRelayed(mine, byUs);

  const stateOf = async ({ _id }: { _id: EventRecord['_id'] }) => {
    const event = await Event.findOne({ account_id: accountId, _id }).lean<EventRecord>();
    return [event?.due_at, event?.enqueue_count];
  };
  expect(await stateOf(fannedOut)).toEqual([undefined, 0]);
  expect(await stateOf(relayed)).toEqual([byAnother, 1]);
  expect(await stateOf(left)).toEqual([byUs, 1]);
});

test('when the clock of the relay is an hour behind, then new events are still due, in the order they were stored', async () => {
  const { id: accountId } = await workspace.account();
  const ids: Id[] = [];
  for (let count = 0; count < 5; count += 1) ids.push(await announce(accountId, 'client.created', { count }));

  const due = await findDueEvents({ limit: 1_000, now: new Date(Date.now() - 60 * MINUTE_MS) });

  const mine = due.filter(({ account_id }) => String(account_id) === accountId);
  expect(mine.map(({ _id }) => String(_id))).toEqual(ids);
});

test('when the store is unavailable while outcomes are written, then they are written once it is available', async () => {
  const { accountId, ids } = await someDeliveries(2);
  const leased = await acquire(ids);
  await withErrors({ times: 4, failCommands: ['update'], closeConnection: true }, () =>
    settleDeliveries(leased.map((delivery) => ({ delivery, verdict: { move: 'deliver' }, attempt: attemptAt(1) }))),
  );

  const settled = await read(accountId, ids);
  expect(settled.map(({ status, attempts }) => [status, attempts.length])).toEqual(Array(2).fill(['delivered', 1]));
});
