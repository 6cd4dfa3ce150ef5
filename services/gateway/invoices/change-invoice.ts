// Computes an invoice after a change: its amounts, and whether its status may follow the one before.

import { type ChangedTerms, isMoneyChanged } from '#libs/billing/documents/changed-tax-terms.ts';
import { changedReferences } from '#libs/billing/documents/project-of-client.ts';
import { appError, type ErrorCode } from '#libs/errors.ts';
import type { InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { changedFields } from '#libs/models/records.ts';
import { changedCharges } from '#libs/rules/documents/document-charges.ts';
import { invoiceMoney } from '#libs/rules/documents/document-money.ts';
import type { InvoiceStatus } from '#libs/rules/documents/invoice-states.ts';
import { fromMinor } from '#libs/rules/money/money.ts';
import { agreedSum } from '#libs/rules/quotes/quote-parts.ts';
import { changedDates } from '../fields/dates-input.ts';
import { storedLines } from '../fields/money-input.ts';
import { givenReferences } from '../fields/references-input.ts';
import { givenTexts } from '../fields/texts-input.ts';
import type { InvoiceChanges } from './input.ts';

/**
 * Returns the changed money, dates, client, project and description.
 * @param terms undefined unless `isTaxed`. @throws AppError 400 when the sum is no amount or a line is too large.
 */
export function changedContent(
  invoice: InvoiceRecord,
  changes: InvoiceChanges,
  terms: ChangedTerms | undefined,
): Partial<InvoiceRecord> {
  const next: Partial<InvoiceRecord> = {
    ...changedReferences(changes),
    ...changedDates(changes),
    ...givenReferences(changes),
    ...givenTexts(changes),
  };
  const { early_payment_discounts } = changes;
  if (early_payment_discounts !== undefined) {
    next.early_payment_discounts = early_payment_discounts?.length ? early_payment_discounts : undefined;
  }
  if (changes.description !== undefined) next.description = changes.description || null;
  // Untouched money is not checked again: an older version may have accepted more.
  const isUntouched = !isMoneyChanged(changes) && terms?.tax_category === invoice.tax_category;
  if (!terms || isUntouched) return next;
  const { prices_include_tax } = changes;
  const money = invoiceMoney({
    ...terms,
    // The amount of an invoice without lines stays the same, in the decimals of a new currency.
    amount: changes.amount ?? fromMinor(invoice.amount, invoice.currency),
    prices_include_tax: prices_include_tax === undefined ? invoice.prices_include_tax : Boolean(prices_include_tax),
    line_items: changes.line_items === undefined ? invoice.line_items : storedLines(changes.line_items),
    charges: changedCharges(invoice, changes),
  });
  return { ...next, ...money };
}

/**
 * Checks that the parts of a quote or of a fixed amount still add up to it. An invoice of a quote in full may have another amount, but not
 * in another currency: what it leaves to bill would be computed from both.
 * @throws AppError 409.
 */
function requirePartKept(invoice: InvoiceRecord, next: Partial<InvoiceRecord>): void {
  const { quote_part, quote_number, fixed_part } = invoice;
  if (!quote_part && !fixed_part) return;
  const mayHaveOtherAmount = quote_part === 'full';
  const locked = mayHaveOtherAmount ? ['currency'] : ['amount', 'currency'];
  const names: string[] = changedFields(invoice, next).filter((name) => locked.includes(name));
  // Where prices include tax, parts add up with it, and another rate may leave the amount as it is.
  const isOtherSum = !mayHaveOtherAmount && agreedSum(invoice) !== agreedSum({ ...invoice, ...next });
  if (names.length === 0 && isOtherSum) names.push('total');
  if (names.length === 0) return;
  if (fixed_part) throw appError('fixed_amount_part_locked', { fields: names });
  throw appError('quote_part_locked', { fields: names, number: String(quote_number) });
}

/** The fields that can change, besides the status, once an invoice is issued. What is printed stays; only the day until which it can be paid may move, and reminders be stopped. */
const FREE_ONCE_SENT: readonly string[] = ['due_date', 'reminders'];
const NONE: readonly string[] = [];
const CHANGEABLE = {
  Sent: { fields: FREE_ONCE_SENT, otherwise: 'invoice_already_sent' },
  Overdue: { fields: FREE_ONCE_SENT, otherwise: 'invoice_already_sent' },
  Paid: { fields: NONE, otherwise: 'invoice_already_paid' },
  Cancelled: { fields: NONE, otherwise: 'invoice_already_cancelled' },
} as const satisfies Record<Exclude<InvoiceStatus, 'Draft'>, { fields: readonly string[]; otherwise: ErrorCode }>;

/**
 * @param next what the change makes of the invoice; values that it has already change nothing.
 * @param status as it is today. @throws AppError 409 that names every field which may not change in it.
 */
export function requireChangeable(
  invoice: InvoiceRecord,
  { next, changes, status }: { next: Partial<InvoiceRecord>; changes: InvoiceChanges; status: InvoiceStatus },
): void {
  if (status === 'Draft') {
    const names: string[] = changedFields(invoice, next);
    const isOther = names.includes('client_id');
    if (isOther && invoice.time) throw appError('invoice_client_fixed', { reason: 'with_time' });
    if (isOther && invoice.expenses) throw appError('invoice_client_fixed', { reason: 'with_expenses' });
    // Nothing is converted: 120 EUR would become 120 JPY.
    if (invoice.time && names.includes('currency')) {
      throw appError('invoice_currency_of_time');
    }
    if (invoice.expenses && names.includes('currency')) {
      throw appError('invoice_currency_of_expenses');
    }
    if (isOther && invoice.quote_id) throw appError('invoice_client_fixed', { reason: 'of_a_quote' });
    if (isOther && invoice.fixed_part) throw appError('invoice_client_fixed', { reason: 'of_a_fixed_amount' });
    // A final invoice that is recalculated is what is left of its quote again.
    if (!changes.recalculate) requirePartKept(invoice, next);
    return;
  }
  const { fields: free, otherwise } = CHANGEABLE[status];
  const changed: readonly string[] = changedFields(invoice, next);
  const names = Object.keys(changes).filter((name) => !free.includes(name) && changed.includes(name));
  if (names.length > 0) throw appError(otherwise, { fields: names });
}
