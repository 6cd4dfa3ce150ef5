// Words, numbers, days and amounts of a locale: labels from the dictionaries here, everything else from Intl.
import type Big from 'big.js';
import { memoize } from 'es-toolkit/function/memoize';
import { isWritten, kindOf, type Labels, labelsOf } from '#libs/documents/labels.ts';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { INTL_UNITS, type UnitFormat, type UnitName, unitName } from '#libs/rules/documents/units.ts';
import { DECIMALS_KEPT, decimalsOf } from '#libs/rules/money/money.ts';
import { currencySign, withoutMarks } from '#libs/rules/money/written-money.ts';
import { canDraw } from '../fonts/glyphs.ts';
import { asWritten } from './amounts.ts';
import { type DocumentLocale, MINUS, type Money, plainLocale } from './document-locale.ts';

/** The regions that use Letter paper, from CLDR. */
const LETTER_REGIONS = new Set('BZ CA CL CO CR GT MX NI PA PH PR SV US VE'.split(' '));

/**
 * Replacements for characters that some faces lack: the narrow spaces of French and of periods, the wide yen of
 * Japanese.
 */
const PLAINER: Record<string, string> = { '\u202f': '\u00a0', '\u2009': ' ', '\uffe5': '\u00a5' };

export function documentLocaleOf(document: PrintableDocument): DocumentLocale {
  const { locale, currency, pageSize } = document;
  const kind = kindOf(document);
  if (locale === undefined || currency === undefined) return plainLocale(document);
  const formats = makeFormats(locale);
  const { language, region, format } = formats.written;
  const labels = labelsOf(kind, language);
  const money = moneyIn(formats, currency);
  return {
    language: format,
    direction: language === 'ar' ? 'rtl' : 'ltr',
    pageSize: pageSize ?? (LETTER_REGIONS.has(region) ? 'letter' : 'a4'),
    labels,
    heading: labels.heading,
    digits: decimalsOf(currency),
    day: (day) => formats.days.format(startOf(day)),
    shortDay: (day) => plainer(formats.shortDays.format(startOf(day))),
    period: ({ from, to }) => plainer(formats.days.formatRange(startOf(from), startOf(to))),
    hours: (value, decimals) => printed(formats.hours[decimals] ?? formats.numbers, value),
    number: (value) => printed(formats.numbers, asWritten(value)),
    quantity: quantities(formats, labels),
    percent: (value) => printed(formats.percents, asWritten(value).div(100)),
    money,
    moneyIn: (code) => (code === currency ? money : moneyIn(formats, code)),
  };
}

function moneyIn({ written }: Formats, currency: string): DocumentLocale['money'] {
  const amounts = new Intl.NumberFormat(written.numbers, {
    style: 'currency',
    currency,
    currencyDisplay: symbolKind(written.numbers, currency),
    minimumFractionDigits: decimalsOf(currency),
    maximumFractionDigits: DECIMALS_KEPT,
    // Amounts in a column are grouped alike, even where running text would write 1000.
    useGrouping: 'always',
  });
  return (value) => moneyOf(amounts, asWritten(value));
}

interface Formats {
  written: WrittenLocale;
  numbers: Intl.NumberFormat;
  /** The formats of hours by their decimals. */
  hours: Intl.NumberFormat[];
  percents: Intl.NumberFormat;
  days: Intl.DateTimeFormat;
  shortDays: Intl.DateTimeFormat;
  /** Made when a line needs it, and used by all others. */
  unit: (options: UnitFormat) => Intl.NumberFormat;
}

function makeFormats(locale: string): Formats {
  const written = writtenLocale(locale);
  const numbers = (options: Intl.NumberFormatOptions) => new Intl.NumberFormat(written.numbers, options);
  // All documents use the Gregorian calendar, because ambiguous due dates are disputed.
  const days = (dateStyle: 'medium' | 'long') =>
    new Intl.DateTimeFormat(written.format, { dateStyle, timeZone: 'UTC', calendar: 'gregory' });
  return {
    written,
    numbers: numbers({ maximumFractionDigits: DECIMALS_KEPT }),
    hours: HOURS_DECIMALS.map((count) => numbers({ minimumFractionDigits: count, maximumFractionDigits: count })),
    percents: numbers({ style: 'percent', maximumFractionDigits: DECIMALS_KEPT }),
    days: days('long'),
    shortDays: days('medium'),
    unit: memoize(
      (options) =>
        new Intl.NumberFormat(written.format, { style: 'unit', ...options, maximumFractionDigits: DECIMALS_KEPT }),
      { getCacheKey: ({ unit }) => unit },
    ),
  };
}

