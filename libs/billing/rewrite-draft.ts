// Gives a draft other lines, and the sums that follow from them.
import { documentSearch } from '../models/billing/document-search.ts';
import { Invoice, type InvoiceRecord } from '../models/billing/invoice.ts';
import { changeOwn } from '../models/records.ts';
import { invoiceMoney } from './document-money.ts';
import type { UnitOfWork } from './unit-of-work.ts';

export async function rewritten(
  { session }: UnitOfWork,
  invoice: InvoiceRecord,
  { line_items, time, expenses }: Pick<InvoiceRecord, 'line_items' | 'time' | 'expenses'>,
): Promise<InvoiceRecord> {
  const { currency, tax_rate } = invoice;
  const money = invoiceMoney({ currency, tax_rate, line_items, amount: 0 });
  const changes: Partial<InvoiceRecord> = { ...money, time, expenses };
  changes.search = documentSearch({ ...invoice, ...changes });
  return changeOwn(Invoice, invoice, changes, session);
}
