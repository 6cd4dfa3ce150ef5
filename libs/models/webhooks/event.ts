// Something that happened, written in the transaction of the record it tells about (the outbox of all webhooks).
import { type InferSchemaType, model, Schema } from 'mongoose';
import { agreedDate } from '../../clock.ts';
import type { Session } from '../../mongo/connection.ts';
import { currentTrace } from '../../service/tracing.ts';
import { LIST_LIMIT_MS } from '../listing.ts';
import { driverOf } from '../records.ts';
import { type Id, idField, isId, newId, requiredIdField, type StoredId, storedId, tenant, wireId } from '../tenant.ts';

export const EVENT_TYPES = [
  'client.created',
  'client.updated',
  'client.anonymised',
  'client.deleted',
  'project.created',
  'project.updated',
  'project.deleted',
  'task.created',
  'task.updated',
  'task.deleted',
  'time_entry.created',
  'time_entry.updated',
  'time_entry.deleted',
  'quote.created',
  'quote.updated',
  'quote.sent',
  'quote.accepted',
  'quote.declined',
  'quote.expired',
  'quote.deleted',
  'invoice.created',
  'invoice.updated',
  'invoice.sent',
  'invoice.paid',
  'invoice.overdue',
  'invoice.cancelled',
  'invoice.deleted',
  'payment.recorded',
  'documents.completed',
  'endpoint.disabled',
  'ping',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

const eventSchema = new Schema(
  {
    _id: { ...idField, default: newId },
    account_id: requiredIdField,
    /** Gapless per account, in the order of commits: the cursor of the event feed. */
    sequence: { type: Number, required: true },
    type: { type: String, required: true },
    /** The exact bytes every endpoint gets, frozen when the event happened; only the erasure of a client rewrites them. */
    body: { type: String, required: true },
    /** The client whose data the body holds, until they are erased, see client-erasure.ts. */
    client_id: idField,
    /** Set for an event that is for one endpoint only, such as `ping`. */
    endpoint_id: idField,
    request_id: String,
    /** The trace of the request, see currentTrace; only while somebody traces. */
    trace: String,
    created_at: { type: Date, required: true, default: () => new Date() },
    /** When the relay must look at it (again); absent once its deliveries exist. This is lease, retry and sweeper in one. */
    due_at: Date,
    /** Counts how often it was put on the queue: part of the job's id, which must not repeat while an old job lives. */
    generation: { type: Number, required: true, default: 0 },
  },
  { versionKey: false, strict: 'throw', collection: 'events' },
);
eventSchema.plugin(tenant);
eventSchema.index({ account_id: 1, sequence: 1 }, { unique: true });
eventSchema.index({ account_id: 1, type: 1, sequence: 1 });
eventSchema.index({ account_id: 1, created_at: 1 });
eventSchema.index({ account_id: 1, client_id: 1 }, { partialFilterExpression: { client_id: { $exists: true } } });
// The accounts with new events are found along it one by one. Partial: a sparse one would have every event, all have an account.
eventSchema.index({ due_at: 1, account_id: 1 }, { partialFilterExpression: { due_at: { $exists: true } } });

export type EventRecord = InferSchemaType<typeof eventSchema>;

export const Event = model('Event', eventSchema);

/** Whatever clock looks: ours may be ahead of the relay's. Of an account's events that are due at once the first stored is the first found. */
export const AT_ONCE = new Date(0);

export interface NewEvent {
  accountId: Id;
  type: EventType;
  /** Drawn in the same transaction, see counter.ts. */
  sequence: number;
  /** The record as the API returns it. */
  data: unknown;
  requestId?: string;
  endpointId?: Id;
}

export async function insertEvent(session: Session, event: NewEvent): Promise<Id> {
  const id = newId();
  // Straight from the driver: every write of the API goes through here.
  await Event.collection.insertOne(storedEvent(id, event), { session });
  return id;
}

export async function insertEvents(session: Session, events: readonly NewEvent[]): Promise<void> {
  await Event.collection.insertMany(
    events.map((event) => storedEvent(newId(), event)),
    { session },
  );
}

function storedEvent(id: Id, event: NewEvent) {
  const now = agreedDate();
  const trace = currentTrace();
  const clientId = clientIn(event);
  return {
    _id: storedId(id) as never, // The wrapper's types know no ids but ObjectId.
    account_id: storedId(event.accountId),
    sequence: event.sequence,
    type: event.type,
    body: JSON.stringify({ type: event.type, timestamp: now.toISOString(), data: event.data }),
    created_at: now,
    due_at: AT_ONCE,
    generation: 0,
    ...(event.requestId ? { request_id: event.requestId } : {}),
    ...(trace ? { trace } : {}),
    ...(event.endpointId ? { endpoint_id: storedId(event.endpointId) } : {}),
    ...(clientId ? { client_id: storedId(clientId) } : {}),
  };
}

/** The client that the record is, or that is embedded in it. */
function clientIn({ type, data }: NewEvent): Id | undefined {
  const { id, client } = (data ?? {}) as { id?: unknown; client?: { id?: unknown } | null };
  const found = type.startsWith('client.') ? id : client?.id;
  return typeof found === 'string' && isId(found) ? found : undefined;
}

/** A body may have 250 kB and a page 100 of them: pages for a few callers at once would be more than a small gateway's memory. */
const PAGE_BYTES = 2 * 1024 * 1024;
/** So many are read at a time: few enough when all are large. */
const PAGE_BATCH = 25;

export interface FeedPage {
  /** The sequence of the last event that is known already. */
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

/** Events by id, of whatever accounts: the webhook service fans out and delivers those of all accounts side by side. */
export async function findEvents(ids: readonly Id[]): Promise<Map<Id, EventRecord>> {
  const events = (await driverOf(Event)
    .find({ _id: { $in: [...new Set(ids)].map(storedId) } }, { batchSize: ids.length + 1 })
    .toArray()) as unknown as EventRecord[];
  return new Map(events.map((event) => [wireId(event._id), event]));
}

/** All deliveries of these events, of whatever accounts, exist: the relay need not look again. */
export async function markFannedOut(ids: readonly StoredId[]): Promise<void> {
  await driverOf(Event).updateMany({ _id: { $in: [...ids] } }, { $unset: { due_at: 1 } });
}
