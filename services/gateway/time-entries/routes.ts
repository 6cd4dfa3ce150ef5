// Time entries over HTTP. Totals of tasks and projects are kept in the transactions of its entries.

import { pick } from 'es-toolkit/object/pick';
import { timeOf, timeOfNew } from '#libs/billing/time/entry-time.ts';
import { logTime } from '#libs/billing/time/log-time.ts';
import { givenRate, ratesOf } from '#libs/billing/time/settle-rate.ts';
import { taskOfProject } from '#libs/billing/time/task-of-project.ts';
import { settledRate, timeEntryViews } from '#libs/billing/time/time-context.ts';
import { requireFree } from '#libs/billing/time/time-guard.ts';
import { requireUnlocked } from '#libs/billing/time/time-lock.ts';
import { followTime } from '#libs/billing/time/time-totals.ts';
import { removeTimersOf } from '#libs/billing/time/timer-views.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { followDescription } from '#libs/billing/work/given-texts.ts';
import { appError, fieldProblem } from '#libs/errors.ts';
import { maxEntryHours, readAccount } from '#libs/models/accounts/account.ts';
import { changedFields, changeOwn, findOwn, isUnchanged, lockOwn, removeOwn } from '#libs/models/records.ts';
import type { Id } from '#libs/models/tenant.ts';
import { Project } from '#libs/models/time/project.ts';
import { Task } from '#libs/models/time/task.ts';
import { TimeEntry, type TimeEntryRecord, timeEntryCore } from '#libs/models/time/time-entry.ts';
import type { Session } from '#libs/mongo/connection.ts';
import { changedTimeEntryResponse, createdTimeEntryResponse, timeEntryResponse } from '#libs/responses/time-entry.ts';
import { type DryRun, dryRun } from '../http/dry-run.ts';
import type { ListQuery } from '../http/list.ts';
import { created, deleted, updated } from '../http/response.ts';
import { type Caller, type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import { type NewTimeEntry, newTimeEntry, type TimeEntryChanges, timeEntryChanges, timeEntryList } from './input.ts';
import { changedPlace } from './move-entry.ts';

const path = '/api/v1/time-entries';
const missing = 'Time entry not found or access denied';

export const timeEntryRoutes: readonly Route[] = [
  route({
    method: 'post',
    path,
    operation: 'createTimeEntry',
    scope: 'time-entries:write',
    query: dryRun,
    body: newTimeEntry,
    docs: {
      title: 'Log time',
      summary: 'Log time on a project, optionally on a task',
      description:
        "`hours` are at most the account's `max_entry_hours`: 24 unless it was changed. " +
        'With `started_at` and `ended_at`, `hours` and `date` follow from these, and can be left out.',
      response: createdTimeEntryResponse,
      missingReference: 'Project not found or access denied',
    },
    handler: createTimeEntry,
  }),
  route({
    method: 'get',
    path,
    operation: 'listTimeEntries',
    scope: 'time-entries:read',
    query: timeEntryList.query,
    docs: {
      title: 'List time entries by date',
      summary: 'List time entries by date, latest first',
      response: timeEntryResponse,
    },
    handler: listTimeEntries,
  }),
  singleRead({
    path: `${path}/{id}`,
    operation: 'getTimeEntry',
    scope: 'time-entries:read',
    missing: 'Time entry not found',
    docs: {
      summary: 'Get a time entry',
      response: timeEntryResponse,
    },
    read: readTimeEntry,
  }),
  route({
    method: 'patch',
    path: `${path}/{id}`,
    operation: 'updateTimeEntry',
    scope: 'time-entries:write',
    body: timeEntryChanges,
    missing,
    docs: {
      title: 'Update a time entry',
      summary: 'Update a time entry, or move it to another project or task',
      description:
        'Time that is on an invoice stays where it is: 409; a corrected `description` reaches its line on a draft. Another project must be of the same client, and a task of the project. ' +
        '`hours` and `date` of time with `started_at` and `ended_at` change only with these, or when both become null. ' +
        'When the total of a task changes, `task.updated` is announced, too.',
      response: changedTimeEntryResponse,
      conflict: appError('time_entry_issued'),
      missingReference: 'Project not found or access denied',
    },
    handler: updateTimeEntry,
  }),
  route({
    method: 'delete',
    path: `${path}/{id}`,
    operation: 'deleteTimeEntry',
    scope: 'time-entries:write',
    missing,
    docs: {
      summary: 'Delete a time entry',
      message: 'Time entry deleted',
      conflict: appError('time_entry_issued'),
    },
    handler: deleteTimeEntry,
  }),
];

async function createTimeEntry({ caller, body, commit }: Context<NewTimeEntry, DryRun>) {
  const fields = pick(body, ['description', 'hourly_rate', 'billable', 'member']);
  return commit(async (unit) => {
    const { session, accountId } = unit;
    const time = await timeOfNew(unit, body);
    if (!time.started_at) await requireEntryHours(time.hours, caller, session);
    const project = await lockOwn(Project, accountId, body.project_id, session);
    if (!project) throw appError('project_not_found');
    const task = await taskOfProject(project._id, body.task_id, accountId, session);
    const { entry, view } = await logTime(unit, { ...fields, ...time, project, task });
    return created({ ...timeEntryCore(entry), task_id: view.task_id, project: view.project });
  });
}

async function listTimeEntries({ caller, query }: Context<unknown, ListQuery>) {
  return timeEntryList.respond({ caller, query }, (records) => timeEntryViews(records, caller.accountId));
}

async function readTimeEntry({ caller, id, session }: Reading) {
  const entry = await findOwn(TimeEntry, caller.accountId, id, session);
  return entry && viewOf(entry, caller.accountId, session);
}

async function updateTimeEntry({ caller, body, commit, requireRecord }: Context<TimeEntryChanges>) {
  const { description, billable, hourly_rate } = body;
  return commit(async (unit) => {
    const { session, accountId, announce } = unit;
    const entry = await requireRecord(TimeEntry, session);
    const time = await timeOf(unit, body, entry);
    const hasOtherHours = time.hours !== undefined && time.hours !== entry.hours;
    if (hasOtherHours && !time.started_at) await requireEntryHours(time.hours ?? 0, caller, session);
    const changes: Partial<TimeEntryRecord> = {
      ...pick(body, body.member === undefined ? [] : ['member']),
      ...time,
      ...(await changedPlace(entry, body, unit)),
      ...(description === undefined ? {} : { description: description || null }),
    };
    if (typeof billable === 'boolean') changes.billable = billable;
    Object.assign(changes, await changedRate(entry, { ...changes, hourly_rate }, unit));
    if (billable === null) {
      const task = changes.task_id ? await findOwn(Task, accountId, changes.task_id, session) : undefined;
      changes.billable = task?.billable ?? true;
    }
    if (isUnchanged(entry, changes)) return updated(timeEntryCore(entry));
    await requireFree(entry, accountId, { session, changed: changedFields(entry, changes) });
    await requireUnlocked(unit, [entry.date, changes.date ?? entry.date]);
    const changed = await changeOwn(TimeEntry, entry, changes, session);
    await announce('time_entry.updated', await viewOf(changed, accountId, session));
    if (changed.description !== entry.description) await followDescription(unit, changed);
    await followTime([{ before: entry, after: changed }], unit);
    return updated(timeEntryCore(changed));
  });
}

/**
 * Another task, project or member settles the rate anew unless the caller gave it, and null takes back what the caller gave.
 * @param next where the entry will be, and the rate that the change asks for.
 */
async function changedRate(
  entry: TimeEntryRecord,
  next: { [Name in 'project_id' | 'task_id' | 'member' | 'hourly_rate']?: TimeEntryRecord[Name] | undefined },
  unit: UnitOfWork,
): Promise<Partial<TimeEntryRecord>> {
  const { hourly_rate } = next;
  const place = {
    project_id: next.project_id ?? entry.project_id,
    task_id: next.task_id ?? null,
    ...(next.member === undefined ? {} : { member: next.member }),
  };
  const isMoved = !isUnchanged(entry, place);
  const isGiven = settledRate(entry)?.from === 'entry';
  if (typeof hourly_rate === 'number') {
    return isMoved || hourly_rate !== entry.hourly_rate ? givenRate(hourly_rate) : {};
  }
  const isTakenBack = hourly_rate === null && entry.hourly_rate !== null;
  if (!isTakenBack && (!isMoved || isGiven)) return {};
  const [settled] = await ratesOf([{ member: entry.member ?? null, ...place }], unit);
  return settled ?? {};
}

async function deleteTimeEntry({ commit, requireRecord }: Context) {
  return commit(async (unit) => {
    const { session, accountId, announce } = unit;
    const entry = await requireRecord(TimeEntry, session);
    const view = await viewOf(entry, accountId, session);
    await requireFree(entry, accountId, { session });
    await requireUnlocked(unit, [entry.date]);
    await removeOwn(TimeEntry, entry, session);
    await removeTimersOf([entry], unit);
    await announce('time_entry.deleted', view);
    await followTime([{ before: entry }], unit);
    return deleted('Time entry deleted');
  });
}

/** A remembered limit may be a second old: it is read again before hours are rejected. @throws AppError 400 when one entry has too many. */
async function requireEntryHours(hours: number, { accountId, account }: Caller, session: Session) {
  if (hours <= maxEntryHours(account)) return;
  const most = maxEntryHours(await readAccount(accountId, session));
  if (hours > most) {
    throw fieldProblem('hours', 'exceeds_max_entry_hours', { limit: most });
  }
}

async function viewOf(entry: TimeEntryRecord, accountId: Id, session?: Session) {
  const [view] = await timeEntryViews([entry], accountId, session);
  if (!view) throw new Error('one entry has one view');
  return view;
}
