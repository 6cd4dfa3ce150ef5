// Takes the hours that are paid already off the lines of time: hours that a fee includes, and prepaid hours.
import Big from 'big.js';
import { sumBy } from 'es-toolkit/math/sumBy';
import type { AccountRecord } from '../../models/accounts/account.ts';
import type { ClientRecord } from '../../models/accounts/client.ts';
import type { HourPackageRecord } from '../../models/time/hour-package.ts';
import { type LineItem, lineItem } from '../../rules/documents/line-item.ts';
import { lineTexts } from '../../rules/documents/line-texts.ts';
import { fromMinor, sumOfLines } from '../../rules/money/money.ts';
import { type IncludedHours, includedByRate } from '../../rules/time/included-by-rate.ts';
import { coverHours, type Draw } from '../../rules/time/prepaid-hours.ts';
import type { TimeToBill } from '../../rules/time/time-lines.ts';
import { SECONDS_PER_HOUR } from '../../rules/time/time-rounding.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { type LinkedTimeLines, requireLines } from '../work/time-line-links.ts';
import { packageState, packagesOf, withPrepaidHours } from './draw-hours.ts';
import { otherTime } from './other-time.ts';

interface Billed {
  currency: string;
  locale: string;
}

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
  { client, account, currency }: { client: ClientRecord; account: AccountRecord; currency: string },
): Promise<PaidLines> {
  const packages = await packagesOf(unit, client._id);
  const others = await otherTime(unit, lines.made, { packages: packages.map(packageState), client, account });
  return lessPaidHours(lines, { hours, packages, others }, { currency, locale: account.locale });
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
  { currency, locale }: Billed,
): PaidLines {
  const paid = { included: includedSeconds(hours), packages: packages.map(packageState), others };
  const covered = coverHours(lines.made, paid);
  const prepaid = withPrepaidHours(lines, covered.draws, { packages, locale });
  const byRate = includedByRate(lines.made, { ...covered, currency });
  const included = includedItems(byRate, { currency, locale });
  const line_items = [...prepaid.line_items, ...included];
  requireLines(line_items.length);
  const at = included.map((_item, index) => prepaid.line_items.length + index);
  const time = hours === undefined ? prepaid.time : { ...prepaid.time, included: { at } };
  return { ...prepaid, line_items, time, draws: covered.draws };
}

/** Converts hours to the nearest second: 0.8333 hours are 50 minutes. */
export function includedSeconds(hours: string | undefined): number {
  return new Big(hours ?? 0).times(SECONDS_PER_HOUR).round(0, Big.roundHalfUp).toNumber();
}

/**
 * Returns one line for each rate, and one for the difference of rounding: each line of time is rounded by itself, and
 * hours that are covered as a whole cost exactly nothing.
 */
function includedItems(included: readonly IncludedHours[], { currency, locale }: Billed): LineItem[] {
  const { includedHours, rounding } = lineTexts(locale);
  const items = included.map(({ rate, qty }) =>
    lineItem({ description: includedHours, qty: `-${qty}`, rate, discount: '0', unit: 'hour' }),
  );
  const worth = sumBy(included, ({ parts }) => sumBy([...parts.values()], (part) => part.worth));
  const difference = sumOfLines(items, currency) + worth;
  if (difference === 0) return items;
  const rate = fromMinor(-difference, currency);
  return [...items, lineItem({ description: rounding, qty: '1', rate, discount: '0' })];
}
