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
  const wanted = count === 0 ? 'be a whole number' : `have at most ${count} decimals`;
  throw fieldProblem(field, `${field} must ${wanted} in ${currency}`, details);
}
