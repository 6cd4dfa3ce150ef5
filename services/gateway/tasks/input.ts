// Input of tasks.
import Joi from 'joi';
import { name, text, uuid } from '#libs/input/kinds.ts';
import type { Id } from '#libs/models/tenant.ts';
import { TASK_STATUSES, Task, type TaskRecord, type TaskStatus, taskListing } from '#libs/models/time/task.ts';
import { exampleId } from '#libs/responses/example-ids.ts';
import { type AppliesRate, applyToInput, budgetHoursInput } from '../fields/billing-input.ts';
import { hours } from '../fields/hours-input.ts';
import { byStatus } from '../fields/list-filters.ts';
import { number } from '../fields/number-input.ts';
import { byId, listOf } from '../http/list.ts';

export interface NewTask {
  project_id: Id;
  name: string;
  description?: string | null;
  status: TaskStatus;
  estimated_hours?: number | null;
  budget_hours?: number | null;
  billable: boolean;
  rate?: number | null;
  phase_id?: Id | null;
}

export type TaskChanges = Partial<NewTask> & AppliesRate;

const HOURS_MAX = 1_000_000;
const RATE_MAX = 1_000_000_000;

const status = () => Joi.string().valid(...TASK_STATUSES);
const optional = {
  description: text().allow(null, ''),
  estimated_hours: hours().min(0).max(HOURS_MAX).allow(null),
  budget_hours: budgetHoursInput(),
  rate: number().min(0).max(RATE_MAX).allow(null),
  phase_id: uuid().allow(null),
};

export const newTask = Joi.object<NewTask, true>({
  project_id: uuid().required(),
  name: name().required(),
  status: status().default('todo'),
  billable: Joi.boolean().default(true),
  ...optional,
}).example({ project_id: exampleId.projects, name: 'Drawings', estimated_hours: 40, rate: 95 });

export const taskChanges = Joi.object<TaskChanges, true>({
  project_id: uuid(),
  name: name(),
  status: status(),
  billable: Joi.boolean(),
  ...optional,
  apply_to: applyToInput('rate'),
})
  .with('apply_to', 'rate')
  .example({ status: 'in_progress' });

export const taskList = listOf<TaskRecord>(Task, taskListing, {
  project_id: byId('project_id'),
  status: byStatus(TASK_STATUSES),
});
