// What a caller may send about time entries.

import Joi from 'joi';
import { ENTRY_HOURS_LIMIT } from '#libs/models/accounts/account.ts';
import type { Id } from '#libs/models/tenant.ts';
import {
  BILLING_STATES,
  secondsOf,
  TimeEntry,
  type TimeEntryRecord,
  timeEntryListing,
  UNBILLED,
} from '#libs/models/time/time-entry.ts';
import { hourlyRateInput, memberInput } from '../fields/billing-input.ts';
import { exampleId } from '../fields/example-ids.ts';
import { day, text, uuid } from '../fields/input-fields.ts';
import { number } from '../fields/number-input.ts';
import { byMember } from '../fields/time-input.ts';
import { workFilters } from '../fields/work-filters.ts';
import { byId, listOf, oneByOne } from '../http/list.ts';

export interface NewTimeEntry {
  project_id: Id;
  hours: number;
  date: string;
  task_id?: Id | null;
  description?: string | null;
  hourly_rate?: number | null;
  billable?: boolean | null;
  member?: string | null;
}

export type TimeEntryChanges = Partial<NewTimeEntry>;

const hours = () => number().positive().max(ENTRY_HOURS_LIMIT).custom(atLeastOneSecond);
const optional = {
  description: text().allow(null, ''),
  hourly_rate: hourlyRateInput().description("Unless given, the task's"),
  billable: Joi.boolean().allow(null).description("Unless given, the task's, else true"),
  member: memberInput().allow(null).description('Who did the work: a name or an id of your own'),
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
  project_id: uuid().description('A project of the same client'),
  task_id: uuid().allow(null).description('A task of the project; required with another project, unless it has none'),
  hours: hours(),
  date: day(),
  ...optional,
}).example({ hours: 2.5 });

/** Totals are whole seconds: less would count as nothing. */
function atLeastOneSecond(hours: number, { message }: Joi.CustomHelpers) {
  return hours <= 0 || secondsOf(hours) > 0 ? hours : message({ custom: '{{#label}} must be at least one second' });
}

const work = workFilters({ states: BILLING_STATES, unbilled: UNBILLED, onInvoice: 'time', coveredBy: ['fixed'] });

export const timeEntryList = listOf<TimeEntryRecord>(
  TimeEntry,
  timeEntryListing,
  {
    ...work,
    task_id: byId('task_id'),
    member: byMember,
    billable: {
      input: Joi.boolean(),
      // Time is billable unless it says that it is not.
      where: (billable: boolean) => oneByOne({ billable: billable ? { $ne: false } : false }),
    },
  },
  ['project_id', 'task_id', 'date_from', 'date_to', 'client_id', 'invoice_id', 'billing', 'billable'],
);
