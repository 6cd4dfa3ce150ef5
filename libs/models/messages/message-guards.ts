// The conditions under which a message may change, as filters: MongoDB checks them in the same update that makes the change.

interface AtTime {
  now: Date;
}

/** The guards by name, with the text in the diagram and the filter. A filter asks for the facts that it needs. */
export const MESSAGE_GUARDS = {
  isOnce: { text: 'no message for this reason exists, where it goes out once', filter: () => ({}) },
  isReady: { text: 'its next attempt is due', filter: ({ now }: AtTime) => ({ next_at: { $lte: now } }) },
  isFree: {
    text: 'no worker has a lease of it',
    filter: ({ now }: AtTime) => ({ $or: [{ lease_until: null }, { lease_until: { $lte: now } }] }),
  },
  ownsLease: { text: 'the lease is its own', filter: ({ leaseId }: { leaseId: string }) => ({ lease_id: leaseId }) },
  isAsRead: { text: 'unchanged since it was read', filter: ({ revision }: { revision: number }) => ({ revision }) },
  isFirstDoubt: { text: 'it was never unknown before', filter: () => ({ unknown_at: null }) },
  isRepeated: { text: 'it was unknown before', filter: () => ({ unknown_at: { $ne: null } }) },
} as const satisfies Record<string, { text: string; filter: (facts: never) => object }>;

export type MessageGuard = keyof typeof MESSAGE_GUARDS;

type Filters = { [Name in MessageGuard]: (typeof MESSAGE_GUARDS)[Name]['filter'] };
type FactsOf<Name> = Name extends MessageGuard ? Exclude<Parameters<Filters[Name]>[0], undefined> : never;
type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** All facts that these guards need. */
export type MessageFacts<Names> = [Names] extends [never] ? object : Intersection<FactsOf<Names>>;
