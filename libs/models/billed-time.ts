// Whether time was billed on an invoice that is out of the house: such time cannot be changed any more.
import type { Session } from '../mongo.ts';
import { Invoice } from './invoice.ts';
import { findAllWith, findOwn } from './records.ts';
import type { Id, StoredId } from './tenant.ts';
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
  const billed = await findAllWith(TimeEntry, accountId, { task_id: taskId, invoice_id: { $ne: null } }, session);
  const ids = new Map(billed.map((entry) => [String(entry.invoice_id), entry]));
  for (const entry of ids.values()) {
    if (await isIssued(accountId, entry, session)) return true;
  }
  return false;
}
