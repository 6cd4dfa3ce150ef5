// Time worked on a project, optionally on one of its tasks.
import type { Listing } from '../listing.ts';
import { recordSchema } from '../record-schema.ts';
import { recordsOf, type Stamped } from '../records.ts';
import { idField, requiredIdField, type StoredId } from '../tenant.ts';
import { embeddedProject, type ProjectDetails } from './project.ts';
import type { TaskRecord } from './task.ts';

export interface TimeEntryRecord extends Stamped {
  project_id: StoredId;
  task_id: StoredId | null;
  hours: number;
  /** hours × 3600, whole: what the task's total is summed from. */
  seconds: number;
  hourly_rate: number | null;
  /** `YYYY-MM-DD`. */
  date: string;
  description: string | null;
  /** The invoice it was billed on. */
  invoice_id?: StoredId | null;
}

export const timeEntryListing: Listing = {
  filters: ['task_id', 'project_id'],
  orders: { date: 'date', created_at: '_id', updated_at: 'updated_at' },
  standard: '-date',
};

const timeEntrySchema = recordSchema<TimeEntryRecord>(
  'time_entries',
  {
    project_id: requiredIdField,
    task_id: idField,
    hours: { type: Number, required: true },
    seconds: { type: Number, required: true },
    hourly_rate: Number,
    date: { type: String, required: true },
    description: String,
    invoice_id: idField,
  },
  timeEntryListing,
);

export const TimeEntry = recordsOf<TimeEntryRecord>('TimeEntry', timeEntrySchema);

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

/** The time entry as it is read, listed and announced. */
export function timeEntryView(
  entry: TimeEntryRecord,
  project: ProjectDetails | undefined,
  task: Pick<TaskRecord, '_id' | 'name'> | undefined,
) {
  return {
    ...timeEntryCore(entry),
    task_id: entry.task_id ? String(entry.task_id) : null,
    task: task ? { id: String(task._id), name: task.name } : null,
    project: project ? embeddedProject(project) : null,
    updated_at: entry.updated_at.toISOString(),
  };
}

/** hours × 3600, to the nearest second. */
export function secondsOf(hours: number): number {
  return Math.round(hours * 3600);
}
