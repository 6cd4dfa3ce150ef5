// Invoices as the API returns them, with what they refer to and the status of today.

import { dayIn } from '#libs/day.ts';
import { embeddedIn } from '#libs/models/billing/embedded.ts';
import { type InvoiceRecord, invoiceView } from '#libs/models/billing/invoice.ts';
import type { Id } from '#libs/models/tenant.ts';
import type { Session } from '#libs/mongo/connection.ts';
import { effectiveInvoiceStatus, type InvoiceStatus } from '#libs/rules/documents/invoice-states.ts';
import type { Caller } from '../http/route.ts';

/** @param status shown instead of the status of today. */
export async function viewOf(
  invoice: InvoiceRecord,
  { accountId, account }: Pick<Caller, 'accountId' | 'account'>,
  { session, status }: { session?: Session | undefined; status?: InvoiceStatus | undefined } = {},
) {
  const today = dayIn(account.time_zone);
  const embedded = await embeddedIn([invoice], accountId, session);
  return invoiceView(invoice, { ...embedded(invoice), status: status ?? effectiveInvoiceStatus(invoice, today) });
}

/** @param today of the account. */
export async function viewsOf(invoices: InvoiceRecord[], accountId: Id, today: string) {
  const embedded = await embeddedIn(invoices, accountId);
  return invoices.map((invoice) =>
    invoiceView(invoice, { ...embedded(invoice), status: effectiveInvoiceStatus(invoice, today) }),
  );
}
