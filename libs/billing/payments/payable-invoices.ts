// Finds the invoices that money can be put on: the named ones, or those of a client that are due.
import { appError, fieldProblem } from '../../errors.ts';
import { Invoice, type InvoiceRecord } from '../../models/billing/invoice.ts';
import { WITHOUT_ISSUER } from '../../models/billing/parties.ts';
import { CHANGED_MAX_BYTES, readWithin } from '../../models/read-within.ts';
import { driverOf } from '../../models/records.ts';
import { sizeOf } from '../../models/stored-bytes.ts';
import { type Id, type StoredId, storedId } from '../../models/tenant.ts';
import { dueOf } from '../../rules/money/balance.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/** The number of invoices that are read at a time. Most payments are for a few, and records are large. */
const BATCH = 10;

/**
 * Returns the invoices in the order of `ids`, without their issuer.
 * @throws AppError 404 when one is not the account's, 409 when they are too large together.
 */
export async function findInvoices({ accountId, session }: UnitOfWork, ids: readonly Id[]): Promise<InvoiceRecord[]> {
  if (ids.length === 0) return [];
  const wanted = { account_id: storedId(accountId), _id: { $in: ids.map(storedId) } };
  const batchSize = Math.min(ids.length + 1, BATCH);
  const found = await readWithin<InvoiceRecord>(
    driverOf(Invoice).find(wanted, { session, batchSize, projection: WITHOUT_ISSUER }),
    'invoices',
  );
  const byId = new Map(found.map((record) => [String(record._id), record]));
  return ids.map((id) => {
    const invoice = byId.get(id);
    if (!invoice) throw appError('invoice_not_found');
    return invoice;
  });
}

/**
 * Checks that money can be put on the invoice.
 * @throws AppError 409 for a draft, a cancelled invoice or another currency, 400 for an invoice of another client.
 */
export function requirePayable(
  invoice: InvoiceRecord,
  { currency, client_id }: { currency: string; client_id: StoredId },
): void {
  if (!invoice.client_id.equals(client_id)) {
    throw fieldProblem('invoice_id', 'of_other_client', { records: 'an_invoice' });
  }
  if (invoice.status === 'Draft') throw appError('invoice_is_draft');
  if (invoice.status === 'Cancelled') throw appError('invoice_cancelled');
  if (invoice.currency !== currency) {
    throw appError('invoice_currency_differs', { invoice_currency: invoice.currency, currency });
  }
}

/**
 * Spreads an amount over the client's invoices, oldest due date first.
 * @returns at most `most` parts, and at most as many as one transaction changes. The rest of the amount is credit.
 */
export async function oldestDue(
  { accountId, session }: UnitOfWork,
  { client_id, currency, amount, most }: { client_id: StoredId; currency: string; amount: number; most: number },
): Promise<{ invoice: InvoiceRecord; amount: number }[]> {
  const open = driverOf(Invoice).find(
    { account_id: storedId(accountId), client_id, status: { $in: ['Sent', 'Overdue'] }, currency } as object,
    { session, sort: { due_date: 1, _id: 1 }, batchSize: BATCH, hint: OPEN_INVOICES, projection: WITHOUT_ISSUER },
  );
  const parts: { invoice: InvoiceRecord; amount: number }[] = [];
  let left = amount;
  let bytes = 0;
  for await (const record of open) {
    bytes += sizeOf(record);
    if (left === 0 || parts.length === most || bytes > CHANGED_MAX_BYTES) break;
    const invoice = record as unknown as InvoiceRecord;
    const part = Math.min(dueOf(invoice), left);
    if (part > 0) parts.push({ invoice, amount: part });
    left -= part;
  }
  return parts;
}

/** The index of the model along which the open invoices of a client are found. */
export const OPEN_INVOICES = { account_id: 1, client_id: 1, status: 1, due_date: 1, _id: 1 } as const;
