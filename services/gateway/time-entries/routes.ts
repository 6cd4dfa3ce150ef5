// Time entries over HTTP. A task's total is kept in the transactions of its entries.
import { conflict, fieldProblem, notFound } from '#libs/errors.ts';
import { maxEntryHours, readAccount } from '#libs/models/accounts/account.ts';
import { findPage } from '#libs/models/listing.ts';
import { changeOwn, findOwn, insertOwn, isUnchanged, lockOwn, readBoth, removeOwn } from '#libs/models/records.ts';
import { type Id, newRecord, storedId } from '#libs/models/tenant.ts';
import { isIssued } from '#libs/models/time/billed-time.ts';
import { Project, projectsOf } from '#libs/models/time/project.ts';
import { Task, tasksOf } from '#libs/models/time/task.ts';
import {
  secondsOf,
  TimeEntry,
  type TimeEntryRecord,
  timeEntryCore,
  timeEntryListing,
  timeEntryView,
} from '#libs/models/time/time-entry.ts';
import type { Session } from '#libs/mongo/connection.ts';
import { type DryRun, dryRun } from '../http/dry-run.ts';
import { pageOf } from '../http/page.ts';
import { created, deleted, found, listed, updated } from '../http/response.ts';
import { type Caller, type Context, type Route, route } from '../http/route.ts';
import {
  type NewTimeEntry,
  newTimeEntry,
  type TimeEntryChanges,
  type TimeEntryQuery,
  timeEntryChanges,
  timeEntryQuery,
} from './input.ts';
import { changedPlace, taskOf } from './move-entry.ts';
import { changedTimeEntryResponse, createdTimeEntryResponse, timeEntryResponse } from './response.ts';
import { followTime } from './task-totals.ts';

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
      summary: 'Log time on a project, optionally on a task',
      description: "`hours` are at most the account's `max_entry_hours`: 24 unless it was changed.",
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
    query: timeEntryQuery,
    docs: {
      summary: 'List time entries by date, latest first',
      response: timeEntryResponse,
    },
    handler: listTimeEntries,
  }),
  route({
    method: 'get',
    path: `${path}/{id}`,
    operation: 'getTimeEntry',
    scope: 'time-entries:read',
    missing: 'Time entry not found',
    docs: {
      summary: 'Get a time entry',
      response: timeEntryResponse,
    },
    handler: getTimeEntry,
  }),
  route({
    method: 'patch',
    path: `${path}/{id}`,
    operation: 'updateTimeEntry',
    scope: 'time-entries:write',
    body: timeEntryChanges,
    missing,
    docs: {
      summary: 'Update a time entry, or move it to another project or task',
      description:
        'Time that is on an invoice stays where it is: 409. Another project must be of the same client, and a task of the project. ' +
        'When the total of a task changes, `task.updated` is announced, too.',
      response: changedTimeEntryResponse,
      conflict: 'Cannot change time on an issued invoice',
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
      conflict: 'Cannot change time on an issued invoice',
    },
    handler: deleteTimeEntry,
  }),
];

async function createTimeEntry({ caller, body, commit }: Context<NewTimeEntry, DryRun>) {
  const seconds = secondsOf(body.hours);
  return commit(async (transaction) => {
    const { session, accountId, announce } = transaction;
    await requireEntryHours(body.hours, caller, session);
    const project = await lockOwn(Project, accountId, body.project_id, session);
    if (!project) throw notFound('Project', 'or access denied');
    const task = await taskOf(project._id, body.task_id, accountId, session);
    const entry: TimeEntryRecord = {
      ...newRecord(accountId),
      project_id: project._id,
      task_id: task?._id ?? null,
      hours: body.hours,
      seconds,
      hourly_rate: body.hourly_rate ?? task?.rate ?? null,
      date: body.date,
      description: body.description || null,
    };
    await insertOwn(TimeEntry, entry, session);
    const view = timeEntryView(entry, project, task);
    await announce('time_entry.created', view);
    await followTime({ after: entry }, transaction);
    return created({ ...timeEntryCore(entry), task_id: view.task_id, project: view.project });
  });
}

