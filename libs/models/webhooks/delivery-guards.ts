// The conditions under which a delivery may change, as filters: MongoDB checks them in the same update that makes the change.

/**
 * A lease that a new delivery already has, for the worker of its first attempt. It saves the write and the read of
 * acquiring it.
 */
export interface Reservation {
  leaseId: string;
  until: Date;
}

interface AtTime {
  now: Date;
}

const isFree = ({ now }: AtTime) => ({ $or: [{ lease_until: null }, { lease_until: { $lte: now } }] });

/** The guards by name, with the text in the diagram and the filter. A filter asks for the facts that it needs. */
export const DELIVERY_GUARDS = {
  isNew: { text: 'no delivery of this event and endpoint exists', filter: () => ({}) },
  isReady: { text: 'its next attempt is due', filter: ({ now }: AtTime) => ({ next_at: { $lte: now } }) },
  isLater: { text: 'its next attempt is not due yet', filter: ({ now }: AtTime) => ({ next_at: { $gt: now } }) },
  isFree: { text: 'no worker has a lease of it', filter: isFree },
  isFreeOrReserved: {
    text: 'no worker has a lease of it, or it is reserved for this job',
    filter: ({ now, reservations }: AtTime & { reservations: readonly Reservation[] }) => {
      // A lease that differs by a millisecond belongs to another worker, which extended the reservation and makes the
      // attempt.
      const reserved = reservations.map(({ leaseId, until }) => ({ lease_id: leaseId, lease_until: until }));
      return { $or: [...isFree({ now }).$or, ...reserved] };
    },
  },
  ownsLease: { text: 'the lease is its own', filter: ({ leaseId }: { leaseId: string }) => ({ lease_id: leaseId }) },
  isAsRead: {
    text: 'unchanged since it was read',
    filter: ({ revision, dueAt }: { revision: number; dueAt: Date }) => ({ revision, due_at: dueAt }),
  },
  isDeferred: { text: 'it was deferred', filter: () => ({ deferrals: { $gt: 0 } }) },
} as const satisfies Record<string, { text: string; filter: (facts: never) => object }>;

export type DeliveryGuard = keyof typeof DELIVERY_GUARDS;

type Filters = { [Name in DeliveryGuard]: (typeof DELIVERY_GUARDS)[Name]['filter'] };
type FactsOf<Name> = Name extends DeliveryGuard ? Exclude<Parameters<Filters[Name]>[0], undefined> : never;
type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** All facts that these guards need. */
export type GuardFacts<Names> = [Names] extends [never] ? object : Intersection<FactsOf<Names>>;
