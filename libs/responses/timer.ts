// Response shapes of timers.
import Joi from 'joi';
import { TIMER_STATUSES, type timerView } from '../models/time/timer.ts';
import { exampleId } from './example-ids.ts';
import {
  embeddedProject,
  embeddedTask,
  exampleProject,
  exampleTime,
  id,
  orNull,
  timestamp,
  words,
} from './response-fields.ts';

export const timerResponse = Joi.object<ReturnType<typeof timerView>, true>({
  id: id(),
  owner: words(),
  status: Joi.string()
    .valid(...TIMER_STATUSES)
    .required(),
  project: embeddedProject(),
  task_id: orNull(Joi.string().guid()),
  task: embeddedTask(),
  description: orNull(Joi.string()),
  member: orNull(Joi.string()).description('Of the time entry that it becomes'),
  started_at: timestamp(),
  ended_at: orNull(Joi.string().isoDate()).description('Null while it runs'),
  time_entry_id: orNull(Joi.string().guid()).description('The time entry that it became; null while it runs'),
  created_at: timestamp(),
  updated_at: timestamp(),
})
  .id('Timer')
  .example({
    id: exampleId.timers,
    owner: 'ada',
    status: 'running',
    project: exampleProject,
    task_id: exampleId.tasks,
    task: { id: exampleId.tasks, name: 'Drawings' },
    description: 'Mill, first sheet',
    member: 'Ada Lovelace',
    started_at: exampleTime,
    ended_at: null,
    time_entry_id: null,
    created_at: exampleTime,
    updated_at: exampleTime,
  });
