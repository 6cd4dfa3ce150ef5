// Amounts of money that moves, as callers give them: rounding one would book another sum than came or went.
import { type DetailsForm, fieldProblem } from '../../errors.ts';
import { type Decimal, decimalsOf, isExact, toMinor } from './money.ts';

/** @param amount in major units. @param field that a problem names. @returns it in smallest units. @throws AppError 400 when it has more decimals than the currency. */
export function exactMinor(amount: Decimal, currency: string, details?: DetailsForm, field = 'amount'): number {
  if (isExact(amount, currency)) return toMinor(amount, currency);
  const count = decimalsOf(currency);
  const wanted = count === 0 ? 'be a whole number' : `have at most ${count} decimals`;
  throw fieldProblem(field, `${field} must ${wanted} in ${currency}`, details);
}
