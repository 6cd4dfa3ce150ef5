// Stores the deliveries that a fan-out makes. The driver gets the values directly, because they are stored ones already
// and casting them again took a tenth of the time.
import { agreedDate } from '#libs/clock.ts';
import { driverOf, type Owned } from '#libs/models/records.ts';
import { type Id, type StoredId, storedId, wireId } from '#libs/models/tenant.ts';
import { Delivery, deliveryId } from '#libs/models/webhooks/delivery.ts';
import type { Reservation } from '#libs/models/webhooks/delivery-guards.ts';
import { type FannedOut, newDelivery } from '#libs/models/webhooks/delivery-moves.ts';
import { duplicatesIn } from '#libs/mongo/errors.ts';

export interface FanOut {
  event: FannedOut;
  endpointIds: StoredId[];
  /** The deferrals of endpoints that cannot be called now. */
  deferred?: ReadonlyMap<Id, Deferral>;
}

/** The plan of a delivery that is postponed without spending an attempt. */
export interface Deferral {
  nextAt: Date;
  /** The number of times in a row that the breaker has deferred it. */
  deferrals: number;
}

/** A delivery that this call has made. */
export interface AddedDelivery {
  id: Id;
  endpointId: StoredId;
}

/**
 * Makes the deliveries that do not exist yet.
 * @param dueAt the time at which the poller looks for those that the queue lost.
 * @param reservation of those that are due now.
 * @returns for each fan-out those that are new and due now.
 */
export async function insertDeliveries(
  fanOuts: readonly FanOut[],
  dueAt: Date,
  reservation?: Reservation,
  now: Date = agreedDate(),
): Promise<AddedDelivery[][]> {
  const planned = fanOuts.flatMap((fanOut) => {
    const { event, endpointIds, deferred } = fanOut;
    const eventId = wireId(event._id);
    return endpointIds.map((stored) => {
      const endpointId = wireId(stored);
      return { fanOut, event, stored, id: deliveryId(eventId, endpointId), deferral: deferred?.get(endpointId) };
    });
  });
  if (planned.length === 0) return fanOuts.map(() => []);
  const existing = await insertNew(
    planned.map(({ event, stored, id, deferral }) => ({
      _id: storedId(id),
      ...newDelivery(event, stored, now, deferral ?? { dueAt, reservation }),
    })),
  );
  const isAdded = ({ deferral }: (typeof planned)[number], position: number) => !deferral && !existing.has(position);
  const added = Map.groupBy(planned.filter(isAdded), ({ fanOut }) => fanOut);
  return fanOuts.map((fanOut) => (added.get(fanOut) ?? []).map(({ id, stored }) => ({ id, endpointId: stored })));
}

/** Inserts deliveries. @returns the positions of those that exist already. */
async function insertNew(deliveries: Owned[]): Promise<Set<number>> {
  try {
    // The write waits for a majority, the default. The events are marked as fanned out after this, maybe on another
    // primary, so deliveries that only the old primary had would be lost.
    await driverOf(Delivery).insertMany(deliveries, { ordered: false });
    return new Set();
  } catch (error) {
    const existing = duplicatesIn(error);
    if (!existing) throw error;
    return existing;
  }
}
