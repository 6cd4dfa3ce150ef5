// The calendar of recurring invoices. Occurrence n is computed from the first day, never from the last run, so that the
// schedule never drifts.
import { addDays, LAST_DAY } from '../../day.ts';

export const SCHEDULE_UNITS = ['week', 'month', 'year'] as const;

/** The schedule of a recurring invoice. Calendar days are `YYYY-MM-DD`. */
export interface Schedule {
  every: number;
  unit: (typeof SCHEDULE_UNITS)[number];
  /** The first day. No occurrence is before it, and weeks are counted from it. */
  start_on: string;
  /**
   * The day of the month, for months and years. In a shorter month it is the last day, so 31 is always the last.
   * Defaults to that of `start_on`.
   */
  day?: number | undefined;
  /** The last day. No occurrence is after it. */
  end_on?: string | undefined;
  /** The number of occurrences. */
  count?: number | undefined;
}

export interface Occurrence {
  /** The number of the occurrence, from 0 at the start of the schedule. */
  index: number;
  on: string;
  /** The last day of the period that begins `on` this occurrence: the day before the next one. */
  until: string;
}

/** The most missed occurrences that are counted at once. The scheduler catches up on the rest in its next round. */
export const MISSED_MAX = 1_000;

const MONTHS_OF_A_YEAR = 12;
const DAYS_OF_A_WEEK = 7;
const DAY_MS = 86_400_000;

/** Returns occurrence number `index`, or undefined when the schedule ends before it. */
export function occurrence(schedule: Schedule, index: number): Occurrence | undefined {
  const { count, end_on } = schedule;
  if (count !== undefined && index >= count) return undefined;
  const on = dayOf(schedule, index);
  if (on === undefined || (end_on !== undefined && on > end_on)) return undefined;
  const next = dayOf(schedule, index + 1);
  return { index, on, until: next === undefined ? LAST_DAY : addDays(next, -1) };
}

/** Returns the period that ends the day before an occurrence. The first occurrence has one, too. */
export function periodBefore(schedule: Schedule, { index, on }: Occurrence): { from: string; to: string } {
  return { from: dayOf(schedule, index - 1) ?? on, to: addDays(on, -1) };
}

/** Returns the first occurrence on or after `day`, or undefined when there is none. */
export function occurrenceFrom(schedule: Schedule, day: string): Occurrence | undefined {
  const isBefore = (index: number) => (dayOf(schedule, index) ?? LAST_DAY) < day;
  let [before, from] = [-1, 0];
  while (isBefore(from)) [before, from] = [from, from * 2 + 1];
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2);
    if (isBefore(middle)) before = middle;
    else from = middle;
  }
  return occurrence(schedule, from);
}

/** Returns the days of the occurrences from `index` on, at most `most`. */
export function upcomingDays(schedule: Schedule, index: number, most: number): string[] {
  const days: string[] = [];
  while (days.length < most) {
    const next = occurrence(schedule, index + days.length);
    if (!next) break;
    days.push(next.on);
  }
  return days;
}

/** Counts the occurrences from `index` on that are not after `day`, up to `most`. */
export function occurrencesDue(
  schedule: Schedule,
  index: number,
  { day, most }: { day: string; most: number },
): number {
  let due = 0;
  while (due < most && (occurrence(schedule, index + due)?.on ?? LAST_DAY) <= day) due += 1;
  return due;
}

/** Returns the day of an occurrence without regard to the end of the schedule, or undefined after 9999-12-31. */
function dayOf({ every, unit, start_on, day }: Schedule, index: number): string | undefined {
  if (unit === 'week') {
    const days = index * every * DAYS_OF_A_WEEK;
    return days > (Date.parse(LAST_DAY) - Date.parse(start_on)) / DAY_MS ? undefined : addDays(start_on, days);
  }
  const wanted = day ?? Number(start_on.slice(-2));
  const months = unit === 'year' ? MONTHS_OF_A_YEAR : 1;
  const start = monthOf(start_on);
  // A yearly schedule keeps the month of its first day.
  const first = dayInMonth(start, wanted) < start_on ? start + months : start;
  const month = first + index * every * months;
  return month > monthOf(LAST_DAY) ? undefined : dayInMonth(month, wanted);
}

/** Returns the number of months since the year 0. */
function monthOf(day: string): number {
  return Number(day.slice(0, 4)) * MONTHS_OF_A_YEAR + Number(day.slice(5, 7)) - 1;
}

function dayInMonth(month: number, wanted: number): string {
  const year = String(Math.floor(month / MONTHS_OF_A_YEAR)).padStart(4, '0');
  const first = `${year}-${twoDigits((month % MONTHS_OF_A_YEAR) + 1)}-01`;
  return first.slice(0, -2) + twoDigits(Math.min(wanted, daysInMonth(first)));
}

function daysInMonth(first: string): number {
  const date = new Date(`${first}T00:00:00Z`);
  date.setUTCMonth(date.getUTCMonth() + 1, 0);
  return date.getUTCDate();
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}
