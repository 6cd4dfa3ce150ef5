// Stores a time entry, announces it, and brings the totals of its task and project up to date.
import { insertOwn } from '../../models/records.ts';
import { newRecord } from '../../models/tenant.ts';
import type { ProjectRecord } from '../../models/time/project.ts';
import type { TaskRecord } from '../../models/time/task.ts';
import { TimeEntry, type TimeEntryRecord } from '../../models/time/time-entry.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import type { EntryTime } from './entry-time.ts';
import { givenRate, ratesOf, type SettledRate } from './settle-rate.ts';
import { timeEntryViews } from './time-context.ts';
import { requireUnlocked } from './time-lock.ts';
import { followTime } from './time-totals.ts';

export interface NewTime extends EntryTime, Pick<TimeEntryRecord, 'member'> {
  project: Pick<ProjectRecord, '_id'>;
  task: TaskRecord | undefined;
  description?: string | null | undefined;
  /** The rate. Defaults to that of task, project, client or account. */
  hourly_rate?: number | null | undefined;
  /** Defaults to the task's value. */
  billable?: boolean | null | undefined;
}

/** Logs time. @param time on a project that the caller has locked. @returns the entry, also in the form of the API. */
export async function logTime(unit: UnitOfWork, { project, task, description, ...time }: NewTime) {
  const { session, accountId, announce } = unit;
  await requireUnlocked(unit, [time.date]);
  const entry: TimeEntryRecord = {
    ...newRecord(accountId),
    ...time,
    project_id: project._id,
    task_id: task?._id ?? null,
    ...(await rateOfNew(unit, { project, task, member: time.member ?? null, hourly_rate: time.hourly_rate })),
    billable: time.billable ?? task?.billable ?? true,
    description: description || null,
  };
  await insertOwn(TimeEntry, entry, session);
  const [view] = await timeEntryViews([entry], accountId, session);
  if (!view) throw new Error('one entry has one view');
  await announce('time_entry.created', view);
  await followTime([{ after: entry }], unit);
  return { entry, view };
}

async function rateOfNew(
  unit: UnitOfWork,
  { project, task, member = null, hourly_rate }: Pick<NewTime, 'project' | 'task' | 'member' | 'hourly_rate'>,
): Promise<SettledRate> {
  if (typeof hourly_rate === 'number') return givenRate(hourly_rate);
  const [settled] = await ratesOf([{ project_id: project._id, task_id: task?._id ?? null, member }], unit);
  if (!settled) throw new Error('one entry has one rate');
  return settled;
}
