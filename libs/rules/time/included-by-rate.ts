// Splits the hours that a fee takes off, one line for each rate, over the lines of time. The parts decide the price:
// hours that are covered as a whole cost exactly nothing.
import Big from 'big.js';
import { partition } from 'es-toolkit/array/partition';
import { sumBy } from 'es-toolkit/math/sumBy';
import { lineNet } from '../money/money.ts';
import { coveredQuantity, type Draw, type LineToCover } from './prepaid-hours.ts';
import { hoursQuantity } from './time-rounding.ts';

/** A part of a line of time. */
export interface PricedHours {
  qty: Big;
  /** The price in the currency's smallest unit. */
  worth: number;
}

export interface IncludedHours {
  rate: string;
  /** The printed quantity. */
  qty: string;
  /** The covered part of each line, by its id. */
  parts: ReadonlyMap<number, PricedHours>;
}

interface Covered {
  /** The included seconds by line. */
  included: ReadonlyMap<number, number>;
  /** The hours that the lines drew from packages. */
  draws: readonly Draw[];
  currency: string;
}

/**
 * Returns the included hours of each rate. The parts of lines that are covered in part are differences of running totals,
 * so that they sum to the printed quantity and its price. No part is worth more than its line without prepaid hours, and a line that
 * is covered as a whole has a part of exactly that worth.
 */
export function includedByRate(lines: readonly LineToCover[], { included, draws, currency }: Covered): IncludedHours[] {
  const drawn = new Map(
    [...Map.groupBy(draws, ({ line }) => line)].map(([id, own]) => [id, sumBy(own, ({ seconds }) => seconds)]),
  );
  const covered = lines.flatMap((line) => {
    const [seconds, prepaid] = [included.get(line.id), drawn.get(line.id) ?? 0];
    if (seconds === undefined || Number(line.rate) === 0) return [];
    const isWhole = seconds + prepaid === line.billed;
    return [{ line, seconds, isWhole, open: lessPrepaid(line, prepaid, currency) }];
  });
  return [...Map.groupBy(covered, ({ line }) => line.rate)].map(([rate, group]) => {
    const [whole, cut] = partition(group, ({ isWhole }) => isWhole);
    const parts = new Map(whole.map(({ line, open }) => [line.id, open]));
    let [sum, before] = [0, priced(rate, 0, currency)];
    for (const { line, seconds, open } of cut) {
      sum += seconds;
      const until = priced(rate, sum, currency);
      parts.set(line.id, atMost(open, { qty: until.qty.minus(before.qty), worth: until.worth - before.worth }));
      before = until;
    }
    const qty = whole.reduce((total, { open }) => total.plus(open.qty), before.qty);
    return { rate, qty: qty.toFixed(), parts };
  });
}

/** Returns a line of time without its prepaid hours. */
export function lessPrepaid(line: LineToCover, seconds: number, currency: string): PricedHours {
  const prepaid = coveredQuantity(line, seconds);
  return {
    qty: new Big(line.qty).minus(prepaid),
    worth: lineNet(line, currency) - lineNet({ ...line, qty: prepaid }, currency),
  };
}

function priced(rate: string, seconds: number, currency: string): PricedHours {
  const qty = hoursQuantity(seconds);
  return { qty: new Big(qty), worth: lineNet({ qty, rate, discount: '0' }, currency) };
}

/** Limits a part to what is open. A part that leaves no quantity leaves no price. */
function atMost(open: PricedHours, part: PricedHours): PricedHours {
  return part.qty.gte(open.qty) ? open : { ...part, worth: Math.min(part.worth, open.worth) };
}
