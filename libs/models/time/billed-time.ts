// Whether time was billed on an invoice that is out of the house: such time cannot be changed any more.
import type { Session } from '../../mongo/connection.ts';
import { Invoice } from '../billing/invoice.ts';
import { driverOf, findOwn } from '../records.ts';
import { type Id, type StoredId, storedId } from '../tenant.ts';
import { TimeEntry, type TimeEntryRecord } from './time-entry.ts';

/** True when the entry is on an invoice that is no draft. */
export async function isIssued(
  accountId: Id,
  entry: Pick<TimeEntryRecord, 'invoice_id'>,
  session: Session,
): Promise<boolean> {
  if (!entry.invoice_id) return false;
  const invoice = await findOwn(Invoice, accountId, entry.invoice_id, session);
  return invoice !== null && invoice.status !== 'Draft';
}

/** True when any time of the task is. */
export async function hasIssuedTime(accountId: Id, taskId: StoredId, session: Session): Promise<boolean> {
  const filter = { account_id: storedId(accountId), task_id: taskId, invoice_id: { $ne: null } };
  const ids: StoredId[] = await driverOf(TimeEntry).distinct('invoice_id', filter, { session });
  for (const invoice_id of ids) {
    if (await isIssued(accountId, { invoice_id }, session)) return true;
  }
  return false;
}
