// Finds the events that the relay takes next, with a fair share for each account with new events.
import { agreedDate } from '#libs/clock.ts';
import { driverOf } from '#libs/models/records.ts';
import { acrossAccounts, type Id, type StoredId, storedId, wireId } from '#libs/models/tenant.ts';
import { AT_ONCE, Event, type EventRecord } from '#libs/models/webhooks/event.ts';

export type DueEvent = Pick<EventRecord, '_id' | 'account_id' | 'enqueue_count' | 'trace'> & { due_at: Date };

/** While more new events wait than the relay takes, one in this many is overdue. */
const OVERDUE_EVERY = 8;
/** The number of accounts that share one round of the relay. The next ones share the next round. */
const ACCOUNTS_PER_ROUND = 8;

export interface DueQuery {
  limit: number;
  /** The last account of the previous round. Those after it come first now. */
  after?: Id | undefined;
  now?: Date;
}

/**
 * Returns events whose deliveries do not exist yet. When there are more than `limit`:
 * - New events come before those that were relayed and lost, but some of the latter are among them, so that no backlog
 *   delays them.
 * - Accounts alternate event by event, so that ten thousand events of one account do not delay the only one of another.
 */
export async function findDueEvents({ limit, after = '', now = agreedDate() }: DueQuery): Promise<DueEvent[]> {
  const first = await findDue({ due_at: { $lte: now } }, limit);
  if (first.length < limit) return roundRobin(first, after);
  const [fresh, overdue] = await Promise.all([
    findNewByAccount(limit, after),
    findDue({ due_at: { $gt: AT_ONCE, $lte: now } }, Math.floor(limit / OVERDUE_EVERY)),
  ]);
  // The first ones fill up the room that the accounts of this round leave.
  return mixed([...roundRobin(fresh, after), ...roundRobin(first, after)], overdue).slice(0, limit);
}

/** Returns new events of the accounts of this round, each with its share. */
async function findNewByAccount(limit: number, after: Id): Promise<DueEvent[]> {
  const accounts = (await Event.distinct('account_id', { due_at: AT_ONCE }).setOptions(acrossAccounts)) as StoredId[];
  const next = startingAfter(accounts.map(wireId), after).slice(0, ACCOUNTS_PER_ROUND);
  // All new events are of one account, so the first ones in time are its events.
  if (next.length < 2) return [];
  const share = Math.ceil(limit / next.length);
  const reads = next.map((accountId) => findDue({ due_at: AT_ONCE, account_id: storedId(accountId) }, share));
  return (await Promise.all(reads)).flat();
}

/** Returns the accounts in their order, beginning behind the given one. */
function startingAfter(accounts: readonly Id[], after: Id): Id[] {
  const sorted = [...accounts].sort();
  return [...sorted.filter((accountId) => accountId > after), ...sorted.filter((accountId) => accountId <= after)];
}

/** Returns the first event of each account, then the second of each, and so on. */
function roundRobin(events: readonly DueEvent[], after: Id): DueEvent[] {
  const byAccount = Map.groupBy(events, ({ account_id }) => wireId(account_id));
  const lists = startingAfter([...byAccount.keys()], after).map((accountId) => byAccount.get(accountId) ?? []);
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list[index] ?? [])).flat();
}

/**
 * Mixes overdue events into the others. The beginning is mixed as well, because the relay may have room for no more
 * than that.
 */
function mixed(first: readonly DueEvent[], overdue: readonly DueEvent[]): DueEvent[] {
  const between = OVERDUE_EVERY - 1;
  const groups = overdue.map((event, index) => [event, ...first.slice(index * between, (index + 1) * between)]);
  const all = [...groups.flat(), ...first.slice(overdue.length * between)];
  // An overdue event, or one of an account's share, may be among the first as well.
  return [...new Map(all.map((event) => [wireId(event._id), event])).values()];
}

async function findDue(due: object, limit: number): Promise<DueEvent[]> {
  return Event.find(due)
    .setOptions(acrossAccounts)
    .sort({ due_at: 1 })
    .limit(limit)
    .select({ account_id: 1, enqueue_count: 1, due_at: 1, trace: 1 })
    .lean<DueEvent[]>();
}

/** Marks events that are on the queue. The relay looks again at `dueAt`, in case the queue or a worker loses them. */
export async function markRelayed(events: readonly DueEvent[], dueAt: Date): Promise<void> {
  const latest = new Date(Math.max(...events.map(({ due_at }) => due_at.getTime())));
  await driverOf(Event).updateMany(
    // An event that another process has fanned out meanwhile has no due_at, and one that it has relayed has a later
    // one. Both stay unchanged.
    { _id: { $in: events.map(({ _id }) => _id) }, due_at: { $lte: latest } } as object,
    { $set: { due_at: dueAt }, $inc: { enqueue_count: 1 } },
    { hint: { _id: 1 } },
  );
}
