// The account's Stripe settings over HTTP. Experimental: it was never run against Stripe itself.
import { fieldProblem } from '#libs/errors.ts';
import { Account, type AccountRecord, type StripeSettings } from '#libs/models/accounts/account.ts';
import { stripeView } from '#libs/models/accounts/stripe-settings.ts';
import { newId } from '#libs/models/tenant.ts';
import type { Session } from '#libs/mongo/connection.ts';
import { deleted, updated } from '../http/response.ts';
import { ALWAYS, type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import { type StripeBody, stripeBody } from './stripe-input.ts';
import { stripeResponse } from './stripe-response.ts';

const path = '/api/v1/account/stripe';
const missing = 'Stripe settings not found';

export const stripeRoutes: readonly Route[] = [
  singleRead({
    path,
    operation: 'getStripe',
    scope: 'account:read',
    missing,
    docs: {
      title: 'Get the Stripe settings',
      summary: 'Get the address for the webhook at Stripe',
      response: stripeResponse,
    },
    read: readStripe,
  }),
  route({
    method: 'put',
    path,
    operation: 'setStripe',
    scope: 'account:write',
    // Whatever the signing secret signs is booked.
    alsoNeeds: { 'payments:write': ALWAYS },
    body: stripeBody,
    missing,
    rechecksKey: true,
    docs: {
      title: 'Set the Stripe settings',
      summary: 'Let clients pay on a page of your Stripe account',
      description:
        "Experimental. The page of an invoice then has a button that leads to Stripe Checkout. Stripe's webhook books the money; its events are " +
        '`checkout.session.completed`, `checkout.session.async_payment_succeeded`, `checkout.session.expired`, `refund.created`, `refund.updated` and `charge.dispute.closed`.',
      response: stripeResponse,
    },
    handler: putStripe,
  }),
  route({
    method: 'delete',
    path,
    operation: 'deleteStripe',
    scope: 'account:write',
    missing,
    rechecksKey: true,
    docs: {
      title: 'Delete the Stripe settings',
      summary: 'Let no client pay by Stripe any more',
      description: 'Both secrets are removed. Payments that are under way are not booked by themselves then.',
      message: 'Stripe settings deleted',
    },
    handler: deleteStripe,
  }),
];

async function settingsOf(accountId: string, session?: Session): Promise<StripeSettings | undefined> {
  const account = await Account.findById(accountId)
    .session(session ?? null)
    .lean<AccountRecord>();
  return account?.stripe as StripeSettings | undefined;
}

async function readStripe({ caller, parts, session }: Reading) {
  const settings = await settingsOf(caller.accountId, session);
  return settings && stripeView(settings, parts.portalUrl);
}

async function putStripe({ body, caller, commit, parts: { box, portalUrl } }: Context<StripeBody>) {
  const mode = body.secret_key.includes('_live_') ? 'live' : 'test';
  // Documents of a test account ask for no money.
  if (mode === 'live' && caller.account.mode === 'test')
    throw fieldProblem('secret_key', 'other_mode', { mode: 'test' });
  return commit(async ({ session, accountId }) => {
    const before = await settingsOf(accountId, session);
    const now = new Date();
    const settings: StripeSettings = {
      // The address stays, so that the webhook at Stripe does, too.
      hook_id: before?.hook_id ?? newId(),
      key: box.seal(body.secret_key),
      signing_secret: box.seal(body.signing_secret),
      mode,
      created_at: before?.created_at ?? now,
      updated_at: now,
    };
    await Account.updateOne({ _id: accountId }, { $set: { stripe: settings } }, { session });
    return updated(stripeView(settings, portalUrl));
  });
}

async function deleteStripe({ commit, missing: notFound }: Context) {
  return commit(async ({ session, accountId }) => {
    const { modifiedCount } = await Account.updateOne(
      { _id: accountId, stripe: { $exists: true } },
      { $unset: { stripe: 1 } },
      { session },
    );
    if (modifiedCount === 0) throw notFound();
    return deleted('Stripe settings deleted');
  });
}
