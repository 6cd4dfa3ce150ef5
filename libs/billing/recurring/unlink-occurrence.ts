// Removes a deleted draft from the recurring invoice that made it.
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import { RecurringInvoice, type RecurringInvoiceRecord } from '../../models/billing/recurring-invoice.ts';
import { RecurringRun, type RecurringRunRecord } from '../../models/billing/recurring-run.ts';
import { changeOwn, driverOf, findOwn } from '../../models/records.ts';
import { type StoredId, storedId } from '../../models/tenant.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { recurringView } from './recurring-view.ts';

/** Returns the invoice of the latest occurrence that has one. */
export async function lastInvoice(
  { accountId, session }: Pick<UnitOfWork, 'accountId' | 'session'>,
  recurring_id: StoredId,
): Promise<RecurringInvoiceRecord['last_invoice']> {
  const filter = { account_id: storedId(accountId), recurring_id, invoice_id: { $ne: null } };
  const run = (await driverOf(RecurringRun).findOne(filter as object, {
    session,
    sort: { occurrence: -1 },
  })) as RecurringRunRecord | null;
  return run?.invoice_id && { _id: run.invoice_id, invoice_number: run.invoice_number ?? '' };
}

/** Removes the link. The occurrence still counts as made, so the scheduler does not make it again. */
export async function unlinkOccurrence(
  unit: UnitOfWork,
  { _id, recurring: made }: Pick<InvoiceRecord, '_id' | 'recurring'>,
): Promise<void> {
  const { accountId, session, announce } = unit;
  const recurring = made && (await findOwn(RecurringInvoice, accountId, made.id, session));
  if (!recurring) return;
  const run = await driverOf(RecurringRun).findOne(
    { account_id: storedId(accountId), recurring_id: made.id, occurrence: made.occurrence - 1 } as object,
    { session },
  );
  const gone = { invoice_id: undefined, invoice_number: undefined };
  if (run) await changeOwn(RecurringRun, run as unknown as RecurringRunRecord, gone, session);
  if (!recurring.last_invoice?._id.equals(_id)) return;
  const last_invoice = await lastInvoice(unit, recurring._id);
  const changed = await changeOwn(RecurringInvoice, recurring, { last_invoice }, session);
  await announce('recurring_invoice.updated', await recurringView(changed, accountId, session));
}
