// The form in which a recurring invoice is read and announced.
import { embeddedIn } from '../../models/billing/embedded.ts';
import { type RecurringInvoiceRecord, recurringInvoiceView } from '../../models/billing/recurring-invoice.ts';
import type { Id } from '../../models/tenant.ts';
import type { Session } from '../../mongo/connection.ts';

export async function recurringViews(records: readonly RecurringInvoiceRecord[], accountId: Id, session?: Session) {
  const embedded = await embeddedIn(records, accountId, session);
  return records.map((one) => recurringInvoiceView(one, embedded(one)));
}

export async function recurringView(recurring: RecurringInvoiceRecord, accountId: Id, session?: Session) {
  const [view] = await recurringViews([recurring], accountId, session);
  return view;
}
