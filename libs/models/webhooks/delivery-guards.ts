// The conditions under which a delivery may change, as filters: MongoDB checks them in the same update that makes the change.

/** A lease from birth for the worker of a first attempt: it saves the write and the read of an acquire. */
export interface Reservation {
  leaseId: string;
  until: Date;
}

interface AtTime {
  now: Date;
}

const isFree = ({ now }: AtTime) => ({ $or: [{ lease_until: null }, { lease_until: { $lte: now } }] });

/** By name: what the diagram says of it, and its filter. A filter asks for the facts it needs. */
export const DELIVERY_GUARDS = {
  isNew: { text: 'no delivery of this event and endpoint exists', filter: () => ({}) },
  isReady: { text: 'its next attempt is due', filter: ({ now }: AtTime) => ({ next_at: { $lte: now } }) },
  isLater: { text: 'its next attempt is not due yet', filter: ({ now }: AtTime) => ({ next_at: { $gt: now } }) },
  isFree: { text: 'no worker has a lease of it', filter: isFree },
  isFreeOrReserved: {
    text: 'no worker has a lease of it, or it is reserved for this job',
    filter: ({ now, reservations }: AtTime & { reservations: readonly Reservation[] }) => {
      // To the millisecond: another worker that extended a reservation is making the attempt.
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

/** Everything that these guards need to know. */
export type GuardFacts<Names> = [Names] extends [never] ? object : Intersection<FactsOf<Names>>;
