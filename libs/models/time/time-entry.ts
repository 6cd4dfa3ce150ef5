// Time worked on a project, optionally on one of its tasks.
import { RATE_SOURCES, type RateSource } from '../../rules/time/hourly-rate.ts';
import type { ListingOf } from '../list-indexes.ts';
import { COUNTED_TOGETHER } from '../record-counts.ts';
import { recordSchema } from '../record-schema.ts';
import { recordsOf, type Stamped } from '../records.ts';
import { type Id, idField, requiredIdField, type StoredId } from '../tenant.ts';
import { embeddedProject, type ProjectDetails } from './project.ts';
import type { TaskRecord } from './task.ts';

/** Time that is on no invoice and shall not be: billed elsewhere, or free of charge. */
export const SETTLEMENTS = ['billed_elsewhere', 'written_off'] as const;

export type Settlement = (typeof SETTLEMENTS)[number];

/** What became of time. Derived from the entry and its invoice, never stored. */
export const BILLING_STATES = ['unbilled', 'on_draft', 'billed', ...SETTLEMENTS, 'covered', 'not_billable'] as const;

export type BillingState = (typeof BILLING_STATES)[number];

export interface TimeEntryRecord extends Stamped {
  project_id: StoredId;
  task_id: StoredId | null;
  hours: number;
  /** hours × 3600, whole: what the task's total is summed from. */
  seconds: number;
  /** Given by the caller, or that of the task. */
  hourly_rate: number | null;
  /** Settled when it was logged, see settle-rate.ts; absent when no rate was set anywhere, as the next. */
  rate?: number | undefined;
  /** Where it came from; `entry` when the caller gave it. */
  rate_from?: RateSource | undefined;
  /** `YYYY-MM-DD`. */
  date: string;
  description: string | null;
  /** Who did the work: a name or an id of the caller's own. */
  member?: string | null;
  /** True unless it is false. */
  billable?: boolean;
  /** The invoice it was billed on. The next three are set with it. */
  invoice_id?: StoredId | null;
  /** Of the invoice's `time`. */
  billed_line?: number;
  billed_rate?: number;
  /** Absent when no rate was set anywhere, and it was billed at 0. */
  billed_rate_from?: RateSource;
  settled?: Settlement | null;
  /** Of time that a timer measured. */
  started_at?: Date;
  ended_at?: Date;
}

/** Billing walks it. */
export const UNBILLED_INDEX = { account_id: 1, invoice_id: 1, project_id: 1, date: 1 } as const;

/** What may be billed: it is on no invoice, not settled, and billable. */
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
    settled: { type: String, enum: SETTLEMENTS },
    started_at: Date,
    ended_at: Date,
  },
  timeEntryListing,
);

// What could be billed: along it a client's unbilled time is found among a million entries.
timeEntrySchema.index(UNBILLED_INDEX);

export const TimeEntry = recordsOf<TimeEntryRecord>('TimeEntry', timeEntrySchema, COUNTED_TOGETHER);

/** The fields of every response about a time entry; the response to an update has no others. */
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

/** What is known of an entry's way to an invoice. */
export interface EntryBilling {
  /** What was settled; null until it is billed when none was. */
  rate: number | null;
  rate_from: RateSource | null;
  invoice: { id: Id; invoice_number: string | null } | null;
  billing: BillingState;
}

/** The time entry as it is read, listed and announced. */
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
  };
}

/** hours × 3600, to the nearest second. */
export function secondsOf(hours: number): number {
  return Math.round(hours * 3600);
}
