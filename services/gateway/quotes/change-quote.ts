// Computes a quote after a change. Any status may follow any other.

import { type ChangedTerms, isMoneyChanged } from '#libs/billing/documents/changed-tax-terms.ts';
import { appError, fieldProblem } from '#libs/errors.ts';
import type { QuoteRecord, QuoteStatus } from '#libs/models/billing/quote.ts';
import { changedFields } from '#libs/models/records.ts';
import { CHARGES, changedCharges, documentCharges, hasCharges } from '#libs/rules/documents/document-charges.ts';
import { type DocumentMoney, quoteMoney, taxedLines } from '#libs/rules/documents/document-money.ts';
import type { LineItem } from '#libs/rules/documents/line-item.ts';
import { fromMinor, sumOfLines } from '#libs/rules/money/money.ts';
import { storedLines } from '../fields/money-input.ts';
import type { GivenChanges } from './input.ts';

/** How long a quote without a last day is valid. */
export const VALID_DAYS = 30;

/**
 * Returns the changed amount and lines. Lines that are given without an amount are summed, as on an invoice; an amount
 * that is given alone stands beside the lines, and an adjustment is printed between them.
 * @param terms undefined unless `isTaxed`. @throws AppError 400 when both are given and disagree, or one is too large.
 */
export function changedMoney(
  quote: QuoteRecord,
  changes: GivenChanges,
  terms: ChangedTerms | undefined,
): Partial<DocumentMoney & { line_items: LineItem[] | null }> {
  // Untouched money is not checked again: an older version may have accepted more.
  const isUntouched = !isMoneyChanged(changes) && terms?.tax_category === quote.tax_category;
  if (!terms || isUntouched) return {};
  const { currency } = terms;
  const line_items = changes.line_items === undefined ? quote.line_items : storedLines(changes.line_items);
  const prices_include_tax =
    changes.prices_include_tax === undefined ? quote.prices_include_tax : Boolean(changes.prices_include_tax);
  const charges = changedCharges(quote, changes);
  const given = { ...terms, currency, line_items, prices_include_tax, charges };
  const lines = changes.line_items === undefined ? {} : { line_items };
  // The amount is the sum of the lines when prices no longer include tax, and when discount and shipping are removed.
  const isSummed = changes.line_items !== undefined || quote.prices_include_tax || hasCharges(quote);
  // With tax in the prices or with charges, the net is computed. An amount that is given as well has to equal it.
  if (
    line_items &&
    (prices_include_tax || hasCharges(documentCharges(charges, line_items, given, { details: 'list' })))
  ) {
    // An amount that stands beside the lines is not their sum, which would be discounted.
    const isBeside = !isSummed && quote.amount !== sumOfLines(line_items, quote.currency);
    const beside = isBeside ? fromMinor(quote.amount, quote.currency) : undefined;
    return { ...quoteMoney({ ...given, amount: changes.amount ?? beside }), ...lines };
  }
  const sum =
    isSummed && line_items ? fromMinor(taxedLines(line_items, given, { details: 'list' }).amount, currency) : undefined;
  // Otherwise the amount stays what it was, in the decimals of a new currency.
  const amount = changes.amount ?? sum ?? fromMinor(quote.amount, quote.currency);
  const money = quoteMoney({ ...given, amount });
  if (changes.line_items !== undefined && sum !== undefined && fromMinor(money.amount, currency) !== sum) {
    throw fieldProblem('amount', 'amount_differs', { sum }, 'list');
  }
  return { ...money, ...lines };
}

/** @param status as it is today. @throws AppError 409 that names what may not change in it. */
export function requireChangeable(quote: QuoteRecord, next: Partial<QuoteRecord>, status: QuoteStatus): void {
  const changed = changedFields(quote, next);
  const isChanged = (name: keyof QuoteRecord) => changed.includes(name);
  const accepted = (
    ['line_items', 'prices_include_tax', ...CHARGES, 'project_id', 'service_date', 'service_period'] as const
  ).filter(isChanged);
  if (status === 'Accepted' && accepted.length > 0) {
    throw appError('quote_already_accepted', { fields: accepted });
  }
  const sent = (['client_id', 'issue_date'] as const).filter(isChanged);
  if (status !== 'Draft' && sent.length > 0) throw appError('quote_already_sent', { fields: sent });
}
