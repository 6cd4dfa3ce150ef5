// Takes the hours that are paid already off the lines of time: hours that a fee includes, and prepaid hours.
import Big from 'big.js';
import { partition } from 'es-toolkit/array/partition';
import { sumBy } from 'es-toolkit/math/sumBy';
import type { AccountRecord } from '../../models/accounts/account.ts';
import type { ClientRecord } from '../../models/accounts/client.ts';
import type { HourPackageRecord } from '../../models/time/hour-package.ts';
import { type LineItem, lineItem } from '../../rules/documents/line-item.ts';
import { lineTexts } from '../../rules/documents/standard-texts.ts';
import { coverHours, type Draw } from '../../rules/time/prepaid-hours.ts';
import type { TimeToBill } from '../../rules/time/time-lines.ts';
import { hoursQuantity } from '../../rules/time/time-rounding.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { type LinkedTimeLines, requireLines } from '../work/time-line-links.ts';
import { packageState, packagesOf, withPrepaidHours } from './draw-hours.ts';
import { otherTime } from './other-time.ts';

export interface PaidLines extends LinkedTimeLines {
  draws: readonly Draw[];
}

/**
 * Returns the lines of time, followed by those that take the paid hours off.
 * @param hours that the fee includes, a plain decimal.
 * @throws AppError 409 when there are too many lines.
 */
export async function withPaidHours(
  unit: UnitOfWork,
  lines: LinkedTimeLines,
  hours: string | undefined,
  { client, account }: { client: ClientRecord; account: AccountRecord },
): Promise<PaidLines> {
  const packages = await packagesOf(unit, client._id);
  const others = await otherTime(unit, lines.made, { packages: packages.map(packageState), client, account });
  return lessPaidHours(lines, { hours, packages, others }, account.locale);
}

/**
 * Does the same as withPaidHours for given packages.
 * @param others unbilled time of the client that is not on the invoice.
 */
export function lessPaidHours(
  lines: LinkedTimeLines,
  {
    hours,
    packages,
    others,
  }: { hours?: string | undefined; packages: readonly HourPackageRecord[]; others: readonly TimeToBill[] },
  locale: string,
): PaidLines {
  const paid = { included: includedSeconds(hours), packages: packages.map(packageState), others };
  const covered = coverHours(lines.made, paid);
  const prepaid = withPrepaidHours(lines, covered.draws, { packages, locale });
  const included = includedItems(lines, covered.included, lineTexts(locale).includedHours);
  const line_items = [...prepaid.line_items, ...included];
  requireLines(line_items.length);
  const at = included.map((_item, index) => prepaid.line_items.length + index);
  const time = hours === undefined ? prepaid.time : { ...prepaid.time, included: { at } };
  return { ...prepaid, line_items, time, draws: covered.draws };
}

/** Converts hours to the nearest second: 0.8333 hours are 50 minutes. */
export function includedSeconds(hours: string | undefined): number {
  return new Big(hours ?? 0).times(3600).round(0, Big.roundHalfUp).toNumber();
}

/**
 * Returns one line for each rate. A line that is covered as a whole counts with its quantity, so that nothing of it is
 * charged.
 */
function includedItems(
  { made }: LinkedTimeLines,
  seconds: ReadonlyMap<number, number>,
  description: string,
): LineItem[] {
  const parts = made.filter(({ id, rate }) => seconds.has(id) && Number(rate) !== 0);
  return [...Map.groupBy(parts, ({ rate }) => rate)].map(([rate, group]) => {
    const [whole, cut] = partition(group, ({ id, billed }) => seconds.get(id) === billed);
    const taken = new Big(hoursQuantity(sumBy(cut, ({ id }) => seconds.get(id) ?? 0)));
    const qty = whole.reduce((sum, line) => sum.plus(line.qty), taken);
    return lineItem({ description, qty: qty.times(-1).toFixed(), rate, discount: '0', unit: 'hour' });
  });
}
