// The connection to Stripe with an account's own key: through the guard, with a time limit.
import type Stripe from 'stripe';
import type { Outbound } from '#libs/outbound/outbound.ts';

/** The time for one call. The client of the page waits for it. */
const TIMEOUT_MS = 10_000;
/** Stripe knows a repeated call by its idempotency key. */
const REPEATS = 1;

/** The place of the API. Tests name another one. */
export interface StripePlace {
  protocol: 'http' | 'https';
  host: string;
  port: number;
}

const STRIPE: StripePlace = { protocol: 'https', host: 'api.stripe.com', port: 443 };

export type OpenStripe = (key: string) => Promise<Stripe>;

/** Loads the library at its first use: it is a tenth of the service's modules, and few installations use it. */
export const loadStripe = async () => (await import('stripe')).default;

export function makeOpenStripe(outbound: Pick<Outbound, 'check'>, place: StripePlace = STRIPE): OpenStripe {
  const { protocol, host, port } = place;
  const address = `${protocol}://${host}:${port}/`;
  return async (key) => {
    const { httpAgent, httpsAgent } = outbound.check(address, { protocols: ['http:', 'https:'] });
    return new (await loadStripe())(key, {
      protocol,
      host,
      port,
      httpAgent: protocol === 'https' ? httpsAgent : httpAgent,
      timeout: TIMEOUT_MS,
      maxNetworkRetries: REPEATS,
      telemetry: false,
    });
  };
}
