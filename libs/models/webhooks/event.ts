// Something that happened, written in the transaction of the record it is about. The collection is the outbox of all webhooks.
import { type InferSchemaType, model, Schema } from 'mongoose';
import { agreedDate } from '../../clock.ts';
import type { Session } from '../../mongo/connection.ts';
import { currentTrace } from '../../service/tracing.ts';
import { driverOf } from '../records.ts';
import { countStored, sizeOf } from '../stored-bytes.ts';
import { type Id, idField, isId, newId, requiredIdField, storedId, tenant } from '../tenant.ts';
import type { EventType } from './event-types.ts';

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
    /** Only of an event for one endpoint alone, such as `ping`. */
    endpoint_id: idField,
    request_id: String,
    /** The trace of the request, see currentTrace; only while tracing is on. */
    trace: String,
    created_at: { type: Date, required: true, default: () => new Date() },
    /** When the relay must look at it (again); absent once its deliveries exist. */
    due_at: Date,
    /** How often it was enqueued: part of the job's id, which must not repeat while an old job lives. */
    enqueue_count: { type: Number, required: true, default: 0 },
  },
  { versionKey: false, strict: 'throw', collection: 'events' },
);
eventSchema.plugin(tenant);
eventSchema.index({ account_id: 1, sequence: 1 }, { unique: true });
eventSchema.index({ account_id: 1, type: 1, sequence: 1 });
eventSchema.index({ account_id: 1, created_at: 1 });
eventSchema.index({ account_id: 1, client_id: 1 }, { partialFilterExpression: { client_id: { $exists: true } } });
// The relay finds the accounts with new events along it. Partial: a sparse one would hold every event, since all have an account.
eventSchema.index({ due_at: 1, account_id: 1 }, { partialFilterExpression: { due_at: { $exists: true } } });

export type EventRecord = InferSchemaType<typeof eventSchema>;

export const Event = model('Event', eventSchema);

/** Due on every clock: this process's may be ahead of the relay's. Of an account's new events the first stored is the first found. */
export const AT_ONCE = new Date(0);

export interface NewEvent {
  accountId: Id;
  type: EventType;
  /** The record as the API returns it. */
  data: unknown;
  requestId?: string;
  endpointId?: Id;
}

/** As it is stored, but for its sequence. */
export type FrozenEvent = ReturnType<typeof freezeEvent>;

/** @param sequence drawn in the same transaction, see counter.ts. */
export async function insertEvent(
  session: Session,
  { sequence, ...event }: NewEvent & { sequence: number },
): Promise<Id> {
  const frozen = freezeEvent(event);
  await insertEvents(session, [frozen], sequence);
  return String(frozen._id);
}

/** @param first the sequence of the first; the others follow it. */
export async function insertEvents(session: Session, events: readonly FrozenEvent[], first: number): Promise<void> {
  const stored = events.map((event, index) => ({ ...event, sequence: first + index }));
  // Straight from the driver: every write of the API goes through here.
  await driverOf(Event).insertMany(stored, { session });
  for (const event of stored) countStored(session, sizeOf(event));
}

/** What happened, as it is now: later changes of the record are other events. */
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
  };
}

/** The client that the record is, or that is embedded in it. */
function clientIn({ type, data }: NewEvent): Id | undefined {
  const { id, client } = (data ?? {}) as { id?: unknown; client?: { id?: unknown } | null };
  const found = type.startsWith('client.') ? id : client?.id;
  return typeof found === 'string' && isId(found) ? found : undefined;
}
