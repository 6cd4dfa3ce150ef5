// A task of a project, with the time that was spent on it.
import type { Session } from '../../mongo/connection.ts';
import { changeTime } from '../counter.ts';
import type { ListingOf } from '../list-indexes.ts';
import { recordSchema } from '../record-schema.ts';
import { driverOf, findAllOwn, recordsOf, type Stamped } from '../records.ts';
import { COUNTED_BY_STATUS } from '../status-filter.ts';
import { type Id, idField, requiredIdField, type StoredId } from '../tenant.ts';
import { type BudgetFields, taskBudgetView } from './budget.ts';
import { embeddedProject, type ProjectDetails } from './project.ts';

export const TASK_STATUSES = ['todo', 'in_progress', 'done'] as const;

export type TaskStatus = (typeof TASK_STATUSES)[number];

export interface TaskRecord extends Stamped, Pick<BudgetFields, 'budget_hours' | 'hours_reached'> {
  project_id: StoredId;
  name: string;
  description: string | null;
  status: TaskStatus;
  estimated_hours: number | null;
  billable: boolean;
  /** The rate per hour. */
  rate: number | null;
  /** The seconds of all its time. The transactions of its time entries keep this field. */
  total_seconds: number;
  phase_id: StoredId | null;
  /** See lockOwn. */
  lock_version?: number;
}

export const taskListing: ListingOf<TaskRecord, 'created_at' | 'updated_at'> = {
  filters: ['project_id', 'status'],
  orders: { created_at: '_id', updated_at: 'updated_at' },
  standard: '-created_at',
};

const taskSchema = recordSchema<TaskRecord>(
  'tasks',
  {
    project_id: requiredIdField,
    name: { type: String, required: true },
    description: String,
    status: { type: String, enum: TASK_STATUSES, required: true },
    estimated_hours: Number,
    budget_hours: Number,
    hours_reached: Number,
    billable: { type: Boolean, required: true },
    rate: Number,
    total_seconds: { type: Number, required: true, default: 0 },
    phase_id: idField,
    lock_version: Number,
  },
  taskListing,
);

export const Task = recordsOf<TaskRecord>('Task', taskSchema, COUNTED_BY_STATUS);

/** Returns the task in the form of the API. */
export function taskView(task: TaskRecord, project: ProjectDetails | undefined) {
  return {
    id: String(task._id),
    name: task.name,
    description: task.description,
    status: task.status,
    estimated_hours: task.estimated_hours,
    budget_hours: task.budget_hours ?? null,
    budget: taskBudgetView(task),
    billable: task.billable,
    rate: task.rate,
    total_seconds: task.total_seconds,
    phase_id: task.phase_id ? String(task.phase_id) : null,
    project: project ? embeddedProject(project) : null,
    created_at: task.created_at.toISOString(),
    updated_at: task.updated_at.toISOString(),
  };
}

/** Returns the tasks that records refer to, by id, with the fields that are embedded. */
export function tasksOf(
  accountId: Id,
  ids: readonly (StoredId | null | undefined)[],
  session?: Session,
): Promise<Map<Id, TaskRecord>> {
  return findAllOwn(Task, accountId, ids.filter((id) => id != null).map(String), ['name'], session);
}

/**
 * Adds to the task's total (or subtracts), in the transaction of its entry. A transaction that deletes the task at the
 * same moment conflicts.
 * @returns the changed task, or null when it does not exist.
 */
export async function addTime(
  session: Session,
  { _id, account_id }: Pick<TaskRecord, '_id' | 'account_id'>,
  seconds: number,
): Promise<TaskRecord | null> {
  const updated_at = await changeTime(session, account_id, new Date());
  const task = await driverOf(Task).findOneAndUpdate(
    { _id, account_id },
    { $inc: { total_seconds: seconds }, $set: { updated_at } },
    { session, returnDocument: 'after' },
  );
  return task as TaskRecord | null;
}
