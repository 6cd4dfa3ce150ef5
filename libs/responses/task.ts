// Response shapes of tasks.
import Joi from 'joi';
import type { taskView } from '../models/time/task.ts';
import { TASK_STATUSES } from '../models/time/task.ts';
import { exampleId } from './example-ids.ts';
import {
  embeddedProject,
  exampleProject,
  exampleTime,
  id,
  number,
  orNull,
  timestamp,
  words,
} from './response-fields.ts';

export const taskResponse = Joi.object<ReturnType<typeof taskView>, true>({
  id: id(),
  name: words(),
  description: orNull(Joi.string()),
  status: Joi.string()
    .valid(...TASK_STATUSES)
    .required(),
  estimated_hours: orNull(Joi.number()),
  budget_hours: orNull(Joi.number()),
  budget: orNull(
    Joi.object({ hours_used: number(), hours_percent: orNull(Joi.number()) }).meta({ schema: 'TaskBudget' }),
  ).description('What is used of `budget_hours`; null while that is. The percentage is rounded down'),
  billable: Joi.boolean().required(),
  rate: orNull(Joi.number()).description('Per hour'),
  total_seconds: number().description('Tracked over all time entries'),
  phase_id: orNull(Joi.string().guid()),
  project: embeddedProject(),
  created_at: timestamp(),
  updated_at: timestamp(),
})
  .id('Task')
  .example({
    id: exampleId.tasks,
    name: 'Drawings',
    description: null,
    status: 'in_progress',
    estimated_hours: 40,
    budget_hours: 2.5,
    budget: { hours_used: 2.25, hours_percent: 90 },
    billable: true,
    rate: 95,
    total_seconds: 8100,
    phase_id: null,
    project: exampleProject,
    created_at: exampleTime,
    updated_at: exampleTime,
  });
