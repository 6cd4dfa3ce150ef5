// The state machines of deliveries and messages share the guards of a lease, and the filter that a move makes of its guards.

/** A condition under which a record may change: its text in the diagram, and its filter, which asks for the facts that it needs. */
export type Guards = Record<string, { text: string; filter: (facts: never) => object }>;

type Filters<Table extends Guards> = { [Name in keyof Table]: Table[Name]['filter'] };
type FactsOf<Table extends Guards, Name> = Name extends keyof Table
  ? Exclude<Parameters<Filters<Table>[Name]>[0], undefined>
  : never;
type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** All facts that these guards of the table need. */
export type Facts<Table extends Guards, Names> = [Names] extends [never] ? object : Intersection<FactsOf<Table, Names>>;

export interface AtTime {
  now: Date;
}

/** The guards of a record that a worker acquires by a lease when its next attempt is due. */
export const LEASE_GUARDS = {
  isReady: { text: 'its next attempt is due', filter: ({ now }: AtTime) => ({ next_at: { $lte: now } }) },
  isFree: {
    text: 'no worker has a lease of it',
    filter: ({ now }: AtTime) => ({ $or: [{ lease_until: null }, { lease_until: { $lte: now } }] }),
  },
  ownsLease: { text: 'the lease is its own', filter: ({ leaseId }: { leaseId: string }) => ({ lease_id: leaseId }) },
} as const satisfies Guards;

/**
 * Returns the filter under which a move is allowed.
 * @param field the field of the state, `from` the states that the move begins in.
 */
export function guardFilter<Table extends Guards>(
  table: Table,
  { field, from, guards }: { field: string; from: readonly string[]; guards: readonly (keyof Table)[] },
  facts: unknown,
): object {
  const [only, ...others] = from;
  const filters = guards.map((guard) =>
    ((table[guard] as Table[keyof Table]).filter as (facts: unknown) => object)(facts),
  );
  return Object.assign({ [field]: others.length > 0 ? { $in: from } : only }, ...filters) as object;
}
