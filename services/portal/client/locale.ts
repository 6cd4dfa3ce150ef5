// Words, numbers, days and amounts of a page, in the language of its document.
import { LRUCache } from 'lru-cache';
import { isWritten, type Labels, labelsOf } from '#libs/documents/labels.ts';
import { dayFormat } from '#libs/mail/mail-values.ts';
import { intlLocale } from '#libs/profile-forms.ts';
import { INTL_UNITS, unitName } from '#libs/rules/documents/units.ts';
import { DECIMALS_KEPT, fromMinor } from '#libs/rules/money/money.ts';
import { type MoneyFormat, moneyFormat } from '#libs/rules/money/written-money.ts';
import { languageOf } from '#libs/rules/taxes/document-taxes.ts';
import { type PageWords, pageWords } from './words.ts';

export interface PageLocale {
  /** The language of the words, ISO 639-1. */
  language: string;
  direction: 'ltr' | 'rtl';
  words: PageWords;
  labels: { invoice: Labels; quote: Labels };
  /** Writes an amount. @param major as responses have it. */
  money: (major: number, currency?: string) => string;
  /** Writes an amount. @param minor in the smallest unit. */
  minor: (minor: number, currency?: string) => string;
  /** Writes a plain decimal. */
  number: (decimal: string | number) => string;
  /** Writes a quantity. @param unit see units.ts; it comes after the number. */
  quantity: (decimal: string | number, unit: string | undefined) => string;
  /** @param value 20 for 20 %. */
  percent: (value: string | number) => string;
  /** @param day `YYYY-MM-DD`. */
  day: (day: string) => string;
}

const RIGHT_TO_LEFT = new Set(['ar']);

/** Making the formats of a page takes a fifth of its processor time. */
const LOCALES = new LRUCache<string, PageLocale>({ max: 200 });

/** Returns the locale. English stands in for a language without words, as on documents. @param currency of amounts that name none. */
export function pageLocale(locale: string, currency = 'USD'): PageLocale {
  const key = `${currency} ${locale}`;
  const known = LOCALES.get(key) ?? makeLocale(locale, currency);
  LOCALES.set(key, known);
  return known;
}

function makeLocale(locale: string, currency: string): PageLocale {
  const days = dayFormat(locale);
  const own = languageOf(locale);
  const language = isWritten(own) ? own : 'en';
  const tag = isWritten(own) ? intlLocale(locale) : latin(locale);
  const labels = labelsOf('invoice', language);
  const amounts = new Map<string, MoneyFormat>();
  const amountsIn = (code: string) => {
    const known = amounts.get(code) ?? moneyFormat(tag, code, DECIMALS_KEPT);
    amounts.set(code, known);
    return known;
  };
  const numbers = new Intl.NumberFormat(tag, { maximumFractionDigits: DECIMALS_KEPT });
  const percents = new Intl.NumberFormat(tag, { style: 'percent', maximumFractionDigits: DECIMALS_KEPT });
  return {
    language,
    direction: RIGHT_TO_LEFT.has(language) ? 'rtl' : 'ltr',
    words: pageWords(language),
    labels: { invoice: labels, quote: labelsOf('quote', language) },
    money: (major, code = currency) => withMinus(amountsIn(code).format(major)),
    minor: (minor, code = currency) => withMinus(amountsIn(code).format(fromMinor(minor, code))),
    number: (decimal) => numbers.format(Number(decimal)),
    quantity: (decimal, unit) => quantityOf(Number(decimal), unit, { tag, numbers, units: labels.units }),
    percent: (value) => percents.format(Number(value) / 100),
    day: (day) => days.format(new Date(`${day}T00:00:00Z`)),
  };
}

/** The sign of documents: the hyphen of some faces is hard to see. */
function withMinus(text: string): string {
  return text.replace('-', '\u2212');
}

/** Writes a quantity with its unit, as documents do. A unit without a name is shown as its code. */
function quantityOf(
  value: number,
  unit: string | undefined,
  { tag, numbers, units }: { tag: string; numbers: Intl.NumberFormat; units: Labels['units'] },
): string {
  const name = unit === undefined ? undefined : unitName(unit);
  const known = name && INTL_UNITS[name];
  if (known)
    return new Intl.NumberFormat(tag, { style: 'unit', ...known, maximumFractionDigits: DECIMALS_KEPT }).format(value);
  const number = numbers.format(value);
  if (unit === undefined || name === 'one') return number;
  if (name === 'lump_sum' && value === 1) return units.lump_sum;
  const word = name === 'piece' || name === 'lump_sum' ? units[name] : name === 'm2' ? 'm²' : unit;
  return `${number}\u00a0${word}`;
}

/** Returns the locale with European digits. Numbers keep its form. */
function latin(locale: string): string {
  return new Intl.Locale(intlLocale(locale), { numberingSystem: 'latn' }).toString();
}
