// Endpoints, kept for a moment: a busy one gets hundreds of deliveries a second.
import { findEndpoints, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { type KeptReader, openKeptReader } from './cached-loader.ts';

const KEPT = 1_000;
/** An endpoint that is changed may get calls as it was for so long: no more than a call that was on its way. */
const KEPT_MS = 100;

/** As it is now, or was a moment ago: since fan-out it may have been disabled, moved or given another secret. */
export const openEndpointReader = (): KeptReader<WebhookEndpointRecord> =>
  openKeptReader(findEndpoints, { max: KEPT, ttl: KEPT_MS });
