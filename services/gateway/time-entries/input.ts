// What a caller may send about time entries.
import Joi from 'joi';
import type { Id } from '#libs/models/tenant.ts';
import { timeEntryListing } from '#libs/models/time-entry.ts';
import { exampleId } from '../http/example-ids.ts';
import { type ListQuery, listQuery } from '../http/page.ts';
import { day, text, uuid } from '../http/read-input.ts';

export interface NewTimeEntry {
  project_id: Id;
  hours: number;
  date: string;
  task_id?: Id | null;
  description?: string | null;
  hourly_rate?: number | null;
}

export type TimeEntryChanges = Partial<Omit<NewTimeEntry, 'project_id' | 'task_id'>>;

export interface TimeEntryQuery extends ListQuery {
  project_id?: Id;
  task_id?: Id;
  date_from?: string;
  date_to?: string;
}

/** More than a century: a total in seconds stays a whole number that a double holds exactly. */
const HOURS_MAX = 1_000_000;
const RATE_MAX = 1_000_000_000;

const hours = () => Joi.number().positive().max(HOURS_MAX);
const optional = {
  description: text().allow(null, ''),
  hourly_rate: Joi.number().min(0).max(RATE_MAX).allow(null).description("Unless given, the task's"),
};

export const newTimeEntry = Joi.object<NewTimeEntry, true>({
  project_id: uuid().required(),
  hours: hours().required(),
  date: day().required(),
  task_id: uuid().allow(null),
  ...optional,
}).example({
  project_id: exampleId.projects,
  task_id: exampleId.tasks,
  hours: 2.25,
  date: '2026-11-02',
  description: 'Mill, first sheet',
});

export const timeEntryChanges = Joi.object<TimeEntryChanges, true>({
  hours: hours(),
  date: day(),
  ...optional,
}).example({ hours: 2.5 });

export const timeEntryQuery = Joi.object<TimeEntryQuery>({
  project_id: uuid(),
  task_id: uuid(),
  date_from: day().description('Entries of this day or later'),
  date_to: day().description('Entries of this day or earlier'),
  ...listQuery(timeEntryListing),
});
