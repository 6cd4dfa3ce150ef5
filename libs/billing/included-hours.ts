// How the hours that a fee includes fall upon the lines of time, in the order of the lines.
import Big from 'big.js';
import { type LineItem, lineItem } from '../models/billing/line-item.ts';
import type { LinesOfTime } from './lines-of-time.ts';

interface IncludedPart {
  /** The id of the line of time. */
  line: number;
  rate: string;
  /** As it is printed. */
  hours: Big;
  /** Whole seconds; all of the line when its quantity is covered. */
  seconds: number;
}

/** @param hours plain decimal. @param description of the lines that take them off again, at the rates of the lines they are taken from. */
export function withIncludedHours(lines: LinesOfTime, hours: string | undefined, description: string) {
  const parts = hours === undefined ? [] : includedParts(lines, hours);
  const byLine = new Map(parts.map(({ line, seconds }) => [line, seconds]));
  const covering = <Line extends { id: number }>(line: Line) => {
    const covered = byLine.get(line.id);
    return covered === undefined ? line : { ...line, covered };
  };
  return {
    lines: {
      ...lines,
      made: lines.made.map(covering),
      time: { ...lines.time, lines: lines.time.lines.map(covering) },
    },
    included: includedItems(parts, description),
  };
}

function includedParts({ made }: LinesOfTime, hours: string): IncludedPart[] {
  let left = new Big(hours);
  return made.flatMap(({ id, qty, rate, billed }) => {
    const taken = left.lt(qty) ? left : new Big(qty);
    left = left.minus(taken);
    if (taken.lte(0)) return [];
    const seconds = taken.eq(qty) ? billed : Math.min(billed, taken.times(3600).round(0, Big.roundUp).toNumber());
    return [{ line: id, rate, hours: taken, seconds }];
  });
}

function includedItems(parts: readonly IncludedPart[], description: string): LineItem[] {
  const charged = parts.filter(({ rate }) => Number(rate) !== 0);
  return [...Map.groupBy(charged, ({ rate }) => rate)].map(([rate, group]) => {
    const taken = group.reduce((sum, { hours }) => sum.plus(hours), new Big(0));
    return lineItem({ description, qty: taken.times(-1).toFixed(), rate, discount: '0' });
  });
}
