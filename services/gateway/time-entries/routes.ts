// Time entries over HTTP. A task's total is kept in the transactions of its entries.
import { conflict, notFound } from '#libs/errors.ts';
import { isIssued } from '#libs/models/billed-time.ts';
import { findPage } from '#libs/models/listing.ts';
import { Project, projectsOf } from '#libs/models/project.ts';
import { changeOwn, findOwn, holdOwn, insertOwn, readBoth, removeOwn } from '#libs/models/records.ts';
import { addTime, Task, tasksOf } from '#libs/models/task.ts';
import { type Id, newRecord, type StoredId, storedId } from '#libs/models/tenant.ts';
import {
  secondsOf,
  TimeEntry,
  type TimeEntryRecord,
  timeEntryCore,
  timeEntryListing,
  timeEntryView,
} from '#libs/models/time-entry.ts';
import type { Session } from '#libs/mongo.ts';
import { created, deleted, found, listed, updated } from '../http/answer.ts';
import { type DryRun, dryRun } from '../http/dry-run.ts';
import { pageOf } from '../http/page.ts';
import { type Context, type Route, route } from '../http/route.ts';
import { changedTimeEntryAnswer, createdTimeEntryAnswer, timeEntryAnswer } from './answer.ts';
import {
  type NewTimeEntry,
  newTimeEntry,
  type TimeEntryChanges,
  type TimeEntryQuery,
  timeEntryChanges,
  timeEntryQuery,
} from './input.ts';

const path = '/api/v1/time-entries';
const missing = 'Time entry not found or access denied';

export const timeEntryRoutes: readonly Route[] = [
  route({
    method: 'post',
    path,
    operation: 'createTimeEntry',
    summary: 'Log time on a project, optionally on a task',
    scope: 'time-entries:write',
    query: dryRun,
    body: newTimeEntry,
    answers: createdTimeEntryAnswer,
    missingReference: 'Project not found or access denied',
    handler: createTimeEntry,
  }),
  route({
    method: 'get',
    path,
    operation: 'listTimeEntries',
    summary: 'List time entries by date, latest first',
    scope: 'time-entries:read',
    query: timeEntryQuery,
    answers: timeEntryAnswer,
    handler: listTimeEntries,
  }),
  route({
    method: 'get',
    path: `${path}/{id}`,
    operation: 'getTimeEntry',
    summary: 'Get a time entry',
    scope: 'time-entries:read',
    missing: 'Time entry not found',
    answers: timeEntryAnswer,
    handler: getTimeEntry,
  }),
  route({
    method: 'patch',
    path: `${path}/{id}`,
    operation: 'updateTimeEntry',
    summary: 'Update a time entry',
    scope: 'time-entries:write',
    body: timeEntryChanges,
    missing,
    answers: changedTimeEntryAnswer,
    conflict: 'Cannot change time on an issued invoice',
    handler: updateTimeEntry,
  }),
  route({
    method: 'delete',
    path: `${path}/{id}`,
    operation: 'deleteTimeEntry',
    summary: 'Delete a time entry',
    scope: 'time-entries:write',
    missing,
    message: 'Time entry deleted',
    conflict: 'Cannot change time on an issued invoice',
    handler: deleteTimeEntry,
  }),
];

async function createTimeEntry({ body, commit }: Context<NewTimeEntry, DryRun>) {
  const seconds = secondsOf(body.hours);
  return commit(async ({ session, accountId, announce }) => {
    const project = await holdOwn(Project, accountId, body.project_id, session);
    if (!project) throw notFound('Project', 'or access denied');
    const task = await taskOf(project._id, body.task_id, accountId, session);
    const entry: TimeEntryRecord = {
      ...newRecord(accountId),
      project_id: project._id,
      task_id: task?._id ?? null,
      hours: body.hours,
      seconds,
      // A rate that is given as null is none, whatever the task has.
      hourly_rate: body.hourly_rate === undefined ? (task?.rate ?? null) : body.hourly_rate,
      date: body.date,
      description: body.description || null,
    };
    await insertOwn(TimeEntry, entry, session);
    if (task) await addTime(session, task, seconds);
    const view = timeEntryView(entry, project, task);
    await announce('time_entry.created', view);
    return created({ ...timeEntryCore(entry), task_id: view.task_id, project: view.project });
  });
}

async function listTimeEntries({ caller, query }: Context<unknown, TimeEntryQuery>) {
  const { date_from, date_to } = query;
  const { records, total } = await findPage(TimeEntry, timeEntryListing, {
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
  return listed(await viewsOf(records, caller.accountId), total, query);
}

async function getTimeEntry({ caller, id, missing }: Context) {
  const entry = await findOwn(TimeEntry, caller.accountId, id);
  if (!entry) throw missing();
  return found(await viewOf(entry, caller.accountId));
}

async function updateTimeEntry({ body, id, commit, missing, requireMatch }: Context<TimeEntryChanges>) {
  const { description, ...fields } = body;
  return commit(async ({ session, accountId, announce }) => {
    const entry = await findOwn(TimeEntry, accountId, id, session);
    if (!entry) throw missing();
    await requireMatch(() => viewOf(entry, accountId, session));
    await requireOpen(entry, accountId, session);
    const changed = await changeOwn(
      TimeEntry,
      entry,
      {
        ...fields,
        ...(body.hours === undefined ? {} : { seconds: secondsOf(body.hours) }),
        ...(description === undefined ? {} : { description: description || null }),
      },
      session,
    );
    await addTimeOf(entry, changed.seconds - entry.seconds, session);
    await announce('time_entry.updated', await viewOf(changed, accountId, session));
    return updated(timeEntryCore(changed));
  });
}

async function deleteTimeEntry({ id, commit, missing, requireMatch }: Context) {
  return commit(async ({ session, accountId, announce }) => {
    const entry = await findOwn(TimeEntry, accountId, id, session);
    if (!entry) throw missing();
    const view = await viewOf(entry, accountId, session);
    await requireMatch(() => view);
    await requireOpen(entry, accountId, session);
    await removeOwn(TimeEntry, entry, session);
    await addTimeOf(entry, -entry.seconds, session);
    await announce('time_entry.deleted', view);
    return deleted('Time entry deleted');
  });
}

/** @throws AppError 404 when the task is not the account's or not of this project. */
async function taskOf(projectId: StoredId, id: Id | null | undefined, accountId: Id, session: Session) {
  if (!id) return undefined;
  const task = await findOwn(Task, accountId, id, session);
  if (!task?.project_id.equals(projectId)) throw notFound('Task', 'or access denied');
  return task;
}

async function addTimeOf({ account_id, task_id }: TimeEntryRecord, seconds: number, session: Session) {
  if (task_id && seconds !== 0) await addTime(session, { _id: task_id, account_id }, seconds);
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
