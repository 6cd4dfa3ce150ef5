// Changes all deliveries of an endpoint that was disabled, enabled or deleted.
import { agreedDate } from '../../clock.ts';
import type { Id } from '../tenant.ts';
import { Delivery } from './delivery.ts';
import { changeOf, guardOf } from './delivery-moves.ts';
import { restarted } from './replay-deliveries.ts';

/** Suspends the waiting deliveries of a disabled endpoint. A delivery in flight is suspended later by its worker. */
export async function suspendDeliveries(accountId: Id, endpointId: Id, now: Date = agreedDate()): Promise<void> {
  await Delivery.updateMany(
    { account_id: accountId, endpoint_id: endpointId, ...guardOf('suspend', { now }) },
    changeOf('suspend', { updatedAt: now }),
  );
}

/** Resumes the deliveries that were suspended while the endpoint was disabled. @returns how many. */
export async function resumeDeliveries(accountId: Id, endpointId: Id, now: Date = agreedDate()): Promise<number> {
  const { modifiedCount } = await Delivery.updateMany(
    { account_id: accountId, endpoint_id: endpointId, ...guardOf('resume', {}) },
    changeOf('resume', restarted(now)),
  );
  return modifiedCount;
}

/**
 * Gives up the undelivered deliveries of a deleted endpoint. A worker that is making an attempt finds no endpoint for
 * the next one.
 */
export async function abandonDeliveries(accountId: Id, endpointId: Id, now: Date = agreedDate()): Promise<void> {
  await Delivery.updateMany(
    { account_id: accountId, endpoint_id: endpointId, ...guardOf('abandon', { now }) },
    changeOf('abandon', { settledAt: now, updatedAt: now }),
  );
}

/** True when the endpoint has a pending delivery. */
export async function hasPendingDeliveries(accountId: Id, endpointId: Id): Promise<boolean> {
  const pending = { account_id: accountId, endpoint_id: endpointId, status: 'pending' as const };
  return (await Delivery.exists(pending)) !== null;
}
