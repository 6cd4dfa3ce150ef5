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

export interface NewTime extends EntryTime, Pick<TimeEntryRecord, 'member' | 'external_id'> {
  project: Pick<ProjectRecord, '_id'>;
  task: TaskRecord | undefined;
  description?: string | null | undefined;
  /** The rate. Defaults to that of task, project, client or account. */
  hourly_rate?: number | null | undefined;
  /** Defaults to the task's value. */
  billable?: boolean | null | undefined;
}

interface Logged {
  entry: TimeEntryRecord;
  view: Awaited<ReturnType<typeof timeEntryViews>>[number];
}

/** Logs time. @param time on a project that the caller has locked. @returns the entry, also in the form of the API. */
export async function logTime(unit: UnitOfWork, time: NewTime): Promise<Logged> {
  const [logged] = await logTimes(unit, [time]);
  if (!logged) throw new Error('one entry has one view');
  return logged;
}

/** Does the same as logTime for many entries. Each total is announced once. */
export async function logTimes(unit: UnitOfWork, times: readonly NewTime[]): Promise<Logged[]> {
  const { session, accountId, announce } = unit;
  const days = times.map(({ date }) => date);
  await requireUnlocked(unit, days);
  const rates = await ratesOfNew(unit, times);
  const entries = times.map(({ project, task, description, ...time }, index): TimeEntryRecord => {
    return {
      ...newRecord(accountId),
      ...time,
      project_id: project._id,
      task_id: task?._id ?? null,
      ...(rates[index] as SettledRate),
      billable: time.billable ?? task?.billable ?? true,
      description: description || null,
    };
  });
  for (const entry of entries) await insertOwn(TimeEntry, entry, session);
  const views = await timeEntryViews(entries, accountId, session);
  for (const view of views) await announce('time_entry.created', view);
  const changes = entries.map((after) => ({ after }));
  await followTime(changes, unit);
  return entries.map((entry, index) => ({ entry, view: views[index] as Logged['view'] }));
}

async function ratesOfNew(unit: UnitOfWork, times: readonly NewTime[]): Promise<SettledRate[]> {
  const placed = times.map(({ project, task, member = null }) => {
    return { project_id: project._id, task_id: task?._id ?? null, member };
  });
  const isGiven = times.every(({ hourly_rate }) => typeof hourly_rate === 'number');
  const settled = isGiven ? [] : await ratesOf(placed, unit);
  return times.map(({ hourly_rate }, index) =>
    typeof hourly_rate === 'number' ? givenRate(hourly_rate) : (settled[index] as SettledRate),
  );
}
