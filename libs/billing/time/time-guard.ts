// Guards time that is billed or settled: every way to bill, change or delete an entry passes one of these.
import { appError } from '../../errors.ts';
import { Invoice } from '../../models/billing/invoice.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import { driverOf, findOwn, hasOwn } from '../../models/records.ts';
import { type Id, type StoredId, storedId } from '../../models/tenant.ts';
import type { ProjectBilling } from '../../models/time/project.ts';
import { TimeEntry, type TimeEntryRecord } from '../../models/time/time-entry.ts';
import { Timer, type TimerRecord } from '../../models/time/timer.ts';
import type { Session } from '../../mongo/connection.ts';
import { requireUnbilled, TIME } from '../work/work-records.ts';

/** Fields that may change while the time is on a draft: nothing is computed from them. */
const FREE_ON_DRAFT: readonly string[] = ['description'];

/**
 * Checks that an entry may be changed.
 * @param changed the fields with new values. Absent for a deletion.
 * @throws AppError 409 when the entry is on an invoice, or settled.
 */
export async function requireFree(
  entry: Pick<TimeEntryRecord, 'invoice_id' | 'settled'>,
  accountId: Id,
  { session, changed }: { session: Session; changed?: readonly string[] },
): Promise<void> {
  if (entry.settled) throw appError('time_entry_settled');
  const invoice = entry.invoice_id && (await findOwn(Invoice, accountId, entry.invoice_id, session));
  if (!invoice) return;
  if (invoice.status !== 'Draft') throw appError('time_entry_issued');
  if (changed?.every((name) => FREE_ON_DRAFT.includes(name))) return;
  const number = printedNumber('invoice', invoice);
  throw appError('time_entry_on_draft', { number });
}

/** Checks that an entry can be put on an invoice. @throws AppError 409 with the reason. */
export async function requireBillable(
  entry: Pick<TimeEntryRecord, 'invoice_id' | 'settled' | 'billable'>,
  accountId: Id,
  session: Session,
): Promise<void> {
  await requireUnbilled(TIME, entry, { accountId, session });
  if (entry.billable === false) throw appError('time_entry_not_billable');
}

/**
 * Checks that a task may be deleted along with its time.
 * @throws AppError 409 when some of it is on an invoice, or settled.
 */
export async function requireFreeTask(accountId: Id, taskId: StoredId, session: Session): Promise<void> {
  const filter = { account_id: storedId(accountId), task_id: taskId, invoice_id: { $ne: null } };
  const invoices = await driverOf(TimeEntry)
    .aggregate<{ _id: StoredId }>([{ $match: filter }, { $group: { _id: '$invoice_id' } }], { session })
    .toArray();
  for (const { _id: id } of invoices) {
    const invoice = await findOwn(Invoice, accountId, id, session);
    if (!invoice) continue;
    if (invoice.status !== 'Draft') throw appError('task_time_issued');
    const number = printedNumber('invoice', invoice);
    throw appError('task_time_on_draft', { number });
  }
  if (await hasOwn(TimeEntry, accountId, { task_id: taskId, settled: { $ne: null } }, session)) {
    throw appError('task_time_settled');
  }
}

/** Checks for running timers. @param filter of a project or a task. @throws AppError 409 while a timer runs on it. */
export async function requireNoTimer(
  accountId: Id,
  filter: Partial<Pick<TimerRecord, 'project_id' | 'task_id'>>,
  { action, session }: { action: 'delete_a_project' | 'delete_a_task' | 'move_a_task'; session: Session },
): Promise<void> {
  if (await hasOwn(Timer, accountId, { ...filter, status: 'running' }, session)) {
    throw appError('timer_running_on_record', { action });
  }
}

/** Checks that a project is paid by the hour. @throws AppError 409 for another one. */
export function requireHourly(billing: ProjectBilling | undefined): void {
  if (billing === 'fixed') throw appError('time_entry_covered');
  if (billing === 'none') throw appError('time_entry_not_billable');
}
