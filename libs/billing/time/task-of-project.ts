// The task that time names: one of the account's, and of the project that the time is on.
import { notFound } from '../../errors.ts';
import { findOwn } from '../../models/records.ts';
import type { Id, StoredId } from '../../models/tenant.ts';
import { Task, type TaskRecord } from '../../models/time/task.ts';
import type { Session } from '../../mongo/connection.ts';

/** @returns undefined when none is named. @throws AppError 404 when the task is not the account's or not of this project. */
export async function taskOfProject(
  projectId: StoredId,
  id: Id | StoredId | null | undefined,
  accountId: Id,
  session: Session,
): Promise<TaskRecord | undefined> {
  if (!id) return undefined;
  const task = await findOwn(Task, accountId, id, session);
  if (!task?.project_id.equals(projectId)) throw notFound('Task', 'or access denied');
  return task;
}
