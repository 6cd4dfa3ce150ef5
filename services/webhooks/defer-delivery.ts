// Moves a delivery to later without spending an attempt.
import { agreedTime } from '#libs/clock.ts';
import type { Id } from '#libs/models/tenant.ts';
import type { Postponement } from '#libs/models/webhooks/delivery-clock.ts';
import { recallPostponed } from './store/due-deliveries.ts';
import type { Traffic, Wait } from './traffic.ts';

/** @param postponed how often in a row that has happened to it already. */
export function postponementOf({ waitMs, isOpen }: Wait, postponed: number): Postponement {
  return { nextAt: new Date(agreedTime() + Math.round(waitMs)), postponed: postponed + (isOpen ? 1 : 0) };
}

/**
 * To be called once postponements by breakers are written: one may have closed meanwhile, and then who closed it has recalled what was
 * written by then.
 * @param accounts of the endpoints whose deliveries were put aside.
 */
export async function recallMissed(traffic: Traffic, accounts: ReadonlyMap<Id, Id>): Promise<void> {
  for (const [endpointId, accountId] of accounts)
    if (!traffic.isOpen(endpointId)) await recallPostponed(accountId, endpointId);
}
