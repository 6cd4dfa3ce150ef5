// What invoices and quotes make of amounts and lines: their net amount and its tax, or the problem with them.
import { type DetailsForm, fieldProblem, validationFailed } from '../errors.ts';
import type { LineItem } from '../models/billing/line-item.ts';
import { type Decimal, isAmount, isLineAmount, lineNet, sumOfLines, taxOf, toMinor } from './money.ts';

/** As a document stores it: amounts are whole numbers of the currency's smallest unit. */
export interface DocumentMoney {
  currency: string;
  amount: number;
  tax_amount: number;
  /** Percentage, 0 to 100. */
  tax_rate: number;
}

interface Given {
  currency: string;
  /** In major units, as callers write it. */
  amount: Decimal;
  tax_rate: number;
  line_items: LineItem[] | null;
}

/** With lines the amount is their sum, whatever was given. @throws AppError 400 when the sum is no amount or a line is too large. */
export function invoiceMoney(given: Given): DocumentMoney & { line_items: LineItem[] | null } {
  const { currency, tax_rate, line_items } = given;
  if (line_items) return { ...withTax(currency, tax_rate, amountOfLines(line_items, currency)), line_items };
  const amount = toMinor(given.amount, currency);
  if (!isAmount(amount)) throw fieldProblem('amount', `amount is too large in ${currency}`);
  return { ...withTax(currency, tax_rate, amount), line_items };
}

/** @param given lines are shown and not summed. @throws AppError 400 when the amount or a line is too large for the currency. */
export function quoteMoney(given: Given): DocumentMoney {
  const { currency, tax_rate } = given;
  requireLineAmounts(given.line_items, currency, 'list');
  const amount = toMinor(given.amount, currency);
  if (!isAmount(amount)) throw fieldProblem('amount', `amount is too large in ${currency}`, 'list');
  return withTax(currency, tax_rate, amount);
}

/** The sum of the lines in smallest units. @throws AppError 400 when it is no amount, or a line is too large. */
export function amountOfLines(lines: readonly LineItem[], currency: string, details?: DetailsForm): number {
  requireLineAmounts(lines, currency, details);
  const sum = sumOfLines(lines, currency);
  if (isAmount(sum)) return sum;
  const problem = sum < 0 ? 'must not sum to less than 0' : `is too large in ${currency}`;
  throw fieldProblem('line_items', `line_items ${problem}`, details);
}

/** @throws AppError 400 that names every line which alone is more than a document can show. */
function requireLineAmounts(lines: readonly LineItem[] | null, currency: string, details?: DetailsForm): void {
  const problems = (lines ?? []).flatMap((one, index) =>
    isLineAmount(lineNet(one, currency)) ? [] : [`line_items[${index}] is too large in ${currency}`],
  );
  if (problems.length > 0) throw validationFailed(details === 'list' ? problems : { line_items: problems });
}

function withTax(currency: string, tax_rate: number, amount: number): DocumentMoney {
  return { currency, amount, tax_rate, tax_amount: taxOf(amount, tax_rate) };
}
