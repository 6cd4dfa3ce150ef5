// What the list of time entries can be filtered by.
import { type Id, storedId } from '#libs/models/tenant.ts';
import { UNBILLED } from '#libs/models/time/time-entry.ts';
import { workFilter } from '../fields/work-filter.ts';
import type { TimeEntryQuery } from './input.ts';

/** @returns undefined when no entry can match. */
export function timeEntryFilter(accountId: Id, query: TimeEntryQuery): Promise<Record<string, unknown> | undefined> {
  const { task_id, billable } = query;
  return workFilter(accountId, query, {
    unbilled: UNBILLED,
    onInvoice: 'time',
    coveredBy: ['fixed'],
    indexed: task_id ? { task_id: storedId(task_id) } : {},
    // Time is billable unless it says that it is not.
    residual: billable === undefined ? [] : [{ billable: billable ? { $ne: false } : false }],
  });
}
