// A timer that measures time. It becomes a time entry when it stops, so that no entry is ever without hours.

import { sameName } from '../../search-text.ts';
import type { ListingOf } from '../list-indexes.ts';
import { recordSchema } from '../record-schema.ts';
import { recordsOf, type Stamped } from '../records.ts';
import { COUNTED_BY_STATUS } from '../status-filter.ts';
import { idField, requiredIdField, type StoredId } from '../tenant.ts';
import { embeddedProject, type ProjectDetails } from './project.ts';
import type { TaskRecord } from './task.ts';

const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;

export const TIMER_STATUSES = ['running', 'stopped'] as const;

export type TimerStatus = (typeof TIMER_STATUSES)[number];

export interface TimerRecord extends Stamped {
  /** The owner of the measured time: any text. Defaults to the id of the key that started the timer. */
  owner: string;
  /** The form in which owners are compared, see ownerKey. */
  owner_key: string;
  project_id: StoredId;
  task_id: StoredId | null;
  description: string | null;
  /** The member of the time entry that the timer becomes. */
  member?: string | null;
  status: TimerStatus;
  started_at: Date;
  /** The end and the entry of a stopped timer. */
  ended_at?: Date;
  time_entry_id?: StoredId;
}

export const timerListing: ListingOf<TimerRecord, 'created_at' | 'updated_at'> = {
  filters: ['owner_key', 'project_id', 'status'],
  orders: { created_at: '_id', updated_at: 'updated_at' },
  standard: '-created_at',
};

const timerSchema = recordSchema<TimerRecord>(
  'timers',
  {
    owner: { type: String, required: true },
    owner_key: { type: String, required: true },
    project_id: requiredIdField,
    task_id: idField,
    description: String,
    member: String,
    status: { type: String, enum: TIMER_STATUSES, required: true },
    started_at: { type: Date, required: true },
    ended_at: Date,
    time_entry_id: idField,
  },
  timerListing,
);
// An owner has one running timer.
timerSchema.index({ account_id: 1, owner_key: 1 }, { unique: true, partialFilterExpression: { status: 'running' } });
// A timer stops once, and is removed with its entry.
timerSchema.index(
  { account_id: 1, time_entry_id: 1 },
  { unique: true, partialFilterExpression: { status: 'stopped' } },
);

export const Timer = recordsOf<TimerRecord>('Timer', timerSchema, COUNTED_BY_STATUS);

/** Returns the compared form of an owner. It ignores case, width and form of characters, and invisible characters. */
export function ownerKey(owner: string): string {
  return sameName(owner.replaceAll(INVISIBLE, ''));
}

/**
 * Returns the timer in the form of the API. Its running time is left out, because that changes without a change of the
 * record.
 */
export function timerView(
  timer: TimerRecord,
  project: ProjectDetails | undefined,
  task: Pick<TaskRecord, '_id' | 'name'> | undefined,
) {
  return {
    id: String(timer._id),
    owner: timer.owner,
    status: timer.status,
    project: project ? embeddedProject(project) : null,
    task_id: timer.task_id ? String(timer.task_id) : null,
    task: task ? { id: String(task._id), name: task.name } : null,
    description: timer.description,
    member: timer.member ?? null,
    started_at: timer.started_at.toISOString(),
    ended_at: timer.ended_at?.toISOString() ?? null,
    time_entry_id: timer.time_entry_id ? String(timer.time_entry_id) : null,
    created_at: timer.created_at.toISOString(),
    updated_at: timer.updated_at.toISOString(),
  };
}
