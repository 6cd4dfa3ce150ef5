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
  /** The decimals of the hours as the caller gave them. Absent when the time is exact. */
  decimals?: number | undefined;
}

/** Entries of the same length that are rounded together with others. */
export interface TimeTogether extends Pick<TrackedTime, 'seconds' | 'decimals'> {
  entries: number;
}

export const SECONDS_PER_HOUR = 3600;
const SECONDS_PER_MINUTE = 60;
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

/**
 * Rounds seconds. An exact multiple stays unchanged in every mode.
 * @param rule null when nothing is rounded.
 * @param within seconds: a rest below it does not round up.
 */
export function roundedSeconds(seconds: number, rule: TimeRounding | null, within = 0): number {
  if (!rule || rule.mode === 'none') return seconds;
  const step = rule.minutes * SECONDS_PER_MINUTE;
  const whole = Math.floor(seconds / step);
  const rest = seconds - whole * step;
  const isUp = rule.mode === 'up' ? rest > 0 && rest >= within : rule.mode === 'nearest' && 2 * rest >= step;
  return Math.max((whole + (isUp ? 1 : 0)) * step, rule.minimum * SECONDS_PER_MINUTE);
}

/**
 * Rounds the sum of these entries. Hours with decimals stand for the minutes that they were made of: 0.67 is 40
 * minutes, so rounding up to 20 minutes does not bill an hour. Each entry of a sum counts as its minutes, so that
 * the errors of the decimals do not add up.
 */
export function roundedTogether(parts: readonly TimeTogether[], rule: TimeRounding | null): number {
  if (!rule || rule.mode === 'none') return sumBy(parts, ({ seconds, entries }) => seconds * entries);
  const [first] = parts;
  const isOne = parts.length === 1 && first?.entries === 1;
  const seconds = sumBy(parts, (part) => meantSeconds(part) * part.entries);
  return roundedSeconds(seconds, rule, isOne ? halfOfLast(first.decimals) : 0);
}

/** Returns the whole minutes that are nearer than half of the last decimal, else the seconds as they are. */
function meantSeconds({ seconds, decimals }: TimeTogether): number {
  const minutes = Math.round(seconds / SECONDS_PER_MINUTE) * SECONDS_PER_MINUTE;
  return Math.abs(minutes - seconds) < halfOfLast(decimals) ? minutes : seconds;
}

/** Returns the seconds by which hours may differ from the time that they stand for. */
function halfOfLast(decimals: number | undefined): number {
  return decimals === undefined ? 0 : SECONDS_PER_HOUR / 2 / 10 ** decimals;
}

/** Returns the seconds that are billed for the entries of one line. */
export function billedSeconds(entries: readonly TrackedTime[], rule: TimeRounding | null): number {
  const units = unitsOf(entries, rule?.scope ?? 'line');
  return sumBy(units, (unit) => roundedUnit(unit, rule));
}

/**
 * Splits the billed seconds over the entries: whole seconds in proportion to the tracked time. The shares add up to
 * `billedSeconds`.
 */
export function billedShares(entries: readonly TrackedTime[], rule: TimeRounding | null): number[] {
  if (!rule || rule.scope === 'entry') return entries.map((entry) => roundedUnit([entry], rule));
  const shares = entries.map(() => 0);
  const units = Map.groupBy(entries.keys(), (index) => (rule.scope === 'day' ? entries[index]?.date : ''));
  for (const indexes of units.values()) {
    const unit = indexes.flatMap((index) => entries[index] ?? []);
    const tracked = sumBy(unit, ({ seconds }) => seconds);
    const billed = BigInt(roundedUnit(unit, rule));
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

function roundedUnit(unit: readonly TrackedTime[], rule: TimeRounding | null): number {
  const parts = unit.map(({ seconds, decimals }) => ({ seconds, decimals, entries: 1 }));
  return roundedTogether(parts, rule);
}

/** Returns the entries that are rounded together. */
function unitsOf(entries: readonly TrackedTime[], scope: TimeRounding['scope']): TrackedTime[][] {
  if (scope === 'entry') return entries.map((entry) => [entry]);
  return [...Map.groupBy(entries, ({ date }) => (scope === 'day' ? date : '')).values()];
}

/**
 * Writes seconds as the quantity of a line: hours with at most four decimals, from which the line is computed. 3000 →
 * "0.8333".
 */
export function hoursQuantity(seconds: number): string {
  // No tie is possible: a number of seconds never has exactly half a ten-thousandth of an hour.
  return new Big(seconds).div(SECONDS_PER_HOUR).round(HOURS_DECIMALS, Big.roundHalfUp).toFixed();
}
