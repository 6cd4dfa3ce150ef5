// What a change of a quote makes of it: any status may follow any, and amounts are computed here.
import type { QuoteRecord } from '#libs/models/quote.ts';
import { fromMinor, isAmount, taxOf, toMinor } from '#libs/money.ts';
import { fieldProblem } from '../http/read-input.ts';
import type { QuoteChanges } from './input.ts';

export type QuoteMoney = Pick<QuoteRecord, 'currency' | 'amount' | 'tax_rate' | 'tax_amount'>;

/** @throws AppError 400 when the amount is too large for the currency. */
export function quoteMoney(given: { currency: string; amount: number; tax_rate: number }): QuoteMoney {
  const { currency, tax_rate } = given;
  const amount = toMinor(given.amount, currency);
  if (!isAmount(amount)) throw fieldProblem('amount', `amount is too large in ${currency}`, 'list');
  return { currency, tax_rate, amount, tax_amount: taxOf(amount, tax_rate) };
}

export function changedMoney(quote: QuoteRecord, { currency, amount, tax_rate }: QuoteChanges): QuoteMoney {
  return quoteMoney({
    currency: currency ?? quote.currency,
    // Otherwise the amount stays what it was, in the decimals of a new currency.
    amount: amount ?? fromMinor(quote.amount, quote.currency),
    tax_rate: tax_rate ?? quote.tax_rate,
  });
}
