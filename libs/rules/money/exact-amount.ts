// Exact amounts of money that moves. Rounding the amount that a caller gives would book another sum than came or went.
import { type DetailsForm, fieldProblem } from '../../errors.ts';
import { type Decimal, decimalsOf, isExact, toMinor } from './money.ts';

/**
 * Converts an amount to smallest units, and rejects one that would have to be rounded.
 * @param amount in major units.
 * @param field for the problem to name.
 * @throws AppError 400 when the amount has more decimals than the currency.
 */
export function exactMinor(amount: Decimal, currency: string, details?: DetailsForm, field = 'amount'): number {
  if (isExact(amount, currency)) return toMinor(amount, currency);
  const count = decimalsOf(currency);
  if (count === 0) throw fieldProblem(field, 'not_whole_in_currency', { currency }, details);
  throw fieldProblem(field, 'too_many_decimals', { decimals: count, currency }, details);
}
