// Postpones a delivery without spending an attempt.
import { agreedTime } from '#libs/clock.ts';
import type { Id } from '#libs/models/tenant.ts';
import { recallDeferred } from './store/due-deliveries.ts';
import type { Deferral } from './store/new-deliveries.ts';
import type { Wait } from './traffic/admission.ts';
import type { Traffic } from './traffic/traffic.ts';

/**
 * Returns the deferral for a wait.
 * @param deferrals the number of times in a row that the breaker has deferred the delivery already.
 */
export function deferralOf({ waitMs, isOpen }: Wait, deferrals: number): Deferral {
  return { nextAt: new Date(agreedTime() + Math.round(waitMs)), deferrals: deferrals + (isOpen ? 1 : 0) };
}

/**
 * Recalls deliveries whose breaker closed while they were being deferred. Call it after the deferrals are written: the
 * recall of that breaker came before these deliveries were stored and missed them.
 * @param accounts the accounts by the endpoints whose deliveries were deferred.
 */
export async function recallIfClosed(traffic: Traffic, accounts: ReadonlyMap<Id, Id>): Promise<void> {
  for (const [endpointId, accountId] of accounts)
    if (!traffic.isOpen(endpointId)) await recallDeferred(accountId, endpointId);
}
