// Rounds the total of a document to steps of its currency, such as 0.05 francs: the rounding amount of EN 16931 (BT-114).
import { CURRENCY_STANDARD, isExact, toMinor } from './money.ts';

/** The settings of an account that decide about totals. */
export interface TotalRounding {
  /** The step in major units of the account's currency. Absent and null round nothing. */
  total_rounding?: number | null | undefined;
  currency?: string | null | undefined;
}

/**
 * Returns the amount that rounds a total to the nearest step, half a step up. It is undefined where nothing is to be added.
 * - Documents in another currency than the account's are not rounded.
 * - A total below half a step is not rounded, because nothing would be due of it.
 * @param total with tax, in the smallest unit.
 */
export function roundingAmount(total: number, currency: string, rounding: TotalRounding): number | undefined {
  const step = stepOf(currency, rounding);
  if (step <= 1) return undefined;
  const rounded = Math.floor((2 * total + step) / (2 * step)) * step;
  return rounded === 0 ? undefined : rounded - total || undefined;
}

function stepOf(currency: string, { total_rounding, currency: own }: TotalRounding): number {
  if (!total_rounding || currency !== (own ?? CURRENCY_STANDARD)) return 0;
  return isExact(total_rounding, currency) ? toMinor(total_rounding, currency) : 0;
}
