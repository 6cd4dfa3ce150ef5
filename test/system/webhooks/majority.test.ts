// A majority has the deliveries of an event before the event is marked as fanned out: otherwise the next primary may lack them.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId, storedId, wireId } from '#libs/models/tenant.ts';
import { Delivery, deliveryId } from '#libs/models/webhooks/delivery.ts';
import { pingMongo } from '#libs/mongo/connection.ts';
import { insertDeliveries } from '../../../services/webhooks/store/new-deliveries.ts';
import { eventually } from '../../support/eventually.ts';
import { type OwnSet, openOwnSet } from '../../support/own-set.ts';
import { announcedEvent } from '../../support/webhooks.ts';

const MINUTE_MS = 60_000;
/** Round trips to the primary: after them the response to an earlier command would have arrived. */
const PINGS = 50;

let own: OwnSet | undefined; // Absent when it did not start.
beforeAll(async () => {
  own = await openOwnSet('majority');
}, 3 * MINUTE_MS);
afterAll(async () => {
  await own?.close();
}, MINUTE_MS);

test('when only the primary has the deliveries of an event, then the insert is not acknowledged yet', async () => {
  const { set, workspace } = own as OwnSet;
  const { id: accountId } = await workspace.account();
  const event = await announcedEvent(accountId);
  const eventId = wireId(event._id);
  const endpointId = newId();
  const _id = deliveryId(eventId, endpointId);
  const primary = await set.primary();
  const secondaries = set.members.filter((member) => member !== primary);
  const letCopy = async (mode: 'alwaysOn' | 'off') => {
    for (const member of secondaries) await member.command({ configureFailPoint: 'rsSyncApplyStop', mode });
  };

  await letCopy('alwaysOn');
  let isTold = false;
  const telling = insertDeliveries([{ event, endpointIds: [storedId(endpointId)] }], new Date()).finally(() => {
    isTold = true;
  });
  try {
    await eventually(() => Delivery.findOne({ _id, account_id: accountId }).readConcern('local').lean());
    for (let count = 0; count < PINGS; count += 1) await pingMongo();
    expect(isTold).toBe(false);
  } finally {
    await letCopy('off');
  }
  expect(await telling).toEqual([[{ id: _id, endpointId: storedId(endpointId) }]]);
  expect(await Delivery.exists({ _id, account_id: accountId })).not.toBeNull();
});
