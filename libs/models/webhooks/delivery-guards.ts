// The conditions under which a delivery may change, as filters: MongoDB checks them in the same update that makes the change.
import { type AtTime, type Facts, type Guards, LEASE_GUARDS } from '../moves.ts';

/**
 * A lease that a new delivery already has, for the worker of its first attempt. It saves the write and the read of
 * acquiring it.
 */
export interface Reservation {
  leaseId: string;
  until: Date;
}

/** The guards by name, with the text in the diagram and the filter. A filter asks for the facts that it needs. */
export const DELIVERY_GUARDS = {
  isNew: { text: 'no delivery of this event and endpoint exists', filter: () => ({}) },
  ...LEASE_GUARDS,
  isLater: { text: 'its next attempt is not due yet', filter: ({ now }: AtTime) => ({ next_at: { $gt: now } }) },
  isFreeOrReserved: {
    text: 'no worker has a lease of it, or it is reserved for this job',
    filter: ({ now, reservations }: AtTime & { reservations: readonly Reservation[] }) => {
      // A lease that differs by a millisecond belongs to another worker, which extended the reservation and makes the
      // attempt.
      const reserved = reservations.map(({ leaseId, until }) => ({ lease_id: leaseId, lease_until: until }));
      return { $or: [...LEASE_GUARDS.isFree.filter({ now }).$or, ...reserved] };
    },
  },
  isAsRead: {
    text: 'unchanged since it was read',
    filter: ({ revision, dueAt }: { revision: number; dueAt: Date }) => ({ revision, due_at: dueAt }),
  },
  isDeferred: { text: 'it was deferred', filter: () => ({ deferrals: { $gt: 0 } }) },
} as const satisfies Guards;

export type DeliveryGuard = keyof typeof DELIVERY_GUARDS;

/** All facts that these guards need. */
export type GuardFacts<Names> = Facts<typeof DELIVERY_GUARDS, Names>;
