// Rounds tracked time before it is billed, in whole seconds without fractions.

import Big from 'big.js';
import { sumBy } from 'es-toolkit/math/sumBy';

/** The minutes that a rule may round to. Each divides the hour. */
export const ROUNDING_MINUTES = [1, 5, 6, 10, 12, 15, 20, 30, 60] as const;
/** The modes of rounding. `none` cancels a more general rule. */
export const ROUNDING_MODES = ['up', 'nearest', 'down', 'none'] as const;
/**
 * The unit that is rounded: each entry, the entries of one line and day together, or all entries of a line together.
 */
export const ROUNDING_SCOPES = ['entry', 'day', 'line'] as const;

export interface TimeRounding {
  minutes: (typeof ROUNDING_MINUTES)[number];
  mode: (typeof ROUNDING_MODES)[number];
  scope: (typeof ROUNDING_SCOPES)[number];
  /** The minimum in minutes. A shorter time counts as this much. */
  minimum: number;
}

export interface TrackedTime {
  seconds: number;
  /** `YYYY-MM-DD`. */
  date: string;
}

const SECONDS_PER_HOUR = 3600;
/** The decimals of a printed quantity. */
const HOURS_DECIMALS = 4;

/**
 * Returns the closest rule that is set, or null when nothing is rounded.
 * @param rules from the closest to the most general.
 */
export function effectiveRounding(...rules: readonly (TimeRounding | null | undefined)[]): TimeRounding | null {
  const rule = rules.find((one) => one !== null && one !== undefined);
  return rule && rule.mode !== 'none' ? rule : null;
}

/** Rounds seconds. An exact multiple stays unchanged in every mode. @param rule null when nothing is rounded. */
export function roundedSeconds(seconds: number, rule: TimeRounding | null): number {
  if (!rule || rule.mode === 'none') return seconds;
  const step = rule.minutes * 60;
  const whole = Math.floor(seconds / step);
  const rest = seconds - whole * step;
  const isUp = rule.mode === 'up' ? rest > 0 : rule.mode === 'nearest' && 2 * rest >= step;
  return Math.max((whole + (isUp ? 1 : 0)) * step, rule.minimum * 60);
}

/** Returns the seconds that are billed for the entries of one line. */
export function billedSeconds(entries: readonly TrackedTime[], rule: TimeRounding | null): number {
  const units = unitsOf(entries, rule?.scope ?? 'line');
  return sumBy(units, (seconds) => roundedSeconds(seconds, rule));
}

/**
 * Splits the billed seconds over the entries: whole seconds in proportion to the tracked time. The shares add up to
 * `billedSeconds`.
 */
export function billedShares(entries: readonly TrackedTime[], rule: TimeRounding | null): number[] {
  if (!rule || rule.scope === 'entry') return entries.map(({ seconds }) => roundedSeconds(seconds, rule));
  const shares = entries.map(() => 0);
  const units = Map.groupBy(entries.keys(), (index) => (rule.scope === 'day' ? entries[index]?.date : ''));
  for (const indexes of units.values()) {
    const tracked = sumBy(indexes, (index) => entries[index]?.seconds ?? 0);
    const billed = BigInt(roundedSeconds(tracked, rule));
    let before = 0n;
    let sum = 0;
    for (const index of indexes) {
      sum += entries[index]?.seconds ?? 0;
      // Running totals in whole numbers give the last entry all that is left.
      const until = tracked === 0 ? 0n : (billed * BigInt(sum)) / BigInt(tracked);
      shares[index] = Number(until - before);
      before = until;
    }
  }
  return shares;
}

/** Returns the sums of seconds that are rounded one by one. */
function unitsOf(entries: readonly TrackedTime[], scope: TimeRounding['scope']): number[] {
  if (scope === 'entry') return entries.map(({ seconds }) => seconds);
  const sums = new Map<string, number>();
  for (const { date, seconds } of entries) {
    const unit = scope === 'day' ? date : '';
    sums.set(unit, (sums.get(unit) ?? 0) + seconds);
  }
  return [...sums.values()];
}

/**
 * Writes seconds as the quantity of a line: hours with at most four decimals, from which the line is computed. 3000 →
 * "0.8333".
 */
export function hoursQuantity(seconds: number): string {
  // No tie is possible: a number of seconds never has exactly half a ten-thousandth of an hour.
  return new Big(seconds).div(SECONDS_PER_HOUR).round(HOURS_DECIMALS, Big.roundHalfUp).toFixed();
}
