// An occurrence of a recurring invoice that was made or skipped. Its unique index keeps two schedulers from billing an
// occurrence twice.
import type { ListingOf } from '../list-indexes.ts';
import { recordSchema } from '../record-schema.ts';
import { recordsOf, type Stamped } from '../records.ts';
import { idField, requiredIdField, type StoredId } from '../tenant.ts';

export interface RecurringRunRecord extends Stamped {
  recurring_id: StoredId;
  /** The number of the occurrence, from 0, over all schedules that the recurring invoice had. */
  occurrence: number;
  /** The day on which it was due, `YYYY-MM-DD`. */
  due_on: string;
  /** The first day of the period, `YYYY-MM-DD`. Absent when it is `due_on`. */
  period_from?: string | undefined;
  period_to: string;
  /** Absent when there was nothing to bill, or the draft was deleted. */
  invoice_id?: StoredId | undefined;
  invoice_number?: string | undefined;
}

export const recurringRunListing: ListingOf<RecurringRunRecord, 'occurrence' | 'created_at' | 'updated_at'> = {
  filters: ['recurring_id'],
  orders: { occurrence: 'occurrence', created_at: '_id', updated_at: 'updated_at' },
  standard: '-occurrence',
};

const runSchema = recordSchema<RecurringRunRecord>(
  'recurring_runs',
  {
    recurring_id: requiredIdField,
    occurrence: { type: Number, required: true },
    due_on: { type: String, required: true },
    period_from: String,
    period_to: { type: String, required: true },
    invoice_id: idField,
    invoice_number: String,
  },
  recurringRunListing,
);
runSchema.index({ account_id: 1, recurring_id: 1, occurrence: 1 }, { unique: true });

export const RecurringRun = recordsOf<RecurringRunRecord>('RecurringRun', runSchema);

/** Returns the occurrence in the form of the API. */
export function recurringRunView(run: RecurringRunRecord) {
  return {
    id: String(run._id),
    occurrence: run.occurrence + 1,
    due_on: run.due_on,
    period_from: run.period_from ?? run.due_on,
    period_to: run.period_to,
    invoice: run.invoice_id ? { id: String(run.invoice_id), invoice_number: run.invoice_number ?? '' } : null,
    created_at: run.created_at.toISOString(),
  };
}
