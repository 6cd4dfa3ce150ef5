// How the hours that a fee includes fall upon the lines of time, in the order of the lines.
import Big from 'big.js';
import { type LineItem, lineItem } from '../models/billing/line-item.ts';
import type { StoredId } from '../models/tenant.ts';
import { type PrepaidLines, withPrepaidHours } from './draw-hours.ts';
import { lineTexts } from './line-texts.ts';
import { type LinesOfTime, requireLines } from './lines-of-time.ts';
import type { UnitOfWork } from './unit-of-work.ts';

interface IncludedPart {
  /** The id of the line of time. */
  line: number;
  rate: string;
  /** As it is printed. */
  hours: Big;
  /** Whole seconds; all of the line when its quantity is covered. */
  seconds: number;
}

/**
 * The lines of time, and after them those that take off what is paid for already. What a fee includes is lost with the period: it counts
 * before prepaid hours.
 * @param hours that the fee includes, a plain decimal; lines of time from before have used those that they print.
 * @throws AppError 409 when there are too many lines.
 */
export async function withPaidHours(
  unit: UnitOfWork,
  lines: LinesOfTime,
  hours: string | undefined,
  to: { clientId: StoredId; locale: string },
): Promise<PrepaidLines> {
  if (hours === undefined) return withPrepaidHours(unit, lines, to);
  const parts = includedParts(lines, new Big(hours).minus(hoursBefore(lines)));
  const byLine = new Map(parts.map(({ line, seconds }) => [line, seconds]));
  const made = lines.made.map((line) => ({ ...line, covered: byLine.get(line.id) }));
  const prepaid = await withPrepaidHours(unit, { ...lines, made }, to);
  const included = includedItems(parts, lineTexts(to.locale).includedHours);
  const line_items = [...prepaid.line_items, ...included];
  requireLines(line_items.length);
  const at = included.map((_item, index) => prepaid.line_items.length + index);
  const before = lines.time.included?.at ?? [];
  return { ...prepaid, line_items, time: { ...prepaid.time, included: { at: [...before, ...at] } } };
}

/** As they are printed: of the lines of time that are not made now. */
function hoursBefore({ line_items, time, made }: LinesOfTime): Big {
  const ids = new Set(made.map(({ id }) => id));
  const before = time.lines.filter(({ id }) => !ids.has(id));
  return before.reduce((sum, { at }) => sum.plus(line_items[at]?.qty ?? 0), new Big(0));
}

function includedParts({ made }: LinesOfTime, hours: Big): IncludedPart[] {
  let left = hours;
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
