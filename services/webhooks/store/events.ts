// Events of all accounts by id, and marking them as fanned out.
import { driverOf } from '#libs/models/records.ts';
import { type Id, type StoredId, storedId, wireId } from '#libs/models/tenant.ts';
import { Event, type EventRecord } from '#libs/models/webhooks/event.ts';

export async function findEvents(ids: readonly Id[]): Promise<Map<Id, EventRecord>> {
  const events = (await driverOf(Event)
    .find({ _id: { $in: [...new Set(ids)].map(storedId) } }, { batchSize: ids.length + 1 })
    .toArray()) as unknown as EventRecord[];
  return new Map(events.map((event) => [wireId(event._id), event]));
}

/** All deliveries of these events exist: the relay need not look again. */
export async function markFannedOut(ids: readonly StoredId[]): Promise<void> {
  await driverOf(Event).updateMany({ _id: { $in: [...ids] } }, { $unset: { due_at: 1 } });
}
