// Writes the texts of lines: fills templates, bounds their length, and writes days and hours in the form of the account.

import { LRUCache } from 'lru-cache';
import { intlLocale } from '../../profile-forms.ts';

/** The largest length of a line's text in characters, as the input of line items has it. */
const TEXT_LONGEST = 2_000;
/**
 * The most characters that values may add to the text of a line. The cut at TEXT_LONGEST removes all text beyond it
 * anyway.
 */
const ADDED_LONGEST = 2 * TEXT_LONGEST;

/**
 * Puts values in the place of `{name}`. An absent value leaves nothing behind, no second blank either. Unknown names
 * stay.
 * @param most characters that all values add together.
 */
export function filled(
  template: string,
  values: Readonly<Record<string, string | undefined>>,
  most = Number.POSITIVE_INFINITY,
): string {
  let room = most;
  return template
    .replaceAll(/ ?\{(\w+)\}/g, (found, key: string) => {
      const isKnown = Object.hasOwn(values, key);
      const before = found.startsWith(' ') ? ' ' : '';
      if (!isKnown) return found;
      const value = values[key]?.slice(0, room) ?? '';
      room -= value.length;
      return value ? before + value : '';
    })
    .trim();
}

/**
 * Returns the text of a line. A template may repeat a long value a hundred times, so the text is bounded while it is
 * made.
 */
export function filledLine(template: string, values: Readonly<Record<string, string | undefined>>): string {
  return cutToLine(filled(template, values, ADDED_LONGEST));
}

/** Joins the distinct texts among many, and stops at the length that a line shows. */
export function joinedForLine(texts: readonly string[], separator: string): string {
  const seen = new Set(['']);
  let joined = '';
  for (const text of texts) {
    const trimmed = text.trim();
    if (seen.has(trimmed)) continue;
    seen.add(trimmed);
    joined += joined ? separator + trimmed : trimmed;
    if (joined.length > ADDED_LONGEST) break;
  }
  return joined;
}

/** Cuts a text to the length of a line, never between the two halves of a surrogate pair. */
export function cutToLine(text: string, longest = TEXT_LONGEST): string {
  if (text.length <= longest) return text;
  const cut = `${text.slice(0, longest - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
  // A slice would keep the whole text in memory, so this makes a copy.
  return Buffer.from(cut).toString();
}

/** True for a template whose text names its days. */
export function namesDays(template: string): boolean {
  return /\{(date|from|to)\}/.test(template);
}

/** Puts the days of a line below its text, which is cut so that they stay. @param days see writtenDays. */
export function withDays(text: string, days: string): string {
  return `${cutToLine(text, TEXT_LONGEST - days.length - 1)}\n${days}`;
}

interface Formats {
  day: Intl.DateTimeFormat;
  month: Intl.DateTimeFormat;
  hours: Intl.NumberFormat;
}

/** A formatter costs a hundred times more to make than to use, and an invoice has up to 500 lines. */
const FORMATS_MAX = 100;
const formats = new LRUCache<string, Formats>({ max: FORMATS_MAX });

function formatsOf(given: string): Formats {
  const locale = intlLocale(given);
  const known = formats.get(locale);
  if (known) return known;
  const made = {
    day: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }),
    month: new Intl.DateTimeFormat(locale, { month: 'long', timeZone: 'UTC' }),
    hours: new Intl.NumberFormat(locale, { maximumFractionDigits: 4 }),
  };
  formats.set(locale, made);
  return made;
}

/** Writes a calendar day in the language of the locale. @param day `YYYY-MM-DD`. */
export function writtenDay(day: string, locale: string): string {
  return formatsOf(locale).day.format(new Date(`${day}T00:00:00Z`));
}

/** Writes the first and the last of some calendar days, or their only one. */
export function writtenDays({ from, to }: { from: string; to: string }, locale: string): string {
  const [first, last] = [writtenDay(from, locale), writtenDay(to, locale)];
  return first === last ? first : `${first} – ${last}`;
}

/** Returns the name of a day's month. @param day `YYYY-MM-DD`. */
export function writtenMonth(day: string, locale: string): string {
  return formatsOf(locale).month.format(new Date(`${day}T00:00:00Z`));
}

/** Writes hours in the form of the locale. @param quantity see hoursQuantity. */
export function writtenHours(quantity: string, locale: string): string {
  return formatsOf(locale).hours.format(Number(quantity));
}
