// Recurring invoices that make no invoices.
import { dayIn } from '../../day.ts';
import { RecurringInvoice, type RecurringInvoiceRecord } from '../../models/billing/recurring-invoice.ts';
import { COUNTED, counted, type Forgotten, type Look } from './forgotten.ts';

export async function pausedRecurringInvoices({ reader, account: { time_zone } }: Look): Promise<Forgotten> {
  const found = await reader.find<RecurringInvoiceRecord>(
    RecurringInvoice,
    { status: 'Paused' },
    {
      projection: { updated_at: 1 },
      sort: { updated_at: 1 },
      hint: { account_id: 1, status: 1, updated_at: 1, _id: 1 },
      ...COUNTED,
    },
  );
  return counted(found, ({ _id, updated_at }) => ({ id: _id, day: dayIn(time_zone, updated_at) }));
}

/** Finds recurring invoices whose due occurrence could not be made. */
export async function failedRecurringInvoices({ reader, today }: Look): Promise<Forgotten> {
  const found = await reader.find<RecurringInvoiceRecord>(
    RecurringInvoice,
    { status: 'Active', next_on: { $lte: today }, last_error: { $ne: null } },
    {
      projection: { next_on: 1 },
      sort: { next_on: 1 },
      hint: { account_id: 1, status: 1, next_on: 1, _id: 1 },
      ...COUNTED,
    },
  );
  return counted(found, ({ _id, next_on = today }) => ({ id: _id, day: next_on }));
}
