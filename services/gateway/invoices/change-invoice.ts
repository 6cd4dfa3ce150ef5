// Computes an invoice after a change: its amounts, and whether its status may follow the one before.

import { type ChangedTerms, isMoneyChanged } from '#libs/billing/documents/changed-tax-terms.ts';
import { changedReferences } from '#libs/billing/documents/project-of-client.ts';
import { conflict } from '#libs/errors.ts';
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
 * @param terms when `isTaxed`. @throws AppError 400 when the sum is no amount or a line is too large.
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

/** The parts of a quote or of a fixed amount add up to it: @throws AppError 409 when a part would have another amount or currency. */
function requirePartKept(invoice: InvoiceRecord, next: Partial<InvoiceRecord>): void {
  const { quote_part, quote_number, fixed_part } = invoice;
  const isQuotePart = quote_part !== undefined && quote_part !== 'full';
  if (!isQuotePart && !fixed_part) return;
  const names: string[] = changedFields(invoice, next).filter((name) => ['amount', 'currency'].includes(name));
  // Where prices include tax, parts add up with it, and another rate may leave the amount as it is.
  if (names.length === 0 && agreedSum(invoice) !== agreedSum({ ...invoice, ...next })) names.push('total');
  if (names.length === 0) return;
  const [whole, again] = fixed_part ? ['the fixed amount', 'bill it'] : [quote_number, 'convert'];
  throw conflict(`Cannot change ${names.join(', ')} of a part of ${whole}: delete it and ${again} again`);
}

/** Besides its status. What is not a draft has been issued: its paper does not change, only the day until which it can be paid. */
const CHANGEABLE: Readonly<Record<Exclude<InvoiceStatus, 'Draft'>, { fields: readonly string[]; when: string }>> = {
  Sent: { fields: ['due_date'], when: 'after the invoice was sent' },
  Overdue: { fields: ['due_date'], when: 'after the invoice was sent' },
  Paid: { fields: [], when: 'of a paid invoice' },
  Cancelled: { fields: [], when: 'of a cancelled invoice' },
};

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
    if (isOther && invoice.time) throw conflict('Cannot change client_id of an invoice with time');
    if (isOther && invoice.expenses) throw conflict('Cannot change client_id of an invoice with expenses');
    // Nothing is converted: 120 EUR would become 120 JPY.
    if (invoice.time && names.includes('currency')) {
      throw conflict('Cannot change currency of an invoice with time: take it off first');
    }
    if (invoice.expenses && names.includes('currency')) {
      throw conflict('Cannot change currency of an invoice with expenses: take them off first');
    }
    if (isOther && invoice.quote_id) throw conflict('Cannot change client_id of an invoice of a quote');
    if (isOther && invoice.fixed_part) throw conflict('Cannot change client_id of an invoice of a fixed amount');
    // A final invoice that is recalculated is what is left of its quote again.
    if (!changes.recalculate) requirePartKept(invoice, next);
    return;
  }
  const { fields, when } = CHANGEABLE[status];
  const changed: readonly string[] = changedFields(invoice, next);
  const names = Object.keys(changes).filter((name) => !fields.includes(name) && changed.includes(name));
  if (names.length > 0) throw conflict(`Cannot change ${names.join(', ')} ${when}`);
}
