// Checks what holds of timers at any time. A row of the result is a bug or a damaged restore.
import { driverOf } from '../models/records.ts';
import type { Id, StoredId } from '../models/tenant.ts';
import { TimeEntry } from '../models/time/time-entry.ts';
import { Timer } from '../models/time/timer.ts';

export interface TimerProblem {
  account_id: Id;
  /** Of the timer. */
  id: Id;
  problem: string;
}

const PROBLEMS_SHOWN = 20;
const AUDIT_LIMIT_MS = 60_000;

/** Of all accounts, for the operator. @returns at most PROBLEMS_SHOWN of each kind. */
export async function auditTimers(): Promise<TimerProblem[]> {
  return [
    ...(await problemsOf('timer: runs beside another one of its owner', runningTwice())),
    ...(await problemsOf('timer: its time entry is missing', withoutEntry())),
  ];
}

/** The unique index allows none, unless it is missing. */
function runningTwice() {
  return [
    { $match: { status: 'running' } },
    { $sort: { _id: 1 } },
    {
      $group: {
        _id: { account: '$account_id', owner: '$owner' },
        count: { $sum: 1 },
        timer: { $last: '$_id' },
      },
    },
    { $match: { count: { $gt: 1 } } },
    { $project: { _id: '$timer', account_id: '$_id.account' } },
  ];
}

function withoutEntry() {
  return [
    { $match: { status: 'stopped' } },
    {
      $lookup: {
        from: TimeEntry.collection.name,
        let: { account: '$account_id' },
        localField: 'time_entry_id',
        foreignField: '_id',
        pipeline: [{ $match: { $expr: { $eq: ['$account_id', '$$account'] } } }, { $project: { _id: 1 } }],
        as: 'entry',
      },
    },
    { $match: { entry: [] } },
    { $project: { account_id: 1 } },
  ];
}

async function problemsOf(problem: string, pipeline: object[]): Promise<TimerProblem[]> {
  const rows = await driverOf(Timer)
    .aggregate<{ _id: StoredId; account_id: StoredId }>([...pipeline, { $limit: PROBLEMS_SHOWN }], {
      maxTimeMS: AUDIT_LIMIT_MS,
      readConcern: { level: 'majority' },
    })
    .toArray();
  return rows.map(({ _id, account_id }) => ({ account_id: String(account_id), id: String(_id), problem }));
}
