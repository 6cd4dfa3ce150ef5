// An account's own Stripe account: with it, clients pay invoices by card and other ways on a page of Stripe.

import { type Id, wireId } from '../tenant.ts';
import type { StripeSettings } from './account.ts';
import { Account } from './account.ts';

/** Returns the settings of the account that a call of Stripe is for, or undefined when no account has the hook. */
export async function findStripeHook(
  hookId: Id,
): Promise<{ accountId: Id; timeZone: string; settings: StripeSettings } | undefined> {
  const found = await Account.findOne({ 'stripe.hook_id': hookId }).select({ stripe: 1, time_zone: 1 }).lean<{
    _id: Parameters<typeof wireId>[0];
    stripe: StripeSettings;
    time_zone: string;
  }>();
  return found ? { accountId: wireId(found._id), timeZone: found.time_zone, settings: found.stripe } : undefined;
}

/** Returns the settings in the form of the API. @param portalUrl the address of the portal, where it is set up. */
export function stripeView(settings: StripeSettings, portalUrl: string | undefined) {
  const { mode, hook_id, created_at, updated_at } = settings;
  return {
    mode,
    hook_url: portalUrl === undefined ? null : `${portalUrl.replace(/\/$/, '')}/hooks/stripe/${hook_id}`,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}
