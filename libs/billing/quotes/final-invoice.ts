// The final invoice of a quote. Its deductions for earlier parts are compared when it is sent, and recalculated on
// request.
import { appError } from '../../errors.ts';
import { readAccount } from '../../models/accounts/account.ts';
import type { InvoiceRecord, QuoteDeduction } from '../../models/billing/invoice.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import { Quote } from '../../models/billing/quote.ts';
import { billedSum, invoicesOfQuotes, type QuoteInvoice } from '../../models/billing/quote-invoices.ts';
import { lockOwn } from '../../models/records.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { requireLines } from '../work/time-line-links.ts';
import { finalLines } from './quote-lines.ts';

/** Returns the deduction of a final invoice for each earlier part. They are compared when it is sent, and its e-invoice names them. */
export function deductedOf(parts: readonly QuoteInvoice[]): QuoteDeduction[] {
  return parts.map((one) => ({
    invoice_id: one._id,
    number: printedNumber('invoice', one),
    ...(one.issue_date ? { issued_on: one.issue_date } : {}),
    amount: billedSum(one),
  }));
}

/** Returns the other parts of the quote of a final invoice. */
async function partsBeside(unit: UnitOfWork, { _id, quote_id }: InvoiceRecord): Promise<QuoteInvoice[]> {
  if (!quote_id) return [];
  const all = await invoicesOfQuotes([quote_id], unit.accountId, unit.session);
  return (all.get(String(quote_id)) ?? []).filter((one) => !one._id.equals(_id));
}

/**
 * Checks the parts when the final invoice is sent. The quote is announced in the same transaction, which serves as its row lock.
 * @throws AppError 409 that names the part, when one has another amount than the draft takes off.
 */
export async function requireDeductionsKept(unit: UnitOfWork, invoice: InvoiceRecord): Promise<void> {
  if (!invoice.quote_deducted) return;
  const parts = deductedOf(await partsBeside(unit, invoice));
  const before = new Map(invoice.quote_deducted.map((one) => [String(one.invoice_id), one]));
  const now = new Map(parts.map((one) => [String(one.invoice_id), one]));
  const changed = [...before.values(), ...parts].find(
    ({ invoice_id }) => before.get(String(invoice_id))?.amount !== now.get(String(invoice_id))?.amount,
  );
  if (!changed) return;
  const number = printedNumber('invoice', invoice);
  throw appError('final_invoice_outdated', { number, changed: changed.number });
}

/**
 * Returns the lines of a draft final invoice, made anew.
 * @throws AppError 409 when it is none, or nothing is left to bill.
 */
export async function recalculatedFinal(
  unit: UnitOfWork,
  invoice: InvoiceRecord,
): Promise<Pick<InvoiceRecord, 'line_items' | 'quote_deducted'>> {
  const { quote_id, quote_part, status } = invoice;
  if (!quote_id || quote_part !== 'final' || status !== 'Draft') {
    throw appError('not_final_draft');
  }
  const account = await readAccount(unit.accountId, unit.session);
  const quote = await lockOwn(Quote, unit.accountId, String(quote_id), unit.session);
  if (!quote) throw appError('final_invoice_without_quote');
  const parts = await partsBeside(unit, invoice);
  const line_items = finalLines(quote, parts, account);
  requireLines(line_items.length);
  return { line_items, quote_deducted: deductedOf(parts) };
}
