// An event, written in the transaction of its record. The collection is the outbox of all webhooks.
import { type InferSchemaType, model, Schema } from 'mongoose';
import { agreedDate } from '../../clock.ts';
import type { Session } from '../../mongo/connection.ts';
import { currentTrace } from '../../service/tracing.ts';
import { finishCounter } from '../counter.ts';
import type { ListingOf } from '../list-indexes.ts';
import { driverOf, type Owned } from '../records.ts';
import { drawNext } from '../sequences.ts';
import { countStored, quotaStep, sizeOf } from '../stored-bytes.ts';
import { type Id, idField, isId, newId, requiredIdField, storedId, tenant } from '../tenant.ts';
import { type ActivityHints, type Actor, activityOf, type StoredActivity } from './event-activity.ts';
import { type EventType, nounOf } from './event-types.ts';

const eventSchema = new Schema(
  {
    _id: { ...idField, default: newId },
    account_id: requiredIdField,
    /** A number without gaps per account, in the order of commits: the cursor of the event feed. */
    sequence: { type: Number, required: true },
    type: { type: String, required: true },
    /**
     * The exact bytes that every endpoint gets, frozen when the event happened. Only the erasure of a client rewrites
     * them.
     */
    body: { type: String, required: true },
    /** The client whose data the body holds. Absent after their erasure, see client-erasure.ts. */
    client_id: idField,
    /** Set only on an event for one endpoint, such as `ping`. */
    endpoint_id: idField,
    request_id: String,
    /** The trace of the request, see currentTrace. Only set while tracing is on. */
    trace: String,
    created_at: { type: Date, required: true, default: () => new Date() },
    /** The time at which the relay must look at it (again). Absent once its deliveries exist. */
    due_at: Date,
    /**
     * The number of times it was enqueued. It is part of the job's id, which must not repeat while an old job exists.
     */
    enqueue_count: { type: Number, required: true, default: 0 },
    /** The documents that it is about, each with its own part of the amount. Absent on an event about none, as are the next two. */
    subjects: { type: [{ _id: false, id: requiredIdField, amount: Number }], default: undefined },
    /** See ActivityFacts. */
    facts: Object,
    /** See Actor. */
    by: Object,
  },
  { versionKey: false, strict: 'throw', collection: 'events' },
);
eventSchema.plugin(tenant);
eventSchema.index({ account_id: 1, sequence: 1 }, { unique: true });
eventSchema.index({ account_id: 1, type: 1, sequence: 1 });
eventSchema.index({ account_id: 1, created_at: 1 });
eventSchema.index({ account_id: 1, client_id: 1 }, { partialFilterExpression: { client_id: { $exists: true } } });
// The relay finds the accounts with new events along it. It is partial: a sparse index would hold every event, since
// all have an account.
eventSchema.index({ due_at: 1, account_id: 1 }, { partialFilterExpression: { due_at: { $exists: true } } });

// The activity of a document is read along it. It is partial, because most events are about no document.
eventSchema.index(
  { account_id: 1, 'subjects.id': 1, sequence: 1, _id: 1 },
  { partialFilterExpression: { 'subjects.id': { $exists: true } } },
);

export type EventRecord = InferSchemaType<typeof eventSchema>;

export const Event = model('Event', eventSchema);

/** An event as the activity of a document reads it. */
export type ActivityEvent = Owned &
  StoredActivity & { sequence: number; type: EventType; created_at: Date; body: string; trace?: string };

/** Sequences are in the order of commits, as entries are shown. Its index is above: no other list reads events. */
export const activityListing: ListingOf<ActivityEvent, 'at'> = {
  filters: ['subjects.id'],
  orders: { at: 'sequence' },
  standard: '-at',
  omitted: ['body', 'trace'],
};

/**
 * A time that is due on every clock, even where this process's clock is ahead of the relay's. The relay finds new
 * events in stored order.
 */
export const AT_ONCE = new Date(0);

export interface NewEvent {
  accountId: Id;
  type: EventType;
  /** The record in the form of the API. */
  data: unknown;
  requestId?: string;
  endpointId?: Id | undefined;
  /** The actor of the unit of work. */
  by?: Actor | undefined;
  activity?: ActivityHints | undefined;
}

/** An event in its stored form, without the sequence. */
export type FrozenEvent = ReturnType<typeof freezeEvent>;

/** Stores an event. @param sequence drawn in the same transaction, see counter.ts. */
export async function insertEvent(
  session: Session,
  { sequence, ...event }: NewEvent & { sequence: number },
): Promise<Id> {
  const frozen = freezeEvent(event);
  await insertEvents(session, [frozen], sequence);
  return String(frozen._id);
}

/**
 * Stores the event of a transaction that is no unit of work, and counts its bytes as a unit of work does at its end. It
 * comes last in the transaction.
 */
export async function insertLastEvent(session: Session, event: NewEvent): Promise<void> {
  const { accountId } = event;
  await insertEvent(session, { ...event, sequence: await drawNext(session, accountId, 'event') });
  // An account over its quota gets the event, too, because its cause has happened.
  await finishCounter(session, accountId, quotaStep(session, undefined));
}

/** Stores events with consecutive sequences. @param first the sequence of the first one. */
export async function insertEvents(session: Session, events: readonly FrozenEvent[], first: number): Promise<void> {
  const stored = events.map((event, index) => ({ ...event, sequence: first + index }));
  // The driver is faster than mongoose, and every write of the API comes here.
  await driverOf(Event).insertMany(stored, { session });
  for (const event of stored) countStored(session, sizeOf(event));
}

/** Returns the event with its record as of now. Later changes of the record are other events. */
export function freezeEvent(event: NewEvent) {
  const now = agreedDate();
  const trace = currentTrace();
  const clientId = clientIn(event);
  return {
    _id: storedId(newId()),
    account_id: storedId(event.accountId),
    type: event.type,
    body: JSON.stringify({ type: event.type, timestamp: now.toISOString(), data: event.data }),
    created_at: now,
    due_at: AT_ONCE,
    enqueue_count: 0,
    ...(event.requestId ? { request_id: event.requestId } : {}),
    ...(trace ? { trace } : {}),
    ...(event.endpointId ? { endpoint_id: storedId(event.endpointId) } : {}),
    ...(clientId ? { client_id: storedId(clientId) } : {}),
    ...activityOf(event.type, event.data, { ...event.activity, by: event.activity?.by ?? event.by }),
  };
}

/** Returns the client in the event: the record itself, or the client embedded in it. */
function clientIn({ type, data }: NewEvent): Id | undefined {
  const { id, client } = (data ?? {}) as { id?: unknown; client?: { id?: unknown } | null };
  const found = nounOf(type) === 'client' ? id : client?.id;
  return typeof found === 'string' && isId(found) ? found : undefined;
}
