// What a change of a quote makes of it: any status may follow any, and amounts are computed here.
import type { LineItem } from '#libs/models/line-item.ts';
import type { QuoteRecord } from '#libs/models/quote.ts';
import { fromMinor, isAmount, taxOf, toMinor } from '#libs/money.ts';
import { requireLineAmounts } from '../http/money-input.ts';
import { fieldProblem } from '../http/read-input.ts';
import type { QuoteChanges } from './input.ts';

export type QuoteMoney = Pick<QuoteRecord, 'currency' | 'amount' | 'tax_rate' | 'tax_amount'>;

/** @param given lines are shown and not summed. @throws AppError 400 when the amount or a line is too large for the currency. */
export function quoteMoney(given: {
  currency: string;
  amount: number;
  tax_rate: number;
  line_items: LineItem[] | null;
}): QuoteMoney {
  const { currency, tax_rate } = given;
  requireLineAmounts(given.line_items, currency, 'list');
  const amount = toMinor(given.amount, currency);
  if (!isAmount(amount)) throw fieldProblem('amount', `amount is too large in ${currency}`, 'list');
  return { currency, tax_rate, amount, tax_amount: taxOf(amount, tax_rate) };
}

export function changedMoney(quote: QuoteRecord, changes: QuoteChanges): Partial<QuoteMoney> {
  const { currency, amount, tax_rate } = changes;
  // What nobody touches is not judged anew: an older version may have taken more.
  if (!['amount', 'currency', 'tax_rate'].some((name) => name in changes)) return {};
  return quoteMoney({
    currency: currency ?? quote.currency,
    // Otherwise the amount stays what it was, in the decimals of a new currency.
    amount: amount ?? fromMinor(quote.amount, quote.currency),
    tax_rate: tax_rate ?? quote.tax_rate,
    line_items: quote.line_items,
  });
}
