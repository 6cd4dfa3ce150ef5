// Postpones a delivery without spending an attempt.
import { agreedTime } from '#libs/clock.ts';
import type { Id } from '#libs/models/tenant.ts';
import { recallDeferred } from './store/due-deliveries.ts';
import type { Deferral } from './store/new-deliveries.ts';
import type { Wait } from './traffic/admission.ts';
import type { Traffic } from './traffic/traffic.ts';

/** @param deferrals how often in a row the breaker has deferred it already. */
export function deferralOf({ waitMs, isOpen }: Wait, deferrals: number): Deferral {
  return { nextAt: new Date(agreedTime() + Math.round(waitMs)), deferrals: deferrals + (isOpen ? 1 : 0) };
}

/**
 * To be called after deferrals by open breakers are written. If a breaker closed meanwhile, its recall came before these deliveries were
 * stored and missed them.
 * @param accounts by the endpoints whose deliveries were deferred.
 */
export async function recallIfClosed(traffic: Traffic, accounts: ReadonlyMap<Id, Id>): Promise<void> {
  for (const [endpointId, accountId] of accounts)
    if (!traffic.isOpen(endpointId)) await recallDeferred(accountId, endpointId);
}
