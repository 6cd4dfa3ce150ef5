// The locale of a document: its words, and the form of its numbers, days and amounts.
import type Big from 'big.js';
import { kindOf, type Labels, labelsOf } from '#libs/documents/labels.ts';
import type { PageSize, PrintableDocument } from '#libs/jobs/printable-document.ts';
import { asWritten, currencyGap, digitsOf, groupedNumber, isNegative } from './amounts.ts';

/**
 * An amount with symbol and number apart, so that neither reorders the other where one is written from right to left.
 */
export interface Money {
  /** The sign, and the number where a locale writes it first. */
  before: string;
  symbol: string;
  /** The number with the gap before it, or nothing. */
  after: string;
}

export interface DocumentLocale {
  /** A BCP 47 tag of the language of the words. */
  language: string;
  direction: 'ltr' | 'rtl';
  pageSize: PageSize;
  labels: Labels;
  heading: string;
  /** The decimals of an amount. */
  digits: number;
  /** Writes a day. @param day `YYYY-MM-DD`. */
  day: (day: string) => string;
  /** Writes a day as short as possible with the month in words, for a column. */
  shortDay: (day: string) => string;
  /** Writes a period. @param days `YYYY-MM-DD`, the first and the last. */
  period: (days: { from: string; to: string }) => string;
  number: (value: Big) => string;
  /** Writes a quantity. @param unit see units.ts; it comes after the number. */
  quantity: (value: Big, unit: string | undefined) => string;
  /** Writes hours with this many decimals, so that units stand below units in a column. */
  hours: (value: Big, decimals: number) => string;
  /** Writes a percentage. @param value 20 for 20 %. */
  percent: (value: Big) => string;
  money: (value: Big) => Money;
  /** Returns the function that writes amounts of another currency. @param currency an ISO 4217 code. */
  moneyIn: (currency: string) => (value: Big) => Money;
}

/** Returns the locale of documents with a currency symbol and no locale: English, with decimals by the symbol. */
export function plainLocale(document: PrintableDocument): DocumentLocale {
  const digits = digitsOf(document);
  const symbol = document.currencySymbol.trim();
  const gap = currencyGap(symbol);
  const number = (given: Big) => {
    const value = asWritten(given);
    return `${signOf(value)}${groupedNumber(value, 0)}`;
  };
  const money = (given: Big) => {
    const value = asWritten(given);
    return { before: signOf(value), symbol, after: `${gap}${groupedNumber(value, digits)}` };
  };
  return {
    language: 'en',
    direction: 'ltr',
    pageSize: 'a4',
    labels: labelsOf(kindOf(document)),
    heading: document.title,
    digits,
    day: printedDay,
    shortDay: printedDay,
    period: ({ from, to }) => `${printedDay(from)} – ${printedDay(to)}`,
    number,
    quantity: number,
    hours: (value, decimals) => groupedNumber(value, decimals),
    percent: (value) => `${number(value)}%`,
    money,
    moneyIn: () => money,
  };
}

/**
 * The minus sign, as wide and high as a plus. The hyphen of some faces is hard to see, for example before a euro sign.
 */
export const MINUS = '\u2212';

const signOf = (value: Big) => (isNegative(value) ? MINUS : '');

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/**
 * Writes a day: `2026-03-05` → `5 March 2026`. It works on the text, so no time zone can move the day. The month is in
 * words, because 03/05 means two dates.
 */
function printedDay(day: string): string {
  const [year, month, dayOfMonth] = day.split('-');
  return `${Number(dayOfMonth)} ${MONTHS[Number(month) - 1]} ${Number(year)}`;
}
