// Sends deliveries again: one, or those of many events to one endpoint.
import type { mongo } from 'mongoose';
import { agreedDate } from '../../clock.ts';
import { duplicatesIn } from '../../mongo/errors.ts';
import { readAfterElection } from '../../mongo/read-after-election.ts';
import { type Id, storedId } from '../tenant.ts';
import { Delivery, type DeliveryRecord, deliveryId, SETTLED_KEPT_SECONDS } from './delivery.ts';
import { changeOf, type FannedOut, guardOf, insertMissing } from './delivery-moves.ts';

/** Sends a delivery again in any state. A pending one becomes due at once. @returns null when it does not exist. */
export async function replayDelivery(accountId: Id, id: Id, now: Date = agreedDate()): Promise<DeliveryRecord | null> {
  const own = { _id: id, account_id: accountId };
  const replayed = await Delivery.findOneAndUpdate(
    { ...own, ...guardOf('replay', { now }) },
    changeOf('replay', restarted(now)),
    { returnDocument: 'after' },
  ).lean<DeliveryRecord>();
  // A worker is making an attempt right now, which counts as the replay.
  return replayed ?? readAfterElection(() => Delivery.findOne(own).lean<DeliveryRecord>());
}

/**
 * Sends events to an endpoint (again), also those that it never got. Those that wait for their next attempt become due
 * at once.
 * @param options.skipDelivered also leaves out events without a delivery that are older than deliveries are kept,
 * because they may have been delivered.
 * @returns how many deliveries go out.
 */
export async function replayEvents(
  events: readonly (FannedOut & { created_at: Date })[],
  endpointId: Id,
  { skipDelivered }: { skipDelivered: boolean },
  now: Date = agreedDate(),
): Promise<number> {
  if (events.length === 0) return 0;
  const forgottenBefore = new Date(now.getTime() - SETTLED_KEPT_SECONDS * 1_000);
  const move = skipDelivered ? 'replayUndelivered' : 'replayEnded';
  // A delivery that is due or leased is on its way already.
  const either = { $or: [guardOf(move, {}), guardOf('hasten', { now })] };
  const update = changeOf(move, restarted(now));
  const made = await writeUnlessMade(
    events.flatMap((event) => {
      const _id = storedId(deliveryId(event._id, endpointId));
      const sendAgain = { updateOne: { filter: { _id, account_id: event.account_id, ...either }, update } };
      if (skipDelivered && event.created_at < forgottenBefore) return [sendAgain];
      const makeMissing = {
        updateOne: {
          filter: { _id, account_id: event.account_id },
          update: insertMissing(event, storedId(endpointId), now),
          upsert: true,
        },
      };
      return [sendAgain, makeMissing];
    }),
  );
  return made.modifiedCount + made.upsertedCount;
}

type Writes = Parameters<typeof Delivery.bulkWrite>[0];

/** Makes the writes. A delivery that a fan-out inserts meanwhile is on its way, so its error counts as nothing done. */
async function writeUnlessMade(
  writes: Writes,
): Promise<Pick<mongo.BulkWriteResult, 'modifiedCount' | 'upsertedCount'>> {
  try {
    return await Delivery.bulkWrite(writes, { ordered: false });
  } catch (error) {
    if (!duplicatesIn(error)) throw error;
    return (error as mongo.MongoBulkWriteError).result;
  }
}

/** Restarts the schedule from its beginning, due now. */
export const restarted = (now: Date) => ({ nextAt: now, dueAt: now, attemptsMade: 0, deferrals: 0, updatedAt: now });
