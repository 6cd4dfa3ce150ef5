// The project and the task that a timer runs on.
import { appError, fieldProblem } from '../../errors.ts';
import { lockOwn } from '../../models/records.ts';
import type { Id } from '../../models/tenant.ts';
import { Project } from '../../models/time/project.ts';
import { Task } from '../../models/time/task.ts';
import type { TimerRecord } from '../../models/time/timer.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { taskOfProject } from './task-of-project.ts';

/** Returns project and task under row locks: neither is deleted while a timer runs on it. */
export async function placeOf({ session, accountId }: UnitOfWork, projectId: Id, taskId: Id | null | undefined) {
  const project = await lockOwn(Project, accountId, projectId, session);
  if (!project) throw appError('project_not_found');
  const task = await taskOfProject(project._id, taskId, accountId, session);
  if (task) await lockOwn(Task, accountId, task._id, session);
  return { project_id: project._id, task_id: task?._id ?? null };
}

/**
 * Returns the changed place, or nothing when the timer stays.
 * @throws AppError 404, or 400 for another project when the change does not name the task.
 */
export async function changedPlace(
  unit: UnitOfWork,
  timer: TimerRecord,
  { project_id, task_id }: { project_id?: Id | undefined; task_id?: Id | null | undefined },
) {
  const [project, task] = [String(timer.project_id), timer.task_id ? String(timer.task_id) : null];
  const isProjectChanged = project_id !== undefined && project_id !== project;
  if (!isProjectChanged && (task_id === undefined || task_id === task)) return {};
  if (isProjectChanged && task && task_id === undefined) {
    throw fieldProblem('task_id', 'task_of_former_project');
  }
  return placeOf(unit, project_id ?? project, task_id === undefined ? task : task_id);
}
