// Compares the totals of tasks and projects with their time entries, and repairs them. A program that is older than the
// totals of projects logs time without them.
import { changeOwn, driverOf, lockOwn, type Owned, type Records } from '../../models/records.ts';
import { type Id, type StoredId, storedId } from '../../models/tenant.ts';
import { NO_WORTH, Project, type ProjectRecord } from '../../models/time/project.ts';
import { Task } from '../../models/time/task.ts';
import { TimeEntry } from '../../models/time/time-entry.ts';
import { announceProjectTotals, announceTaskTotal } from '../time/budget.ts';
import { runUnitOfWork, type UnitOfWork } from '../unit-of-work.ts';
import { AUDIT_LIMIT_MS, type AuditProblem, ofAccount, problemsOf } from './audit.ts';

/**
 * Runs the audit.
 * @param accountId one account, or all when absent, for the operator.
 * @returns at most PROBLEMS_SHOWN of each kind.
 */
export async function auditTimeTotals(accountId?: Id): Promise<AuditProblem[]> {
  const own = ofAccount(accountId);
  return [
    ...(await problemsOf(driverOf(Task), 'task: its time adds up to another total', wrongTasks(own))),
    ...(await problemsOf(driverOf(Project), 'project: its time adds up to other totals', wrongProjects(own))),
  ];
}

/**
 * Adds up the time of the account's tasks and projects whose totals are wrong, each in a transaction of its own, and
 * announces them.
 * @returns the names of the repaired records, such as `task/<id>`.
 */
export async function repairTimeTotals(accountId: Id): Promise<string[]> {
  const own = ofAccount(accountId);
  const repaired: string[] = [];
  for (const _id of await idsOf(Task, wrongTasks(own))) {
    await runUnitOfWork({ accountId, by: { type: 'operator' } }, (unit) => repairTask(unit, _id));
    repaired.push(`task/${_id}`);
  }
  for (const _id of await idsOf(Project, wrongProjects(own))) {
    await runUnitOfWork({ accountId, by: { type: 'operator' } }, (unit) => repairProject(unit, _id));
    repaired.push(`project/${_id}`);
  }
  return repaired;
}

/**
 * Repairs a task. It is locked before its time is read: a request that logs time meanwhile changes the same record, so
 * one of the two transactions begins again.
 */
async function repairTask(unit: UnitOfWork, _id: StoredId) {
  const task = await lockOwn(Task, unit.accountId, _id, unit.session);
  if (!task) return;
  const { seconds } = await sumOf(unit, { task_id: _id });
  await announceTaskTotal(unit, await changeOwn(Task, task, { total_seconds: seconds }, unit.session));
}

/** Repairs a project, as repairTask does a task. */
async function repairProject(unit: UnitOfWork, _id: StoredId) {
  const project = await lockOwn(Project, unit.accountId, _id, unit.session);
  if (!project) return;
  const { seconds, worth } = await sumOf(unit, { project_id: _id });
  const totals = { total_seconds: seconds, total_worth: worth };
  await announceProjectTotals(unit, await changeOwn(Project, project, totals, unit.session));
}

interface Sums {
  seconds: number;
  worth: NonNullable<ProjectRecord['total_worth']>;
}

async function sumOf({ accountId, session }: UnitOfWork, of: object): Promise<Sums> {
  const [sums] = await driverOf(TimeEntry)
    .aggregate<Sums>([{ $match: { account_id: storedId(accountId), ...of } }, SUMS], {
      session,
      maxTimeMS: AUDIT_LIMIT_MS,
    })
    .toArray();
  return sums ?? { seconds: 0, worth: NO_WORTH };
}

async function idsOf(records: Records<Owned>, pipeline: object[]): Promise<StoredId[]> {
  const rows = await driverOf(records)
    .aggregate<{ _id: StoredId }>([...pipeline, { $project: { _id: 1 } }], { maxTimeMS: AUDIT_LIMIT_MS })
    .toArray();
  return rows.map(({ _id }) => _id);
}

/**
 * The settled rate, computed as settledRate in time-context.ts does. A double becomes a decimal of 15 digits, as in
 * time-totals.ts.
 */
const SETTLED = {
  $cond: [
    { $and: [{ $isNumber: '$rate' }, { $eq: [{ $type: '$rate_from' }, 'string'] }] },
    '$rate',
    { $ifNull: ['$hourly_rate', 0] },
  ],
};
const RATE = { $cond: [{ $eq: ['$billable', false] }, 0, SETTLED] };
const WORTH = { $multiply: [{ $toDecimal: '$seconds' }, { $toDecimal: RATE }] };
const SUMS = { $group: { _id: null, seconds: { $sum: '$seconds' }, worth: { $sum: WORTH } } };

function wrongTasks(own: object) {
  return [{ $match: own }, timeOf('task_id'), { $match: { $expr: differs('seconds', '$total_seconds') } }];
}

function wrongProjects(own: object) {
  const isWrong = { $or: [differs('seconds', '$total_seconds'), differs('worth', '$total_worth')] };
  return [{ $match: own }, timeOf('project_id'), { $match: { $expr: isWrong } }];
}

function timeOf(field: 'task_id' | 'project_id') {
  return {
    $lookup: {
      from: TimeEntry.collection.name,
      let: { account: '$account_id', record: '$_id' },
      // The pipeline walks the index of the account's time.
      pipeline: [
        { $match: { $expr: { $and: [{ $eq: ['$account_id', '$$account'] }, { $eq: [`$${field}`, '$$record'] }] } } },
        SUMS,
      ],
      as: 'time',
    },
  };
}

function differs(sum: keyof Sums, total: string) {
  return { $ne: [{ $ifNull: [{ $first: `$time.${sum}` }, 0] }, { $ifNull: [total, 0] }] };
}
