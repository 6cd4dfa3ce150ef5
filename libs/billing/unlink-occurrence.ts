// Takes a draft that is deleted out of the recurring invoice that made it.
import type { InvoiceRecord } from '../models/billing/invoice.ts';
import { RecurringInvoice } from '../models/billing/recurring-invoice.ts';
import { RecurringRun, type RecurringRunRecord } from '../models/billing/recurring-run.ts';
import { changeOwn, driverOf, findOwn } from '../models/records.ts';
import { storedId } from '../models/tenant.ts';
import { recurringView } from './recurring-view.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** The occurrence stays as one that was made: it is not made again. */
export async function unlinkOccurrence(
  { accountId, session, announce }: UnitOfWork,
  { _id, recurring: made }: Pick<InvoiceRecord, '_id' | 'recurring'>,
): Promise<void> {
  const recurring = made && (await findOwn(RecurringInvoice, accountId, made.id, session));
  if (!recurring) return;
  const run = await driverOf(RecurringRun).findOne(
    { account_id: storedId(accountId), recurring_id: made.id, occurrence: made.occurrence - 1 } as object,
    { session },
  );
  const gone = { invoice_id: undefined, invoice_number: undefined };
  if (run) await changeOwn(RecurringRun, run as unknown as RecurringRunRecord, gone, session);
  if (!recurring.last_invoice?._id.equals(_id)) return;
  const changed = await changeOwn(RecurringInvoice, recurring, { last_invoice: undefined }, session);
  await announce('recurring_invoice.updated', await recurringView(changed, accountId, session));
}
