// A delivery is in one pair of hands at a time, and in other hands once the first have let it fall.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId, storedId, wireId } from '#libs/models/tenant.ts';
import { deliveryId } from '#libs/models/webhooks/delivery.ts';
import { claimDeliveries, insertDeliveries } from '#libs/models/webhooks/delivery-clock.ts';
import { settleDeliveries } from '../../../services/webhooks/store/delivery-settlement.ts';
import { announcedEvent } from '../../support/webhooks.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeAll(async () => {
  workspace = await openWorkspace();
});
afterAll(() => workspace.close());

const MINUTE_MS = 60_000;

async function aDelivery() {
  const { id: accountId } = await workspace.account();
  const event = await announcedEvent(accountId);
  const eventId = wireId(event._id);
  const endpointId = newId();
  await insertDeliveries([{ event, endpointIds: [storedId(endpointId)] }], new Date(Date.now() + MINUTE_MS));
  return deliveryId(eventId, endpointId);
}

test('when two claim one delivery, then one of them has it', async () => {
  const id = await aDelivery();
  const leaseUntil = new Date(Date.now() + MINUTE_MS);
  const claims = await Promise.all([1, 2, 3].map(() => claimDeliveries([id], leaseUntil)));

  expect(claims.flat()).toHaveLength(1);
  expect(await claimDeliveries([id], leaseUntil)).toEqual([]);
});

test('when the lease has run out, then another may claim it, and the first can no longer settle it', async () => {
  const id = await aDelivery();
  const [first] = await claimDeliveries([id], new Date(Date.now() + MINUTE_MS));
  const later = new Date(Date.now() + 2 * MINUTE_MS);
  const [second] = await claimDeliveries([id], new Date(later.getTime() + MINUTE_MS), later);
  if (!first || !second) throw new Error('nobody has it');

  await settleDeliveries([{ delivery: first, verdict: { status: 'dead' } }]);
  const even = new Date(later.getTime() + 2 * MINUTE_MS);
  expect(await claimDeliveries([id], new Date(even.getTime() + MINUTE_MS), even)).toMatchObject([
    { status: 'pending' },
  ]);
});
