// Events as Stripe sends them, signed by the test signer of its library.
import Stripe from 'stripe';

const { webhooks } = new Stripe('sk_unused');

export interface StripeEvent {
  type: string;
  object: object;
  /** When it happened. Now unless given. */
  at?: Date;
  /** True for money. False unless given. */
  isLive?: boolean;
}

let made = 0;

/** Returns the body of an event. */
export function eventBody({ type, object, at = new Date(), isLive = false }: StripeEvent): string {
  made += 1;
  const created = Math.floor(at.getTime() / 1_000);
  return JSON.stringify({
    id: `evt_${made}`,
    object: 'event',
    api_version: '2026-01-01',
    created,
    type,
    data: { object },
    livemode: isLive,
  });
}

/** Sends a body to a hook. @param signedAt the time of the signature, in seconds. */
export async function sendEvent(
  url: string,
  body: string,
  { secret, signedAt, sent = body }: { secret: string; signedAt?: number; sent?: string },
) {
  const timestamp = signedAt ?? Math.floor(Date.now() / 1_000);
  const signature = await webhooks.generateTestHeaderStringAsync({ payload: body, secret, timestamp });
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Stripe-Signature': signature, 'Content-Type': 'application/json' },
    body: sent,
  });
  return { status: response.status, text: await response.text() };
}

/** A page on which a client has paid. */
export function paidSession(invoiceId: string, fields: object = {}) {
  return {
    id: 'cs_test_1',
    object: 'checkout.session',
    metadata: { billhook_invoice: invoiceId },
    client_reference_id: invoiceId,
    payment_status: 'paid',
    payment_intent: 'pi_1',
    payment_method_types: ['card'],
    amount_total: 10_000,
    currency: 'eur',
    ...fields,
  };
}