function quantities(formats: Formats, labels: Labels): DocumentLocale['quantity'] {
  return (value, unit) => {
    const name = unit === undefined ? undefined : unitName(unit);
    const known = name && INTL_UNITS[name];
    if (known) return printed(formats.unit(known), asWritten(value));
    const number = printed(formats.numbers, asWritten(value));
    if (unit === undefined || name === 'one') return number;
    const word = unitWord(unit, name, labels);
    return name === 'lump_sum' && value.eq(1) ? word : `${number}\u00a0${word}`;
  };
}

/** Returns the word of a unit that Intl has none for. A unit without a name is printed as its code. */
function unitWord(unit: string, name: UnitName | undefined, labels: Labels): string {
  if (name === 'piece' || name === 'lump_sum') return labels.units[name];
  return name === 'm2' ? 'm²' : unit;
}

/** The decimals of hours, see hoursQuantity. */
const HOURS_DECIMALS = [0, 1, 2, 3, 4];

const startOf = (day: string) => new Date(`${day}T00:00:00Z`);

interface WrittenLocale {
  /** The language of the words. */
  language: string;
  region: string;
  /** The BCP 47 tag of words and days. */
  format: string;
  /** The BCP 47 tag of numbers and amounts. */
  numbers: string;
}

/**
 * Returns the tags of a locale. Documents in a language without a dictionary are English, with days in the form of
 * their region, because a mix of two languages is worse than either. Numbers keep the form of the locale, in European
 * digits.
 */
export function writtenLocale(locale: string): WrittenLocale {
  if (!isTag(locale)) return { language: 'en', region: '', format: 'en', numbers: 'en' };
  const { language, region = '' } = new Intl.Locale(locale).maximize();
  if (isWritten(language)) {
    const format = withDrawnDigits(locale);
    return { language, region, format, numbers: format };
  }
  const numbers = new Intl.Locale(locale, { numberingSystem: 'latn' }).toString();
  return { language: 'en', region, format: englishOf(region), numbers };
}

/**
 * Returns English as its region writes it, or international English (en-001): CLDR would write the days of all others
 * as America does.
 */
function englishOf(region: string): string {
  const own = `en-${region}`;
  return region && new Intl.DateTimeFormat(own).resolvedOptions().locale === own ? own : 'en-001';
}

/** False for the `de_DE` of a shell, which older accounts and their documents may have. */
export function isTag(locale: string): boolean {
  try {
    return Intl.getCanonicalLocales(locale).length > 0;
  } catch {
    return false;
  }
}

/** Returns the locale without its extensions when they ask for digits that no font has, such as `-u-nu-mathsans`. */
function withDrawnDigits(locale: string): string {
  const { numberingSystem, baseName } = new Intl.Locale(locale);
  if (!numberingSystem || canDraw(new Intl.NumberFormat(locale).format(-1_234_567_890.5))) return locale;
  return baseName;
}

/** Returns the kind of sign to print: the code, such as `AMD`, where no font has the sign. */
function symbolKind(format: string, currency: string): 'symbol' | 'narrowSymbol' | 'code' {
  const { kind, sign } = currencySign(format, currency);
  return canDraw(plainer(sign)) ? kind : 'code';
}

// The value goes in as text and not as a double, so that every digit is printed as it is stored.
function printed(format: Intl.NumberFormat, value: Big): string {
  return textOf(format.formatToParts(value.toFixed() as Intl.StringNumericLiteral), format);
}

function moneyOf(format: Intl.NumberFormat, value: Big): Money {
  const parts = format.formatToParts(value.toFixed() as Intl.StringNumericLiteral);
  const at = parts.findIndex(({ type }) => type === 'currency');
  const text = (from: number, to?: number) => textOf(parts.slice(from, to), format);
  return { before: text(0, at), symbol: text(at, at + 1), after: text(at + 1) };
}

function textOf(parts: Intl.NumberFormatPart[], format: Intl.NumberFormat): string {
  const isArabic = format.resolvedOptions().locale.startsWith('ar');
  const text = parts.map(({ type, value }) => (type === 'minusSign' ? value.replace('-', MINUS) : value)).join('');
  return plainer(isArabic ? text : withoutMarks(text));
}

/** Replaces characters that some faces lack. */
export function plainer(text: string): string {
  return text.replaceAll(/[\u202f\u2009\uffe5]/g, (sign) => PLAINER[sign] ?? sign);
}
