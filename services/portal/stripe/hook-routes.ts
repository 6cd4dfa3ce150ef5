// The calls of Stripe: each account has an address of its own, and its own secret signs them.
import express, { type Request, type Response, Router } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';
import type Stripe from 'stripe';
import { findStripeHook } from '#libs/models/accounts/stripe-settings.ts';
import { isId } from '#libs/models/tenant.ts';
import { PageError } from '#libs/pages/page-error.ts';
import type { SecretBox } from '#libs/secret-box.ts';
import type { Logger } from '#libs/service/logger.ts';
import { openLimit } from '../http/limits.ts';
import { bookEvent, isWellFormed } from './book-event.ts';
import { loadStripe } from './open-stripe.ts';

export interface HookOptions {
  box: Pick<SecretBox, 'open'>;
  nudge: () => void;
  /** The bytes of records and events that an account may keep. Any amount unless given. */
  quotaBytes?: number | undefined;
  log: Logger;
}

/** Bytes of an event. Stripe's have a few KiB. */
const BYTES_MAX = 512 * 1024;
/** Calls of one address a minute. Stripe calls from few. */
const CALLS_MAX = 1_200;
/** The age of a signature. An event that is sent again later has a new one. */
const TOLERANCE_S = 300;

export function hookRoutes({ box, nudge, quotaBytes, log }: HookOptions): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const admit = openLimit(CALLS_MAX);
  // The signature is over the bytes as they came.
  const raw = express.raw({ type: () => true, limit: BYTES_MAX, inflate: false });

  router.post(
    '/hooks/stripe/:id',
    (request, _response, next) => {
      admit(ipKeyGenerator(request.ip ?? 'unknown'));
      next();
    },
    raw,
    async (request: Request, response: Response) => {
      const { id } = request.params;
      const hook = isId(id) ? await findStripeHook(id) : undefined;
      if (!hook) throw new PageError(404, 'No such hook');
      const event = await verified(request, box.open(hook.settings.signing_secret));
      if (!event) return void response.status(400).json({ error: 'Invalid signature' });
      if (!isWellFormed(event)) return void response.status(400).json({ error: 'Invalid event' });
      const { accountId, timeZone, settings } = hook;
      // The secret may still be that of the webhook in Stripe's test mode, where no money moves.
      const isOfTestMode = !event.livemode && settings.mode === 'live';
      const outcome = isOfTestMode
        ? 'nothing'
        : await bookEvent(event, { accountId, timeZone, onEvents: nudge, quotaBytes });
      const facts = { accountId, eventId: event.id, type: event.type, outcome };
      if (outcome === 'unknown') log.error(facts, 'an event of Stripe could not be booked; book the money by hand');
      else log.info(facts, 'event of Stripe');
      response.status(200).json({ received: true, outcome });
    },
  );
  return router;
}

async function verified({ body, headers }: Request, secret: string): Promise<Stripe.Event | undefined> {
  const signature = headers['stripe-signature'];
  if (!Buffer.isBuffer(body) || typeof signature !== 'string') return undefined;
  // Any key will do: checking a signature calls nothing.
  const { webhooks } = new (await loadStripe())('sk_unused');
  try {
    return webhooks.constructEvent(body, signature, secret, TOLERANCE_S);
  } catch {
    return undefined;
  }
}
