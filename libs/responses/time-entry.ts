// Response shapes of time entries.
import Joi from 'joi';
import type { timeEntryView } from '../models/time/time-entry.ts';
import { BILLING_STATES } from '../models/time/time-entry.ts';
import { RATE_SOURCES } from '../rules/time/hourly-rate.ts';
import { exampleId } from './example-ids.ts';
import {
  calendarDay,
  embeddedProject,
  embeddedTask,
  exampleProject,
  exampleTime,
  id,
  invoiceSummary,
  number,
  orNull,
  timestamp,
} from './response-fields.ts';

const core = {
  id: id(),
  hours: number(),
  hourly_rate: orNull(Joi.number()),
  date: calendarDay(),
  description: orNull(Joi.string()),
  created_at: timestamp(),
};

const exampleCore = {
  id: exampleId['time-entries'],
  hours: 2.25,
  hourly_rate: 95,
  date: '2026-11-02',
  description: 'Mill, first sheet',
  created_at: exampleTime,
};

/** The specification gives an update these fields and no others. */
export const changedTimeEntryResponse = Joi.object(core).id('ChangedTimeEntry').example(exampleCore);

/** The response to a new time entry: the specification gives it these fields and no others. */
export const createdTimeEntryResponse = Joi.object({
  ...core,
  task_id: orNull(Joi.string().guid()),
  project: embeddedProject(),
})
  .id('CreatedTimeEntry')
  .example({ ...exampleCore, task_id: exampleId.tasks, project: exampleProject });

const exampleTimeEntry = {
  ...exampleCore,
  task_id: exampleId.tasks,
  task: { id: exampleId.tasks, name: 'Drawings' },
  project: exampleProject,
  member: 'Ada Lovelace',
  billable: true,
  billing: 'unbilled',
  invoice: null,
  rate: 95,
  rate_from: 'entry',
  started_at: null,
  ended_at: null,
  updated_at: exampleTime,
  external_id: null,
};

export const timeEntryResponse = Joi.object<ReturnType<typeof timeEntryView>, true>({
  ...core,
  task_id: orNull(Joi.string().guid()),
  task: embeddedTask(),
  project: embeddedProject(),
  member: orNull(Joi.string()).description('Who did the work'),
  billable: Joi.boolean().required(),
  billing: Joi.string()
    .valid(...BILLING_STATES)
    .required()
    .description('What became of it; follows from its invoice'),
  invoice: orNull(invoiceSummary()).description('The invoice it is on'),
  rate: orNull(Joi.number()).description(
    'The hourly rate, settled when the time was logged; null when none was set: then what is set when it is billed counts',
  ),
  rate_from: orNull(Joi.string().valid(...RATE_SOURCES)).description(
    'Where that rate came from; `entry` when it was given',
  ),
  started_at: orNull(Joi.string().isoDate()).description(
    'When the work began: measured by a timer, or given. `hours` and `date` follow from it',
  ),
  ended_at: orNull(Joi.string().isoDate()),
  updated_at: timestamp(),
  external_id: orNull(Joi.string()).description('The id in the system that the entry was imported from'),
})
  .id('TimeEntry')
  .example(exampleTimeEntry);

export const timeBatchResponse = Joi.object({
  time_entries: Joi.array()
    .items(timeEntryResponse.meta({ schema: 'TimeEntry' }))
    .required()
    .description('The entries in the order of the request: new ones, and those that were there'),
  created: number().description('How many of them are new'),
})
  .id('LoggedTime')
  .example({ time_entries: [exampleTimeEntry], created: 1 });
