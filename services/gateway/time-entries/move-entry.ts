// Moves a time entry to another project of the same client, and to a task of that project.

import { projectOfClient } from '#libs/billing/documents/project-of-client.ts';
import { taskOfProject } from '#libs/billing/time/task-of-project.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { appError, fieldProblem } from '#libs/errors.ts';
import { lockOwn } from '#libs/models/records.ts';
import type { Id } from '#libs/models/tenant.ts';
import { Project } from '#libs/models/time/project.ts';
import type { TimeEntryRecord } from '#libs/models/time/time-entry.ts';
import type { Session } from '#libs/mongo/connection.ts';
import type { TimeEntryChanges } from './input.ts';

type Place = Pick<TimeEntryRecord, 'project_id' | 'task_id'>;

/**
 * The project and the task that a change asks for, checked; both are as before unless the change names others.
 * @throws AppError 404 when one of them is not the account's or the task is not of the project, 400 when the project is another
 * client's or the change leaves out what becomes of the task.
 */
export async function changedPlace(
  entry: TimeEntryRecord,
  { project_id, task_id }: TimeEntryChanges,
  { session, accountId }: UnitOfWork,
): Promise<Place> {
  const isProjectChanged = project_id !== undefined && project_id !== String(entry.project_id);
  const isTaskChanged = task_id !== undefined && task_id !== (entry.task_id ? String(entry.task_id) : null);
  if (!isProjectChanged && !isTaskChanged) return { project_id: entry.project_id, task_id: entry.task_id };
  const projectId = isProjectChanged ? await otherProject(entry, project_id, accountId, session) : entry.project_id;
  if (isProjectChanged && entry.task_id && task_id === undefined) {
    throw fieldProblem('task_id', 'task_of_former_project');
  }
  const task = await taskOfProject(projectId, task_id === undefined ? entry.task_id : task_id, accountId, session);
  return { project_id: projectId, task_id: task?._id ?? null };
}

/** Both projects are locked: neither can move to another client meanwhile. */
async function otherProject({ project_id }: TimeEntryRecord, projectId: Id, accountId: Id, session: Session) {
  const former = await lockOwn(Project, accountId, project_id, session);
  if (!former) throw appError('project_not_found');
  const project = await projectOfClient({ accountId, projectId, clientId: former.client_id, session });
  return project?._id ?? project_id;
}
