// Input of time entries.

import Joi from 'joi';
import type { GivenTime } from '#libs/billing/time/entry-time.ts';
import { refuse } from '#libs/input/joi-problems.ts';
import { day, moment, name, text, uuid } from '#libs/input/kinds.ts';
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
import { exampleId } from '#libs/responses/example-ids.ts';
import { hourlyRateInput, memberInput } from '../fields/billing-input.ts';
import { asGiven, HOURS_FORMS, hours } from '../fields/hours-input.ts';
import { byMember } from '../fields/time-input.ts';
import { workFilters } from '../fields/work-filters.ts';
import { byId, listOf, oneByOne } from '../http/list.ts';

export interface NewTimeEntry extends GivenTime {
  project_id: Id;
  task_id?: Id | null;
  description?: string | null;
  hourly_rate?: number | null;
  billable?: boolean | null;
  member?: string | null;
}

export type TimeEntryChanges = Partial<NewTimeEntry>;

const hoursOfEntry = (text: string) =>
  asGiven(hours().positive().max(ENTRY_HOURS_LIMIT).custom(atLeastOneSecond)).description(`${text}. ${HOURS_FORMS}`);
const WITH_TIMES = 'Of time with `started_at` only together with the times, or when these become null';
const optional = {
  description: text().allow(null, ''),
  hourly_rate: hourlyRateInput().description("Unless given, the task's"),
  billable: Joi.boolean().allow(null).description("Unless given, the task's, else true"),
  member: memberInput().allow(null).description('Who did the work: a name or an id of your own'),
  started_at: moment().allow(null).description('When the work began, with time and zone; needs `ended_at`'),
  ended_at: moment().allow(null).description('When the work ended, as `started_at`'),
};

/** A reference to `started_at` from the root of the body. A relative one would change the published order of the fields. */
const STARTED_AT = '/started_at';
const UNLESS_TIMED = { is: Joi.any().invalid(null).required(), otherwise: Joi.required() };

/** @param startedAt refers to `started_at` from where the fields stand. */
const fieldsOfNew = (startedAt: string) => ({
  project_id: uuid().required(),
  hours: hoursOfEntry('May be left out where `started_at` and `ended_at` are given')
    .when(startedAt, UNLESS_TIMED)
    .meta({ isRequired: true }),
  date: day()
    .description("May be left out where `started_at` is given: its day in the account's time zone")
    .when(startedAt, UNLESS_TIMED)
    .meta({ isRequired: true }),
  task_id: uuid().allow(null),
  ...optional,
});

export const newTimeEntry = Joi.object<NewTimeEntry, true>(fieldsOfNew(STARTED_AT)).example({
  project_id: exampleId.projects,
  task_id: exampleId.tasks,
  hours: 2.25,
  date: '2026-11-02',
  description: 'Mill, first sheet',
});

/** A month of a person, or a day of an agency. A larger number takes several batches. */
export const BATCH_ENTRIES_MAX = 200;
const EXTERNAL_ID_LONGEST = 200;

export interface BatchedTimeEntry extends NewTimeEntry {
  external_id?: string | null;
}

export interface NewTimeBatch {
  time_entries: BatchedTimeEntry[];
}

const batchedTimeEntry = Joi.object<BatchedTimeEntry, true>({
  ...fieldsOfNew('started_at'),
  external_id: name()
    .max(EXTERNAL_ID_LONGEST)
    .allow(null)
    .description('The id in the system that it comes from. An entry is logged once for it'),
}).meta({ schema: 'TimeEntryToLog' });

export const newTimeBatch = Joi.object<NewTimeBatch, true>({
  time_entries: Joi.array()
    .items(batchedTimeEntry)
    .min(1)
    .max(BATCH_ENTRIES_MAX)
    .unique('external_id', { ignoreUndefined: true })
    .required()
    .messages({ 'array.unique': '{{#label}} has the external_id of time_entries[{{#dupePos}}]' })
    .description('The entries to log. All of them are logged, or none'),
}).example({
  time_entries: [
    {
      project_id: exampleId.projects,
      hours: 2.25,
      date: '2026-11-02',
      description: 'Mill, first sheet',
      external_id: 'toggl-3141592653',
    },
  ],
});

export const timeEntryChanges = Joi.object<TimeEntryChanges, true>({
  project_id: uuid().description('A project of the same client'),
  task_id: uuid().allow(null).description('A task of the project; required with another project, unless it has none'),
  hours: hoursOfEntry(WITH_TIMES),
  date: day().description(WITH_TIMES),
  ...optional,
}).example({ hours: 2.5 });

/** Totals are whole seconds: less would count as nothing. */
function atLeastOneSecond(hours: number, helpers: Joi.CustomHelpers) {
  return hours <= 0 || secondsOf(hours) > 0
    ? hours
    : refuse(helpers, 'less_than_a_second', '{{#label}} must be at least one second');
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
      input: Joi.boolean().description('Only time that is billable, or only time that is not'),
      // Time is billable unless it says that it is not.
      where: (billable: boolean) => oneByOne({ billable: billable ? { $ne: false } : false }),
    },
  },
  ['project_id', 'task_id', 'date_from', 'date_to', 'client_id', 'invoice_id', 'billing', 'billable'],
);
