// How the hours that a fee includes fall upon the lines of time, in the order of the lines.
import Big from 'big.js';
import type { LineToCover } from './prepaid-hours.ts';

export interface IncludedPart {
  /** The id of the line of time. */
  line: number;
  rate: string;
  /** As it is printed. */
  hours: Big;
  /** Whole seconds; all of the line when its quantity is covered. */
  seconds: number;
}

/** @param hours plain decimal. */
export function includedParts(lines: readonly LineToCover[], hours: string): IncludedPart[] {
  let left = new Big(hours);
  return lines.flatMap(({ id, qty, rate, billed }) => {
    const taken = left.lt(qty) ? left : new Big(qty);
    left = left.minus(taken);
    if (taken.lte(0)) return [];
    const seconds = taken.eq(qty) ? billed : Math.min(billed, taken.times(3600).round(0, Big.roundUp).toNumber());
    return [{ line: id, rate, hours: taken, seconds }];
  });
}
