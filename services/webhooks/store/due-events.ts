// Which events the relay takes next, of all accounts: each account with new events gets its turn.
import { agreedDate } from '#libs/clock.ts';
import { driverOf } from '#libs/models/records.ts';
import { acrossAccounts, type Id, type StoredId, storedId, wireId } from '#libs/models/tenant.ts';
import { AT_ONCE, Event, type EventRecord } from '#libs/models/webhooks/event.ts';

export type DueEvent = Pick<EventRecord, '_id' | 'account_id' | 'generation' | 'trace'> & { due_at: Date };

/** One in so many of what the relay takes is overdue, while more new events wait than it takes. */
const OVERDUE_EVERY = 8;
/** So many accounts share what is taken at a time; the next ones share what is taken next. */
const ACCOUNTS_AT_A_TIME = 8;

export interface DueLook {
  limit: number;
  /** The account that had its turn last: those after it come first now. */
  after?: Id | undefined;
  now?: Date;
}

/**
 * Events whose deliveries do not exist yet, of all accounts: the relay works for the whole system. When there are more than `limit`,
 * new ones come before those that were relayed and lost, but some of the latter are taken with them: a backlog that lasts for hours keeps
 * none of them back. Each account has its turn, one event after the other: the ten thousand of one do not delay the only one of another.
 */
export async function findDueEvents({ limit, after = '', now = agreedDate() }: DueLook): Promise<DueEvent[]> {
  const first = await lookDue({ due_at: { $lte: now } }, limit);
  if (first.length < limit) return inTurns(first, after);
  const [fresh, overdue] = await Promise.all([
    lookByAccount(limit, after),
    lookDue({ due_at: { $gt: AT_ONCE, $lte: now } }, Math.floor(limit / OVERDUE_EVERY)),
  ]);
  // The first ones fill up what the accounts whose turn it is leave.
  return mixed([...inTurns(fresh, after), ...inTurns(first, after)], overdue).slice(0, limit);
}

/** New events of the accounts whose turn it is, of each its share. */
async function lookByAccount(limit: number, after: Id): Promise<DueEvent[]> {
  const accounts = (await Event.distinct('account_id', { due_at: AT_ONCE }).setOptions(acrossAccounts)) as StoredId[];
  const next = turns(accounts.map(wireId), after).slice(0, ACCOUNTS_AT_A_TIME);
  // All that are new are of one account: they are the first anyway.
  if (next.length < 2) return [];
  const share = Math.ceil(limit / next.length);
  const looks = next.map((accountId) => lookDue({ due_at: AT_ONCE, account_id: storedId(accountId) }, share));
  return (await Promise.all(looks)).flat();
}

/** Those after the last one first, then from the beginning. */
function turns(accounts: readonly Id[], after: Id): Id[] {
  const sorted = [...accounts].sort();
  return [...sorted.filter((accountId) => accountId > after), ...sorted.filter((accountId) => accountId <= after)];
}

/** The first event of each account, then the second of each, and so on. */
function inTurns(events: readonly DueEvent[], after: Id): DueEvent[] {
  const byAccount = Map.groupBy(events, ({ account_id }) => wireId(account_id));
  const lists = turns([...byAccount.keys()], after).map((accountId) => byAccount.get(accountId) ?? []);
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list[index] ?? [])).flat();
}

/** Also the beginning is mixed: the relay may have room for no more than that. */
function mixed(first: readonly DueEvent[], overdue: readonly DueEvent[]): DueEvent[] {
  const between = OVERDUE_EVERY - 1;
  const groups = overdue.map((event, index) => [event, ...first.slice(index * between, (index + 1) * between)]);
  const all = [...groups.flat(), ...first.slice(overdue.length * between)];
  // What is overdue or an account's share may be among the first as well.
  return [...new Map(all.map((event) => [wireId(event._id), event])).values()];
}

async function lookDue(due: object, limit: number): Promise<DueEvent[]> {
  return Event.find(due)
    .setOptions(acrossAccounts)
    .sort({ due_at: 1 })
    .limit(limit)
    .select({ account_id: 1, generation: 1, due_at: 1, trace: 1 })
    .lean<DueEvent[]>();
}

/** They are on the queue; the relay looks again at `dueAt`, in case the queue or a worker loses them. */
export async function markRelayed(events: readonly DueEvent[], dueAt: Date): Promise<void> {
  const latest = new Date(Math.max(...events.map(({ due_at }) => due_at.getTime())));
  await driverOf(Event).updateMany(
    // One that another process has fanned out meanwhile has no due_at, one that it has relayed a later one: leave it.
    { _id: { $in: events.map(({ _id }) => _id) }, due_at: { $lte: latest } } as object,
    { $set: { due_at: dueAt }, $inc: { generation: 1 } },
    { hint: { _id: 1 } },
  );
}
