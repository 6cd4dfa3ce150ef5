// Endpoints, cached for a moment: a busy one gets hundreds of deliveries a second.
import type { WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { findEndpoints } from '../store/endpoints.ts';
import { type CachedLoader, openCachedLoader } from './cached-loader.ts';

const CACHED_MAX = 1_000;
/** A changed endpoint may get calls as it was for this long: no longer than a call that was under way would take. */
const CACHED_MS = 100;

/** Since the fan-out an endpoint may have been disabled, moved or given another secret. */
export const openEndpointLoader = (): CachedLoader<WebhookEndpointRecord> =>
  openCachedLoader(findEndpoints, { max: CACHED_MAX, ttl: CACHED_MS });
