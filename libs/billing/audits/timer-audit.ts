// Checks the rules that hold for timers at any time. A row of the result is a bug or a damaged restore.
import { driverOf } from '../../models/records.ts';
import type { Id } from '../../models/tenant.ts';
import { TimeEntry } from '../../models/time/time-entry.ts';
import { Timer } from '../../models/time/timer.ts';
import { type AuditProblem, ofAccount, problemsOf } from './audit.ts';

/**
 * Runs the audit.
 * @param accountId one account, or all when absent, for the operator.
 * @returns at most PROBLEMS_SHOWN of each kind.
 */
export async function auditTimers(accountId?: Id): Promise<AuditProblem[]> {
  const own = ofAccount(accountId);
  return [
    ...(await problemsOf(driverOf(Timer), 'timer: runs beside another one of its owner', runningTwice(own))),
    ...(await problemsOf(driverOf(Timer), 'timer: its time entry is missing', withoutEntry(own))),
  ];
}

/** Finds owners with two running timers. The unique index allows none, unless it does not exist. */
function runningTwice(own: object) {
  return [
    { $match: { ...own, status: 'running' } },
    { $sort: { _id: 1 } },
    {
      $group: {
        _id: { account: '$account_id', owner: '$owner_key' },
        count: { $sum: 1 },
        timer: { $last: '$_id' },
      },
    },
    { $match: { count: { $gt: 1 } } },
    { $project: { _id: '$timer', account_id: '$_id.account' } },
  ];
}

function withoutEntry(own: object) {
  return [
    { $match: { ...own, status: 'stopped' } },
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
  ];
}
