// The task that time refers to. It must be the account's, and of the project of the time.
import { appError } from '../../errors.ts';
import { findOwn } from '../../models/records.ts';
import type { Id, StoredId } from '../../models/tenant.ts';
import { Task, type TaskRecord } from '../../models/time/task.ts';
import type { Session } from '../../mongo/connection.ts';

/**
 * Returns the task, or undefined when none is named.
 * @throws AppError 404 when it is not the account's or not of this project.
 */
export async function taskOfProject(
  projectId: StoredId,
  id: Id | StoredId | null | undefined,
  accountId: Id,
  session: Session,
): Promise<TaskRecord | undefined> {
  if (!id) return undefined;
  const task = await findOwn(Task, accountId, id, session);
  if (!task?.project_id.equals(projectId)) throw appError('task_not_found');
  return task;
}
