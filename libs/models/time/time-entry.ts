// Time worked on a project, optionally on one of its tasks.
import { RATE_SOURCES, type RateSource } from '../../rules/time/hourly-rate.ts';
import { SECONDS_PER_HOUR } from '../../rules/time/time-rounding.ts';
import type { ListingOf } from '../list-indexes.ts';
import { COUNTED_TOGETHER } from '../record-counts.ts';
import { recordSchema } from '../record-schema.ts';
import { recordsOf, type Stamped } from '../records.ts';
import { type Id, idField, requiredIdField, type StoredId } from '../tenant.ts';
import { embeddedProject, type ProjectDetails } from './project.ts';
import type { TaskRecord } from './task.ts';

/** The ways to settle time that is not to be invoiced: it was billed elsewhere, or it is free of charge. */
export const WORK_SETTLEMENTS = ['billed_elsewhere', 'written_off'] as const;

export type WorkSettlement = (typeof WORK_SETTLEMENTS)[number];

/** The states of time on its way to an invoice. They follow from the entry and its invoice, and are never stored. */
export const BILLING_STATES = [
  'unbilled',
  'on_draft',
  'billed',
  ...WORK_SETTLEMENTS,
  'covered',
  'not_billable',
] as const;

export type BillingState = (typeof BILLING_STATES)[number];

export interface TimeEntryRecord extends Stamped {
  project_id: StoredId;
  task_id: StoredId | null;
  hours: number;
  /** The decimals of the hours as the caller gave them. Absent when the hours are exact: measured, or written in minutes. */
  hours_decimals?: number | undefined;
  /** hours × 3600, a whole number. The task's total is the sum of these. */
  seconds: number;
  /** The rate that the caller gave, or that of the task. */
  hourly_rate: number | null;
  /**
   * The rate that applied when the entry was logged, see settle-rate.ts. This field and the next are absent when no
   * rate was set anywhere.
   */
  rate?: number | undefined;
  /** The level that set the rate. `entry` when the caller gave it. */
  rate_from?: RateSource | undefined;
  /** `YYYY-MM-DD`. */
  date: string;
  description: string | null;
  /** The person who did the work: a name, or an id of the caller's own. */
  member?: string | null;
  /** Absent means true. */
  billable?: boolean;
  /** The invoice that bills the entry. The next three fields are set with it. */
  invoice_id?: StoredId | null;
  /** The id of the line in the invoice's `time`. */
  billed_line?: number;
  billed_rate?: number;
  /** Absent when no rate was set anywhere, and the entry was billed at 0. */
  billed_rate_from?: RateSource;
  settled?: WorkSettlement | null;
  /** The start and end of measured time: both or none. Hours and date follow from them. */
  started_at?: Date | undefined;
  ended_at?: Date | undefined;
  /** The id of the entry in another system. A batch logs no second entry under it. */
  external_id?: string | undefined;
}

/** The index that billing walks. */
export const UNBILLED_INDEX = { account_id: 1, invoice_id: 1, project_id: 1, date: 1 } as const;

/**
 * The index along which the follow-ups find old time and time without a rate. It tells apart what is never billed, which
 * stays without an invoice for ever, so that however much of it there is, only what is found is read.
 */
export const FORGOTTEN_TIME_INDEX = {
  account_id: 1,
  invoice_id: 1,
  settled: 1,
  billable: 1,
  date: 1,
  project_id: 1,
  rate: 1,
} as const;

/** The filter of time that may be billed: on no invoice, not settled, and billable. */
export const UNBILLED = { invoice_id: null, settled: null, billable: { $ne: false } } as const;

export const timeEntryListing: ListingOf<TimeEntryRecord, 'date' | 'created_at' | 'updated_at'> = {
  filters: ['task_id', 'project_id', 'invoice_id'],
  orders: { date: 'date', created_at: '_id', updated_at: 'updated_at' },
  standard: '-date',
  ranges: ['date'],
};

const timeEntrySchema = recordSchema<TimeEntryRecord>(
  'time_entries',
  {
    project_id: requiredIdField,
    task_id: idField,
    hours: { type: Number, required: true },
    hours_decimals: Number,
    seconds: { type: Number, required: true },
    hourly_rate: Number,
    rate: Number,
    rate_from: { type: String, enum: RATE_SOURCES },
    date: { type: String, required: true },
    description: String,
    member: String,
    billable: Boolean,
    invoice_id: idField,
    billed_line: Number,
    billed_rate: Number,
    billed_rate_from: { type: String, enum: RATE_SOURCES },
    settled: { type: String, enum: WORK_SETTLEMENTS },
    started_at: Date,
    ended_at: Date,
    external_id: String,
  },
  timeEntryListing,
);

// Along this index a client's unbilled time is found among a million entries.
timeEntrySchema.index(UNBILLED_INDEX);
timeEntrySchema.index(FORGOTTEN_TIME_INDEX);
// An entry of another system is logged once.
timeEntrySchema.index(
  { account_id: 1, external_id: 1 },
  { unique: true, partialFilterExpression: { external_id: { $exists: true } } },
);

export const TimeEntry = recordsOf<TimeEntryRecord>('TimeEntry', timeEntrySchema, COUNTED_TOGETHER);

/** Returns the fields of every response about a time entry. The response to an update has no others. */
export function timeEntryCore(entry: TimeEntryRecord) {
  return {
    id: String(entry._id),
    hours: entry.hours,
    hourly_rate: entry.hourly_rate,
    date: entry.date,
    description: entry.description,
    created_at: entry.created_at.toISOString(),
  };
}

/** The facts about an entry's way to an invoice. */
export interface EntryBilling {
  /** The rate that was settled. Null until the entry is billed when none was. */
  rate: number | null;
  rate_from: RateSource | null;
  invoice: { id: Id; invoice_number: string | null } | null;
  billing: BillingState;
}

/** Returns the form in which a time entry is read, listed and announced. */
export function timeEntryView(
  entry: TimeEntryRecord,
  project: ProjectDetails | undefined,
  task: Pick<TaskRecord, '_id' | 'name'> | undefined,
  { billing, invoice, rate, rate_from }: EntryBilling,
) {
  return {
    ...timeEntryCore(entry),
    task_id: entry.task_id ? String(entry.task_id) : null,
    task: task ? { id: String(task._id), name: task.name } : null,
    project: project ? embeddedProject(project) : null,
    member: entry.member ?? null,
    billable: entry.billable ?? true,
    billing,
    invoice,
    rate,
    rate_from,
    started_at: entry.started_at?.toISOString() ?? null,
    ended_at: entry.ended_at?.toISOString() ?? null,
    updated_at: entry.updated_at.toISOString(),
    external_id: entry.external_id ?? null,
  };
}

/** Returns hours × 3600, rounded to the nearest second. */
export function secondsOf(hours: number): number {
  return Math.round(hours * SECONDS_PER_HOUR);
}