async function listTimeEntries({ caller, query }: Context<unknown, TimeEntryQuery>) {
  const { date_from, date_to } = query;
  const { records, ...page } = await findPage(TimeEntry, timeEntryListing, {
    ...pageOf(timeEntryListing, query),
    filter: {
      account_id: storedId(caller.accountId),
      ...(query.task_id ? { task_id: storedId(query.task_id) } : {}),
      ...(query.project_id ? { project_id: storedId(query.project_id) } : {}),
      ...(date_from || date_to
        ? { date: { ...(date_from ? { $gte: date_from } : {}), ...(date_to ? { $lte: date_to } : {}) } }
        : {}),
      ...(query.updated_since ? { updated_at: { $gte: query.updated_since } } : {}),
    },
  });
  return listed(await viewsOf(records, caller.accountId), page, query);
}

async function getTimeEntry({ caller, id, missing }: Context) {
  const entry = await findOwn(TimeEntry, caller.accountId, id);
  if (!entry) throw missing();
  return found(await viewOf(entry, caller.accountId));
}

async function updateTimeEntry({ caller, body, id, commit, missing, requireMatch }: Context<TimeEntryChanges>) {
  const { description, project_id: _project, task_id: _task, ...fields } = body;
  return commit(async (transaction) => {
    const { session, accountId, announce } = transaction;
    const entry = await findOwn(TimeEntry, accountId, id, session);
    if (!entry) throw missing();
    await requireMatch(() => viewOf(entry, accountId, session));
    await requireOpen(entry, accountId, session);
    if (body.hours !== undefined) await requireEntryHours(body.hours, caller, session);
    const changes: Partial<TimeEntryRecord> = {
      ...fields,
      ...(await changedPlace(entry, body, transaction)),
      ...(body.hours === undefined ? {} : { seconds: secondsOf(body.hours) }),
      ...(description === undefined ? {} : { description: description || null }),
    };
    if (body.hourly_rate === null) {
      const taskId = changes.task_id === undefined ? entry.task_id : changes.task_id;
      const task = taskId ? await findOwn(Task, accountId, taskId, session) : undefined;
      changes.hourly_rate = task?.rate ?? null;
    }
    if (isUnchanged(entry, changes)) return updated(timeEntryCore(entry));
    const changed = await changeOwn(TimeEntry, entry, changes, session);
    await announce('time_entry.updated', await viewOf(changed, accountId, session));
    await followTime({ before: entry, after: changed }, transaction);
    return updated(timeEntryCore(changed));
  });
}

async function deleteTimeEntry({ id, commit, missing, requireMatch }: Context) {
  return commit(async (transaction) => {
    const { session, accountId, announce } = transaction;
    const entry = await findOwn(TimeEntry, accountId, id, session);
    if (!entry) throw missing();
    const view = await viewOf(entry, accountId, session);
    await requireMatch(() => view);
    await requireOpen(entry, accountId, session);
    await removeOwn(TimeEntry, entry, session);
    await announce('time_entry.deleted', view);
    await followTime({ before: entry }, transaction);
    return deleted('Time entry deleted');
  });
}

/** A remembered limit may be a second old: it is read again before hours are rejected. @throws AppError 400 when one entry has too many. */
async function requireEntryHours(hours: number, { accountId, account }: Caller, session: Session) {
  if (hours <= maxEntryHours(account)) return;
  const most = maxEntryHours(await readAccount(accountId, session));
  if (hours > most) {
    throw fieldProblem('hours', `hours must be less than or equal to ${most}, the max_entry_hours of the account`);
  }
}

async function requireOpen(entry: TimeEntryRecord, accountId: Id, session: Session) {
  if (await isIssued(accountId, entry, session)) throw conflict('Cannot change time on an issued invoice');
}

async function viewOf(entry: TimeEntryRecord, accountId: Id, session?: Session) {
  const [view] = await viewsOf([entry], accountId, session);
  return view;
}

async function viewsOf(entries: TimeEntryRecord[], accountId: Id, session?: Session) {
  const projectIds = entries.map(({ project_id }) => project_id);
  const taskIds = entries.map(({ task_id }) => task_id);
  const [projects, tasks] = await readBoth(
    session,
    () => projectsOf(accountId, projectIds, session),
    () => tasksOf(accountId, taskIds, session),
  );
  return entries.map((entry) =>
    timeEntryView(entry, projects.get(String(entry.project_id)), tasks.get(String(entry.task_id))),
  );
}
