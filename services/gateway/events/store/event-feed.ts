// The feed of an account's events over HTTP, in the order they happened.
import { LIST_LIMIT_MS } from '#libs/models/list-total.ts';
import type { Id } from '#libs/models/tenant.ts';
import { Event, type EventRecord } from '#libs/models/webhooks/event.ts';
import type { EventType } from '#libs/models/webhooks/event-types.ts';

/** A body may have 250 kB and a page 100 of them: pages for a few callers at once would exceed a small gateway's memory. */
const PAGE_BYTES = 2 * 1024 * 1024;
/** Events per read: few enough when all are large. */
const PAGE_BATCH = 25;

export interface FeedPage {
  /** The sequence of the last event that the caller has. */
  after: number;
  offset: number;
  limit: number;
  type?: EventType | undefined;
}

const inFeed = (accountId: Id, { after, type }: FeedPage) => ({
  account_id: accountId,
  sequence: { $gt: after },
  ...(type ? { type } : {}),
});

/** Events of the account in their order: at most `limit`, and at least one if there is any, but none after about 2 MiB of bodies. */
export async function readFeed(accountId: Id, page: FeedPage): Promise<EventRecord[]> {
  const events: EventRecord[] = [];
  let bytes = 0;
  const cursor = Event.find(inFeed(accountId, page), undefined, { maxTimeMS: LIST_LIMIT_MS })
    .sort({ sequence: 1 })
    .skip(page.offset)
    .limit(page.limit)
    .lean<EventRecord[]>()
    .cursor({ batchSize: PAGE_BATCH });
  // Leaving the loop closes the cursor.
  for await (const event of cursor) {
    events.push(event);
    bytes += Buffer.byteLength(event.body);
    if (bytes >= PAGE_BYTES) break;
  }
  return events;
}

/** How many there are on this page and all after it. */
export async function countFeed(accountId: Id, page: FeedPage): Promise<number> {
  return await Event.countDocuments(inFeed(accountId, page), { maxTimeMS: LIST_LIMIT_MS });
}

/** The event as the feed of the API shows it: what webhooks carry, with its id and its place in the account's order. */
export function eventView(event: EventRecord) {
  const { type, timestamp, data } = JSON.parse(event.body) as { type: string; timestamp: string; data: unknown };
  return { id: String(event._id), sequence: event.sequence, type, timestamp, data };
}
