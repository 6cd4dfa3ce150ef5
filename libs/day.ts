// Calendar days as `YYYY-MM-DD` strings. They are never a local Date, so no time zone shifts them.
import { LRUCache } from 'lru-cache';

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;

/** The last day that this form can write. */
export const LAST_DAY = '9999-12-31';

/** True for a real calendar day from 0001-01-01 to 9999-12-31, written `YYYY-MM-DD`. */
export function isDay(text: string): boolean {
  const [, year, month, dayOfMonth] = DAY.exec(text) ?? [];
  if (!year || !month || !dayOfMonth || year === '0000') return false;
  const date = new Date(`${text}T00:00:00Z`);
  // JavaScript rolls 30 February over to March, so the parts must round-trip.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

const INSTANT = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/**
 * Reads an ISO 8601 timestamp with a zone, or a day as its midnight in UTC.
 * @returns undefined when the text is neither.
 */
export function instantOf(text: string): Date | undefined {
  if (!isDay(INSTANT.exec(text)?.[1] ?? '')) return undefined;
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** Returns the day `count` days after `day`, or before it when negative. */
export function addDays(day: string, count: number): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + count);
  return date.toISOString().slice(0, 10);
}

/** The time zone in which a day begins first. A day that has not passed here has passed nowhere. */
export const EARLIEST_ZONE = 'Pacific/Kiritimati';
/** The largest distance of a time zone from UTC. */
const OFFSET_MAX_MS = 15 * 3_600_000;

/**
 * Returns the first instant of `day` in `timeZone`, to the millisecond. Bisection finds it, so that changes of the
 * clock count.
 */
export function startOfDay(timeZone: string, day: string): Date {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  let [before, from] = [midnight - OFFSET_MAX_MS, midnight + OFFSET_MAX_MS];
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2);
    if (dayIn(timeZone, new Date(middle)) < day) before = middle;
    else from = middle;
  }
  return new Date(from);
}

/** More than there are time zones. Each format takes 30 KB and one zone has many spellings, so the cache is bounded. */
const FORMATS_MAX = 500;
const formats = new LRUCache<string, Intl.DateTimeFormat>({ max: FORMATS_MAX });

/** Returns the calendar day in `timeZone` (an IANA name) at `instant`. */
export function dayIn(timeZone: string, instant: Date = new Date()): string {
  let format = formats.get(timeZone);
  if (!format) {
    // en-CA writes days as YYYY-MM-DD.
    format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
    formats.set(timeZone, format);
  }
  return format.format(instant);
}

const offsetFormats = new LRUCache<string, Intl.DateTimeFormat>({ max: FORMATS_MAX });
const OFFSET = /GMT(?:([+-])(\d{2}):(\d{2}))?/;
const MINUTE_MS = 60_000;

/** Returns the distance of the clocks in `timeZone` from UTC in milliseconds. @param instant in milliseconds. */
export function offsetIn(timeZone: string, instant: number): number {
  let format = offsetFormats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
    offsetFormats.set(timeZone, format);
  }
  const [, sign, hours = '0', minutes = '0'] = OFFSET.exec(format.format(instant)) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
}
