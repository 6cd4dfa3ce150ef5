// Task totals follow their time entries, in the same transaction and with an event of the task.

import { type StoredId, storedId } from '../models/tenant.ts';
import { projectsOf } from '../models/time/project.ts';
import { addTime, taskView } from '../models/time/task.ts';
import type { TimeEntryRecord } from '../models/time/time-entry.ts';
import type { UnitOfWork } from './unit-of-work.ts';

type Tracked = Pick<TimeEntryRecord, 'task_id' | 'seconds'>;

/**
 * Brings the totals of the tasks from `before` to `after` and announces each task whose total changed.
 * @param change `before` is absent for a new entry, `after` for a deleted one.
 */
export async function followTime(
  { before, after }: { before?: Tracked; after?: Tracked },
  { session, accountId, announce }: UnitOfWork,
): Promise<void> {
  const differences = new Map<string, number>();
  const add = (taskId: StoredId | null | undefined, seconds: number) => {
    if (taskId) differences.set(String(taskId), (differences.get(String(taskId)) ?? 0) + seconds);
  };
  add(before?.task_id, -(before?.seconds ?? 0));
  add(after?.task_id, after?.seconds ?? 0);
  // In the order of ids: two transactions that move time between the same tasks must not wait for each other.
  for (const [id, seconds] of [...differences].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    if (seconds === 0) continue;
    const task = await addTime(session, { _id: storedId(id), account_id: storedId(accountId) }, seconds);
    if (!task) continue;
    const projects = await projectsOf(accountId, [task.project_id], session);
    await announce('task.updated', taskView(task, projects.get(String(task.project_id))));
  }
}
