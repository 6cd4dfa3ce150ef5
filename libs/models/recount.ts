// Counts an account's records anew, and compares the result with its counter or writes it there.
import { inTransaction, type Session } from '../mongo/connection.ts';
import { inSnapshot } from '../mongo/snapshot.ts';
import { Client } from './accounts/client.ts';
import { CreditNote } from './billing/credit-note.ts';
import { Invoice } from './billing/invoice.ts';
import { Payment } from './billing/payment.ts';
import { Quote } from './billing/quote.ts';
import { Counter } from './counter.ts';
import { type CountedBy, countName, type RecordCounts } from './record-counts.ts';
import { driverOf, type Owned, type Records } from './records.ts';
import { type Id, type StoredId, storedId } from './tenant.ts';
import { Project } from './time/project.ts';
import { Task } from './time/task.ts';
import { TimeEntry } from './time/time-entry.ts';
import { Timer } from './time/timer.ts';

/** The records that accounts have counts of. */
const COUNTED: readonly Records<Owned>[] = [
  Client,
  CreditNote,
  Invoice,
  Payment,
  Project,
  Quote,
  Task,
  TimeEntry,
  Timer,
];

/** The time limit. A million records take about two seconds. */
const RECOUNT_LIMIT_MS = 60_000;

export interface CountsCompared {
  account_id: Id;
  /** The names of counts that differ. Undefined for an account without counts. */
  wrong: string[] | undefined;
}

/**
 * Compares the counts with the records, for the operator.
 * @param accountId one account, or all when absent.
 * @returns the accounts whose counts differ.
 */
export async function compareCounts(accountId?: Id): Promise<CountsCompared[]> {
  return inSnapshot(async (session) => {
    const own = accountId === undefined ? {} : { _id: storedId(accountId) as never };
    const counters = await Counter.collection.find(own, { session, ...AT_ONCE, projection: { counts: 1 } }).toArray();
    const counted = await countRecords(session, accountId);
    return counters.flatMap(({ _id, counts }) => {
      const account_id = String(_id);
      const wrong = counts && differing(counts as RecordCounts, counted.get(account_id) ?? {});
      return wrong?.length === 0 ? [] : [{ account_id, wrong }];
    });
  });
}

/**
 * Counts the account's records anew. Other changes of the account wait meanwhile.
 * @returns the names of counts that were wrong.
 * @throws AppError 503 when the account is too busy.
 */
export async function recount(accountId: Id): Promise<string[]> {
  const _id = storedId(accountId) as never;
  return inTransaction(async (session) => {
    // This write comes before any read, so that every commit meanwhile conflicts with it.
    const before = await Counter.collection.findOneAndUpdate({ _id }, { $unset: { counts: 1 } }, { session });
    if (!before) return [];
    const counts = (await countRecords(session, accountId)).get(accountId) ?? {};
    await Counter.collection.updateOne({ _id }, { $set: { counts } }, { session });
    return differing((before['counts'] as RecordCounts | undefined) ?? {}, counts);
  });
}

const AT_ONCE = { readConcern: { level: 'snapshot' }, maxTimeMS: RECOUNT_LIMIT_MS } as const;

async function countRecords(session: Session, accountId: Id | undefined): Promise<Map<Id, Record<string, number>>> {
  const found = new Map<Id, Record<string, number>>();
  for (const model of COUNTED) {
    const { keyOf, groups, index } = model.countedBy as unknown as CountedBy<object>;
    const rows = await driverOf(model)
      .aggregate<{ _id: { account_id: StoredId }; n: number }>(
        [
          ...(accountId === undefined ? [] : [{ $match: { account_id: storedId(accountId) } }]),
          { $group: { _id: { account_id: '$account_id', ...groups }, n: { $sum: 1 } } },
        ],
        // A transaction brings its own read concern.
        { session, hint: index, ...(session.inTransaction() ? { maxTimeMS: RECOUNT_LIMIT_MS } : AT_ONCE) },
      )
      .toArray();
    for (const { _id, n } of rows) {
      const id = String(_id.account_id);
      const counts = found.get(id) ?? {};
      const name = countName(model, keyOf(_id));
      counts[name] = (counts[name] ?? 0) + n;
      found.set(id, counts);
    }
  }
  return found;
}

function differing(one: RecordCounts, other: RecordCounts): string[] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].filter((name) => (one[name] ?? 0) !== (other[name] ?? 0)).toSorted();
}
