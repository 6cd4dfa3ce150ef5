// The state machines of deliveries and messages share the guards of a lease, the filter that a move makes of its guards, and the fields that it
// sets and removes.

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

const LEASE_FIELDS = ['lease_id', 'lease_until'];

/** A move as far as it decides which fields change. */
interface FieldMove<State extends string> {
  /** `same` leaves the state as it is. */
  to: State | 'same';
  lease: string;
}

/** Fields that depend on the state, and which of them each state keeps. */
interface StateFields<State extends string> {
  /** The field of the state. */
  field: string;
  /** The fields by the names of the values that a move gets. */
  storedAs: Readonly<Record<string, string>>;
  states: Readonly<Record<State, { keeps: readonly string[] }>>;
  stateFields: readonly string[];
}

/** Returns the fields that the new state does not keep, and those of a lease that ends. */
export function fieldsRemovedBy<State extends string>(
  { states, stateFields }: StateFields<State>,
  { to, lease }: FieldMove<State>,
): string[] {
  const ended = lease === 'ends' ? LEASE_FIELDS : [];
  if (to === 'same') return ended;
  const { keeps } = states[to];
  return stateFields.filter((field) => !keeps.includes(field) || ended.includes(field));
}

/** Returns the state and the values as they are stored. @throws Error when the values do not belong to the new state. */
export function fieldsSetBy<State extends string>(
  name: string,
  table: StateFields<State>,
  move: FieldMove<State>,
  values: object & { settledAt?: Date | undefined },
): Record<string, unknown> {
  const { to, lease } = move;
  const given = Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => [table.storedAs[key] as string, value] as const);
  const removed = fieldsRemovedBy(table, move);
  const foreign = given.filter(([field]) => removed.includes(field) || (lease === 'keeps' && field === 'lease_id'));
  if (foreign.length > 0) throw new Error(`the move ${name} cannot set ${foreign.map(([field]) => field).join(', ')}`);
  if (to !== 'same' && table.states[to].keeps.includes('settled_at') && !values.settledAt)
    throw new Error(`the move ${name} needs the time it was settled`);
  return { ...(to === 'same' ? {} : { [table.field]: to }), ...Object.fromEntries(given) };
}
