// Reads events of all accounts by id, and marks them as fanned out.
import { driverOf } from '#libs/models/records.ts';
import { type Id, type StoredId, storedId, wireId } from '#libs/models/tenant.ts';
import { Event, type EventRecord } from '#libs/models/webhooks/event.ts';

/** Larger events are read without their body, which only their calls need. */
export const SMALL_EVENT_BYTES = 64 * 1024;

/** An event with its body when that is small. */
export type EventHead = Omit<EventRecord, 'body'> & {
  body?: string;
  /** The size of the whole stored event, which is nearly all body. */
  stored_bytes: number;
};

const STORED_BYTES = { $bsonSize: '$$ROOT' };
const HEAD = {
  account_id: 1,
  sequence: 1,
  type: 1,
  endpoint_id: 1,
  request_id: 1,
  trace: 1,
  due_at: 1,
  enqueue_count: 1,
  stored_bytes: STORED_BYTES,
  body: { $cond: [{ $lte: [STORED_BYTES, SMALL_EVENT_BYTES] }, '$body', '$$REMOVE'] },
};

export async function findEvents(ids: readonly Id[]): Promise<Map<Id, EventHead>> {
  const events = (await driverOf(Event)
    .find({ _id: { $in: [...new Set(ids)].map(storedId) } }, { projection: HEAD, batchSize: ids.length + 1 })
    .toArray()) as unknown as EventHead[];
  return new Map(events.map((event) => [wireId(event._id), event]));
}

/** Returns bodies of events, whatever their size. The caller bounds their number. */
export async function findBodies(ids: readonly Id[]): Promise<Map<Id, Pick<EventRecord, '_id' | 'body'>>> {
  const events = (await driverOf(Event)
    .find({ _id: { $in: [...new Set(ids)].map(storedId) } }, { projection: { body: 1 } })
    .toArray()) as unknown as Pick<EventRecord, '_id' | 'body'>[];
  return new Map(events.map((event) => [wireId(event._id), event]));
}

/** Marks events whose deliveries all exist. The relay need not look again. */
export async function markFannedOut(ids: readonly StoredId[]): Promise<void> {
  await driverOf(Event).updateMany({ _id: { $in: [...ids] } }, { $unset: { due_at: 1 } });
}

/** Postpones an event whose fan-out is set aside. The relay looks again at `dueAt`. */
export async function postponeFanOut(
  { _id, account_id }: Pick<EventRecord, '_id' | 'account_id'>,
  dueAt: Date,
): Promise<void> {
  // An event that was fanned out meanwhile has no due_at.
  await driverOf(Event).updateOne({ _id, account_id, due_at: { $exists: true } } as object, {
    $set: { due_at: dueAt } as object,
  });
}
