// Tasks over HTTP.

import { announceReached, budgetProgress } from '#libs/billing/time/budget.ts';
import { applyRate } from '#libs/billing/time/settle-rate.ts';
import { timeEntryViews } from '#libs/billing/time/time-context.ts';
import { requireFreeTask, requireNoTimer } from '#libs/billing/time/time-guard.ts';
import { requireUnlockedTask } from '#libs/billing/time/time-lock.ts';
import { followTime, removedTime, type TimeChange } from '#libs/billing/time/time-totals.ts';
import { removeTimersOf } from '#libs/billing/time/timer-views.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { isTaskOfRecurring } from '#libs/billing/work/check-selection.ts';
import { appError } from '#libs/errors.ts';
import { changeOwn, findOwn, hasOwn, insertOwn, isUnchanged, lockOwn, removeOwn } from '#libs/models/records.ts';
import { isTooMuchToRemove, REMOVED_MAX, REMOVED_MAX_MIB, removeAllWith } from '#libs/models/remove-records.ts';
import { type Id, newRecord, storedId } from '#libs/models/tenant.ts';
import { Project, projectsOf } from '#libs/models/time/project.ts';
import { Task, type TaskRecord, taskView } from '#libs/models/time/task.ts';
import { TimeEntry } from '#libs/models/time/time-entry.ts';
import type { Session } from '#libs/mongo/connection.ts';
import { taskResponse } from '#libs/responses/task.ts';
import { type DryRun, dryRun } from '../http/dry-run.ts';
import type { ListQuery } from '../http/list.ts';
import { created, deleted, updated } from '../http/response.ts';
import { type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import { type NewTask, newTask, type TaskChanges, taskChanges, taskList } from './input.ts';

const path = '/api/v1/tasks';
const missing = 'Task not found or access denied';

export const taskRoutes: readonly Route[] = [
  route({
    method: 'post',
    path,
    operation: 'createTask',
    scope: 'tasks:write',
    query: dryRun,
    body: newTask,
    docs: {
      summary: 'Create a task in a project',
      response: taskResponse,
      missingReference: 'Project not found or access denied',
    },
    handler: createTask,
  }),
  route({
    method: 'get',
    path,
    operation: 'listTasks',
    scope: 'tasks:read',
    query: taskList.query,
    docs: {
      title: 'List tasks',
      summary: 'List tasks across all projects, newest first',
      response: taskResponse,
    },
    handler: listTasks,
  }),
  singleRead({
    path: `${path}/{id}`,
    operation: 'getTask',
    scope: 'tasks:read',
    missing: 'Task not found',
    docs: {
      summary: 'Get a task',
      response: taskResponse,
    },
    read: readTask,
  }),
  route({
    method: 'patch',
    path: `${path}/{id}`,
    operation: 'updateTask',
    scope: 'tasks:write',
    alsoNeeds: { 'time-entries:write': 'the rate is applied to unbilled time' },
    body: taskChanges,
    missing,
    docs: {
      summary: 'Update a task',
      response: taskResponse,
      conflict: appError('task_not_movable', { records: 'time_entries' }),
    },
    handler: updateTask,
  }),
  route({
    method: 'delete',
    path: `${path}/{id}`,
    operation: 'deleteTask',
    scope: 'tasks:write',
    alsoNeeds: { 'time-entries:write': 'the task has time entries' },
    missing,
    docs: {
      title: 'Delete a task',
      summary: 'Delete a task and all its time entries',
      description: `Each time entry is announced as deleted. More than ${REMOVED_MAX} of them, or ${REMOVED_MAX_MIB} MiB, are 409: delete time entries first.`,
      message: 'Task deleted',
      conflict: appError('task_time_issued'),
    },
    handler: deleteTask,
  }),
];

async function createTask({ body, commit }: Context<NewTask, DryRun>) {
  return commit(async ({ session, accountId, announce }) => {
    const project = await lockProject(accountId, body.project_id, session);
    const task: TaskRecord = {
      ...newRecord(accountId),
      project_id: project._id,
      name: body.name,
      description: body.description || null,
      status: body.status,
      estimated_hours: body.estimated_hours ?? null,
      budget_hours: body.budget_hours ?? null,
      billable: body.billable,
      rate: body.rate ?? null,
      total_seconds: 0,
      phase_id: body.phase_id ? storedId(body.phase_id) : null,
    };
    await insertOwn(Task, task, session);
    const view = taskView(task, project);
    await announce('task.created', view);
    return created(view);
  });
}

async function listTasks({ caller, query }: Context<unknown, ListQuery>) {
  return taskList.respond({ caller, query }, (records) => viewsOf(records, caller.accountId));
}

async function readTask({ caller, id, session }: Reading) {
  const task = await findOwn(Task, caller.accountId, id, session);
  return task && viewOf(task, caller.accountId, session);
}

async function updateTask({ body, commit, requireRecord, requireScope }: Context<TaskChanges>) {
  const { apply_to, ...given } = body;
  if (apply_to === 'unbilled') requireScope('time-entries:write');
  return commit(async (unit) => {
    const { session, accountId, announce } = unit;
    const task = await requireRecord(Task, session);
    const changes = await changesOf(task, given, accountId, session);
    const isSame = isUnchanged(task, changes);
    const { fields: marks, reached } = budgetProgress({ ...task, ...changes }, task);
    const changed = isSame ? task : await changeOwn(Task, task, { ...changes, ...marks }, session);
    const view = await viewOf(changed, accountId, session);
    if (!isSame) await announce('task.updated', view);
    if (!isSame) await announceReached(unit, 'task.budget_reached', view, reached);
    if (apply_to === 'unbilled') await applyRate(unit, { from: 'task', task_id: task._id });
    return updated(view);
  });
}

async function deleteTask({ commit, requireRecord, requireScope }: Context) {
  return commit(async (unit) => {
    const { session, accountId, announce } = unit;
    const task = await requireRecord(Task, session);
    const projects = await projectsOf(accountId, [task.project_id], session);
    const project = projects.get(String(task.project_id));
    const view = taskView(task, project);
    // A key deletes along with a task only what it may delete by itself.
    if (await hasOwn(TimeEntry, accountId, { task_id: task._id }, session)) requireScope('time-entries:write');
    if (await isTooMuchToRemove(TimeEntry, accountId, { task_id: task._id }, session))
      throw appError('task_too_large', { limit: REMOVED_MAX, limit_mib: REMOVED_MAX_MIB });
    await requireFreeTask(accountId, task._id, session);
    await requireUnlockedTask(unit, task._id);
    if (await isTaskOfRecurring(accountId, task._id, session)) {
      throw appError('task_in_use', { records: 'recurring_invoices' });
    }
    await requireNoTimer(accountId, { task_id: task._id }, { action: 'delete_a_task', session });
    const removed = await removeTime(task, unit);
    await removeOwn(Task, task, session);
    await announce('task.deleted', view);
    await followTime(removed, unit);
    return deleted('Task deleted');
  });
}

/** The time on a task goes with it. @returns what totals have to follow. */
async function removeTime(task: TaskRecord, unit: UnitOfWork) {
  const { session, accountId } = unit;
  const removed: TimeChange[] = [];
  await removeAllWith(TimeEntry, accountId, { task_id: task._id }, session, async (entries) => {
    await removeTimersOf(entries, unit);
    await unit.announceAll('time_entry.deleted', await timeEntryViews(entries, accountId, session));
    removed.push(...removedTime(entries));
  });
  return removed;
}

async function changesOf(task: TaskRecord, body: TaskChanges, accountId: Id, session: Session) {
  const { project_id, phase_id, description, ...fields } = body;
  const changes: Partial<TaskRecord> = { ...fields };
  if (description !== undefined) changes.description = description || null;
  if (phase_id !== undefined) changes.phase_id = phase_id ? storedId(phase_id) : null;
  if (project_id && project_id !== String(task.project_id)) {
    const project = await lockProject(accountId, project_id, session);
    // Its entries were worked on the other project, and may be billed there.
    if (await hasOwn(TimeEntry, accountId, { task_id: task._id }, session)) {
      throw appError('task_not_movable', { records: 'time_entries' });
    }
    if (await isTaskOfRecurring(accountId, task._id, session)) {
      throw appError('task_not_movable', { records: 'recurring_invoices' });
    }
    await requireNoTimer(accountId, { task_id: task._id }, { action: 'move_a_task', session });
    changes.project_id = project._id;
  }
  return changes;
}

async function lockProject(accountId: Id, id: Id, session: Session) {
  const project = await lockOwn(Project, accountId, id, session);
  if (!project) throw appError('project_not_found');
  return project;
}

async function viewOf(task: TaskRecord, accountId: Id, session?: Session) {
  const [view] = await viewsOf([task], accountId, session);
  return view;
}

async function viewsOf(tasks: TaskRecord[], accountId: Id, session?: Session) {
  const projects = await projectsOf(
    accountId,
    tasks.map(({ project_id }) => project_id),
    session,
  );
  return tasks.map((task) => taskView(task, projects.get(String(task.project_id))));
}
