// One worker at a time has the lease of a delivery, and another one can acquire it when it has run out.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId, storedId, wireId } from '#libs/models/tenant.ts';
import { deliveryId } from '#libs/models/webhooks/delivery.ts';
import { acquireDeliveries } from '../../../services/webhooks/store/delivery-leases.ts';
import { settleDeliveries } from '../../../services/webhooks/store/delivery-settlement.ts';
import { insertDeliveries } from '../../../services/webhooks/store/new-deliveries.ts';
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

test('when workers acquire one delivery at the same time, then one of them gets the lease', async () => {
  const id = await aDelivery();
  const leaseUntil = new Date(Date.now() + MINUTE_MS);
  const leases = await Promise.all([1, 2, 3].map(() => acquireDeliveries([id], leaseUntil)));

  expect(leases.flat()).toHaveLength(1);
  expect(await acquireDeliveries([id], leaseUntil)).toEqual([]);
});

test('when the lease has run out, then another worker can acquire it, and the first can no longer settle it', async () => {
  const id = await aDelivery();
  const [first] = await acquireDeliveries([id], new Date(Date.now() + MINUTE_MS));
  const later = new Date(Date.now() + 2 * MINUTE_MS);
  const [second] = await acquireDeliveries([id], new Date(later.getTime() + MINUTE_MS), later);
  if (!first || !second) throw new Error('no worker acquired it');

  await settleDeliveries([{ delivery: first, verdict: { move: 'giveUp' } }]);
  const muchLater = new Date(later.getTime() + 2 * MINUTE_MS);
  expect(await acquireDeliveries([id], new Date(muchLater.getTime() + MINUTE_MS), muchLater)).toMatchObject([
    { status: 'pending' },
  ]);
});
