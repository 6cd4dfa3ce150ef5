// Writes amounts as a locale does in running text: with the decimals of ISO 4217, and the currency sign that documents
// print.
import { intlLocale } from '../../profile-forms.ts';
import { decimalsOf, fromMinor } from './money.ts';

/** Signs that several countries use for different currencies. */
const AMBIGUOUS = /^(?:\$|£|¥|￥|kr|₨|Rs)\.?$/;

/**
 * Returns `€` rather than `EUR`, but `CA$` where a reader takes `$` for another currency. In Arabic it returns Arabic's
 * own names.
 */
export function currencySign(format: string, currency: string): { kind: 'symbol' | 'narrowSymbol'; sign: string } {
  const signOf = (currencyDisplay: 'symbol' | 'narrowSymbol') => {
    const parts = new Intl.NumberFormat(format, { style: 'currency', currency, currencyDisplay }).formatToParts(0);
    return parts.find(({ type }) => type === 'currency')?.value ?? '';
  };
  const narrow = signOf('narrowSymbol');
  if (AMBIGUOUS.test(narrow) || isArabic(format)) return { kind: 'symbol', sign: signOf('symbol') };
  return { kind: 'narrowSymbol', sign: narrow };
}

/** Writes an amount with its currency sign. @param minor in the smallest unit. @param locale BCP 47. */
export function writtenMoney(minor: number, currency: string, locale: string): string {
  return moneyFormat(intlLocale(locale), currency).format(fromMinor(minor, currency));
}

/** Writes amounts of one currency. @param major as responses have it. */
export interface MoneyFormat {
  format: (major: number) => string;
}

/** Returns the format of amounts. @param most the most decimals. Prices may be finer than their currency. */
export function moneyFormat(locale: string, currency: string, most = 0): MoneyFormat {
  const digits = decimalsOf(currency); // The data of the runtime has fewer decimals for some currencies.
  const amounts = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    currencyDisplay: currencySign(locale, currency).kind,
    minimumFractionDigits: digits,
    maximumFractionDigits: Math.max(digits, most),
  });
  const directed = isArabic(locale) ? withWholeSign : withoutMarks;
  return { format: (major) => directed(amounts.format(major)) };
}

const isArabic = (format: string) => /^ar\b/.test(format);

/** Ends a sign such as `US$` with a mark from left to right: between Arabic words it would be shown as `$US`. */
const withWholeSign = (text: string) => text.replace(/\p{Lu}+\p{Sc}/u, '$&\u200e');

/** Removes the direction marks that Hebrew and Persian put around a number. They would reverse it in English words. */
export const withoutMarks = (text: string) => text.replaceAll(/[\u200e\u200f\u061c]/g, '');
