// Failures by cause: the cause is that of the last attempt, whatever the attempts before it were.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#libs/models/tenant.ts';
import { Delivery } from '#libs/models/webhooks/delivery.ts';
import { findFailureGroups } from '../../../services/operations/store/delivery-outcomes.ts';
import { countDeliveries } from '../../../services/operations/store/delivery-search.ts';
import { addEndpoint } from '../../support/dashboard/records.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeAll(async () => {
  workspace = await openWorkspace();
});
afterAll(() => workspace.close());

const at = new Date();
const REJECTED = { at, response_status: 500, error_class: 'status' };
const TIMED_OUT = { at, error_class: 'timeout' };
const DELIVERED = { at, response_status: 200 };

/** A delivery with these attempts, of an account of its own. @returns the endpoint. */
async function stored(status: 'dead' | 'pending', attempts: object[]) {
  const { id: account_id } = await workspace.account();
  const endpoint_id = await addEndpoint(account_id);
  const own = { _id: newId(), account_id, endpoint_id, event_id: newId(), event_type: 'ping', status, attempts };
  await Delivery.create({ ...own, created_at: at, updated_at: at });
  return endpoint_id;
}

test('when the last attempt got no response and one before it did, then the cause is the last one alone', async () => {
  const endpointId = await stored('dead', [REJECTED, TIMED_OUT]);

  const groups = await findFailureGroups(new Date(at.getTime() - 1), 50);
  expect(groups.filter((group) => group.endpointId === endpointId)).toMatchObject([{ cause: 'timeout', settled: 1 }]);
  expect(await countDeliveries({ endpointId, cause: 'timeout' }, 10)).toBe(1);
  expect(await countDeliveries({ endpointId, cause: 'timeout 500' }, 10)).toBe(0);
});

test('when a delivery that arrived in the end is replayed, then it is no failure', async () => {
  const endpointId = await stored('pending', [TIMED_OUT, DELIVERED]);

  const groups = await findFailureGroups(new Date(at.getTime() - 1), 50);
  expect(groups.filter((group) => group.endpointId === endpointId)).toEqual([]);
  expect(await countDeliveries({ endpointId, cause: 'timeout' }, 10)).toBe(0);
});
