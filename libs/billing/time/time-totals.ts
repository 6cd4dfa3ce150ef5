// Keeps the totals of tasks and projects in line with their time entries, in the same transaction, and announces them.
import Big from 'big.js';
import { storedId } from '../../models/tenant.ts';
import { addProjectTime } from '../../models/time/project.ts';
import { addTime } from '../../models/time/task.ts';
import type { TimeEntryRecord } from '../../models/time/time-entry.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { announceProjectTotals, announceTaskTotal } from './budget.ts';
import { settledRate } from './time-context.ts';

/** The fields of an entry that totals are made of. */
type Tracked = Pick<
  TimeEntryRecord,
  'project_id' | 'task_id' | 'seconds' | 'billable' | 'rate' | 'rate_from' | 'hourly_rate'
>;

/** One entry before and after a change. `before` is absent for a new one, `after` for a deleted one. */
export interface TimeChange {
  before?: Tracked;
  after?: Tracked;
}

interface Totals {
  seconds: number;
  worth: Big;
}

/** Brings the totals of the tasks and projects of these entries up to date, and announces those whose totals show. */
export async function followTime(changes: readonly TimeChange[], unit: UnitOfWork): Promise<void> {
  const { session, accountId } = unit;
  const own = (id: string) => ({ _id: storedId(id), account_id: storedId(accountId) });
  for (const [id, { seconds }] of differencesBy('task_id', changes)) {
    const task = seconds === 0 ? null : await addTime(session, own(id), seconds);
    if (task) await announceTaskTotal(unit, task);
  }
  for (const [id, { seconds, worth }] of differencesBy('project_id', changes)) {
    if (seconds === 0 && worth.eq(0)) continue;
    const project = await addProjectTime(session, own(id), { seconds, worth: worth.toFixed() });
    if (project) await announceProjectTotals(unit, project);
  }
}

/** Returns the changes for deleted entries without their descriptions, which need not stay in memory. */
export function removedTime(entries: readonly Tracked[]): TimeChange[] {
  return entries.map((entry) => {
    const { project_id, task_id, seconds, billable = true, hourly_rate, rate, rate_from } = entry;
    return { before: { project_id, task_id, seconds, billable, hourly_rate, rate, rate_from } };
  });
}

/**
 * Returns the differences in the order of ids: two transactions that move time between the same tasks must not wait for
 * each other.
 */
function differencesBy(field: 'task_id' | 'project_id', changes: readonly TimeChange[]): [string, Totals][] {
  const all = new Map<string, Totals>();
  const add = (entry: Tracked | undefined, sign: 1 | -1) => {
    const id = entry?.[field];
    if (!id) return;
    const sum = all.get(String(id)) ?? { seconds: 0, worth: new Big(0) };
    const worth = sum.worth.plus(worthOf(entry).times(sign));
    all.set(String(id), { seconds: sum.seconds + sign * entry.seconds, worth });
  };
  for (const { before, after } of changes) {
    add(before, -1);
    add(after, 1);
  }
  return [...all].toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/** The digits with which a rate counts. The database reads a double with as many, so the audit computes the same. */
const RATE_DIGITS = 15;

/** Returns seconds × settled rate. 0 for time that is not billable or has no rate. */
function worthOf(entry: Tracked): Big {
  const rate = entry.billable === false ? undefined : settledRate(entry)?.rate;
  return rate === undefined ? new Big(0) : new Big(rate.toPrecision(RATE_DIGITS)).times(entry.seconds);
}
