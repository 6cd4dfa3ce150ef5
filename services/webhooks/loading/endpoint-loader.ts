// Loads endpoints, and caches them for a moment: a busy one gets hundreds of deliveries a second.
import type { WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { findEndpoints } from '../store/endpoints.ts';
import { type CachedLoader, openCachedLoader } from './cached-loader.ts';

const CACHED_MAX = 1_000;
/**
 * The time for which a changed endpoint may still get calls in its old state. A call that was under way takes longer.
 */
const CACHED_MS = 100;

/**
 * Opens the loader. An endpoint may have been disabled, moved or given another secret since the fan-out, so it is
 * cached only briefly.
 */
export const openEndpointLoader = (): CachedLoader<WebhookEndpointRecord> =>
  openCachedLoader(findEndpoints, { max: CACHED_MAX, ttl: CACHED_MS });
