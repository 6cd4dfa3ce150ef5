// Sends an account's deliveries again: one, or those of many events to one endpoint.
import { appError } from '../errors.ts';
import { LIST_LIMIT_MS } from '../models/list-total.ts';
import type { Id } from '../models/tenant.ts';
import { Delivery, type DeliveryRecord } from '../models/webhooks/delivery.ts';
import { Event, type EventRecord } from '../models/webhooks/event.ts';
import { isSubscribed } from '../models/webhooks/event-filter.ts';
import { replayDelivery, replayEvents } from '../models/webhooks/replay-deliveries.ts';
import type { WebhookEndpointRecord } from '../models/webhooks/webhook-endpoint.ts';
import { readAfterElection } from '../mongo/read-after-election.ts';
import type { Since } from './endpoint-input.ts';
import { type AccountReader, type NamedEndpoint, requireEnabledEndpoint } from './own-endpoint.ts';

/** Events per call: more would take longer than a request may. */
const REPLAY_EVENTS_MAX = 5_000;
const REPLAY_BATCH = 500;

export interface Replayed {
  /** The number of deliveries that go out. */
  deliveries: number;
  /** The time from which the next call continues. Absent when there is no more. */
  nextSince: Date | undefined;
}

/**
 * Sends the account's events since a time to an endpoint again. It runs outside of a transaction: thousands of
 * deliveries take seconds, and other writes of the account must not wait for them. Nudge the webhook services after it.
 * @throws AppError 404, and 409 when the endpoint is disabled.
 */
export async function replaySince(accountId: Id, named: NamedEndpoint, { since, only }: Since): Promise<Replayed> {
  const events = await readAfterElection(() => eventsSince(accountId, since));
  const endpoint = await requireEnabledEndpoint({ accountId }, named);
  const deliveries = await replayTo(endpoint, events.slice(0, REPLAY_EVENTS_MAX), only);
  return { deliveries, nextSince: events[REPLAY_EVENTS_MAX]?.created_at };
}

/**
 * Returns one more than a call replays, where the next call continues. Events of one millisecond come in any order, so
 * it begins with all of them.
 */
async function eventsSince(accountId: Id, since: Date): Promise<EventRecord[]> {
  const filter = { account_id: accountId, created_at: { $gte: since } };
  return Event.find(filter, undefined, { maxTimeMS: LIST_LIMIT_MS, hint: { account_id: 1, created_at: 1 } })
    .sort({ created_at: 1 })
    .limit(REPLAY_EVENTS_MAX + 1)
    .select({ account_id: 1, type: 1, endpoint_id: 1, request_id: 1, created_at: 1 })
    .lean<EventRecord[]>();
}

async function replayTo(endpoint: WebhookEndpointRecord, events: readonly EventRecord[], only: Since['only']) {
  const subscribed = events.filter((event) => isSubscribed(endpoint, event));
  let count = 0;
  for (let start = 0; start < subscribed.length; start += REPLAY_BATCH) {
    const batch = subscribed.slice(start, start + REPLAY_BATCH);
    count += await replayEvents(batch, String(endpoint._id), { skipDelivered: only === 'undelivered' });
  }
  return count;
}

/** Returns a delivery of the account, or null. */
export function findDelivery({ accountId, session }: AccountReader, id: Id): Promise<DeliveryRecord | null> {
  return Delivery.findOne({ _id: id, account_id: accountId })
    .session(session ?? null)
    .lean<DeliveryRecord>();
}

/**
 * Sends a delivery again, whatever became of it. Nudge the webhook services after it.
 * @param missing makes the 404, also for a deleted endpoint.
 * @throws AppError 404, and 409 when its endpoint is disabled.
 */
export async function replayOwnDelivery(
  accountId: Id,
  id: Id,
  missing: () => Error = () => appError('delivery_not_found'),
): Promise<DeliveryRecord> {
  const delivery = await readAfterElection(() => findDelivery({ accountId }, id));
  if (!delivery) throw missing();
  await requireEnabledEndpoint({ accountId }, { id: String(delivery.endpoint_id), missing });
  const replayed = await replayDelivery(accountId, id);
  if (!replayed) throw missing();
  return replayed;
}
