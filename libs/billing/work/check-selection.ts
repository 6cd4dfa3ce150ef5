// Checks that the projects and tasks of a selection belong to one client. A recurring invoice keeps those that it names.
import { appError, fieldProblem } from '../../errors.ts';
import type { ClientRecord } from '../../models/accounts/client.ts';
import { type IncludedTime, RecurringInvoice } from '../../models/billing/recurring-invoice.ts';
import { driverOf, findAllOwn, findIds, hasOwn, lockAllOwn } from '../../models/records.ts';
import { type Id, type StoredId, storedId } from '../../models/tenant.ts';
import { Project, type ProjectRecord } from '../../models/time/project.ts';
import { Task, type TaskRecord } from '../../models/time/task.ts';
import type { Session } from '../../mongo/connection.ts';

interface Selecting {
  accountId: Id;
  client: Pick<ClientRecord, '_id'>;
  session: Session;
  /** The prefix of its field names where it is a part of the input. */
  within?: string | undefined;
}

/**
 * Returns the projects with client and billing only.
 * @throws AppError 404 when one is not the account's, 400 when one is another client's.
 */
export async function selectedProjects(
  { accountId, client, session, within = '' }: Selecting,
  ids: readonly Id[],
): Promise<ProjectRecord[]> {
  const found = await findAllOwn(Project, accountId, ids, ['client_id', 'billing'], session);
  if (found.size < new Set(ids).size) throw appError('project_not_found');
  const projects = [...found.values()];
  if (projects.some(({ client_id }) => !client_id.equals(client._id))) {
    const name = `${within}project_ids`;
    throw fieldProblem(name, 'of_other_client', { records: 'projects' });
  }
  return projects;
}

/**
 * Returns all projects of the client that are paid by the hour, or the named ones of them.
 * @throws AppError as selectedProjects does.
 */
export async function hourlyProjects(selecting: Selecting, ids: readonly Id[] | undefined): Promise<StoredId[]> {
  const { accountId, client, session } = selecting;
  const hourly = { account_id: storedId(accountId), client_id: client._id, billing: null };
  if (!ids) return findIds(Project, hourly, { session });
  const found = await selectedProjects(selecting, ids);
  return found.filter(({ billing }) => billing === undefined).map(({ _id }) => _id);
}

/** Returns the tasks. @throws AppError 404 when one is not the account's, 400 when one is not of the projects. */
export async function selectedTasks(
  { accountId, session, within = '' }: Selecting,
  ids: readonly Id[],
  projects: readonly StoredId[],
): Promise<TaskRecord[]> {
  const found = await findAllOwn(Task, accountId, ids, ['project_id'], session);
  if (found.size < new Set(ids).size) throw appError('task_not_found');
  const tasks = [...found.values()];
  const known = new Set(projects.map(String));
  if (tasks.some(({ project_id }) => !known.has(String(project_id)))) {
    const name = `${within}task_ids`;
    throw fieldProblem(name, 'of_other_project');
  }
  return tasks;
}

/**
 * Checks the names in a recurring invoice as its runs do, and locks the records. A request that deletes or moves one at
 * the same moment conflicts with this one.
 * @throws AppError as selectedProjects and selectedTasks do.
 */
export async function lockSelected(
  selecting: Selecting,
  { project_ids, task_ids }: Pick<IncludedTime, 'project_ids' | 'task_ids'>,
): Promise<void> {
  if (!project_ids && !task_ids) return;
  const { accountId, session } = selecting;
  const projects = await hourlyProjects(selecting, project_ids);
  const tasks = task_ids ? await selectedTasks(selecting, task_ids, projects) : [];
  const ofTasks = tasks.map(({ project_id }) => String(project_id));
  await lockAllOwn(Project, accountId, [...(project_ids ?? []), ...ofTasks], session);
  await lockAllOwn(Task, accountId, task_ids ?? [], session);
}

/** True when a recurring invoice is of the project, or names it or one of its tasks for billing their time. */
export async function isProjectOfRecurring(accountId: Id, project_id: StoredId, session: Session): Promise<boolean> {
  // The queries go one by one, because with $or the database walks all of the account.
  if (await hasOwn(RecurringInvoice, accountId, { project_id }, session)) return true;
  const naming = { 'include_time.project_ids': String(project_id) };
  if (await hasOwn(RecurringInvoice, accountId, naming, session)) return true;
  const withTasks = { account_id: storedId(accountId), 'include_time.task_ids': { $exists: true } };
  const named = await driverOf(RecurringInvoice)
    .aggregate<{ _id: Id }>(
      [{ $match: withTasks }, { $unwind: '$include_time.task_ids' }, { $group: { _id: '$include_time.task_ids' } }],
      { session },
    )
    .toArray();
  return hasOwn(Task, accountId, { _id: { $in: named.map(({ _id }) => storedId(_id)) }, project_id }, session);
}

/** True when a recurring invoice names the task for billing its time. */
export async function isTaskOfRecurring(accountId: Id, task_id: StoredId, session: Session): Promise<boolean> {
  return hasOwn(RecurringInvoice, accountId, { 'include_time.task_ids': String(task_id) }, session);
}
