// How a quote is billed in parts: shares of its amount, and the lines that take earlier parts off the final invoice.
import Big from 'big.js';
import { filled, lineTexts, writtenDay } from './line-texts.ts';
import { type Decimal, fromMinor, type Line, plainDecimal, sumOfLines } from './money.ts';

export const QUOTE_PARTS = ['full', 'deposit', 'progress', 'final'] as const;

export type QuotePart = (typeof QUOTE_PARTS)[number];

type TextLine = Line & { description: string };

/** An invoice that bills a part of the quote and was not cancelled. Amounts in the smallest unit. */
export interface BilledPart {
  /** As it is printed. */
  number: string;
  /** `YYYY-MM-DD`. */
  day: string;
  /** Before tax. */
  amount: number;
  tax_amount: number;
}

/** What no part has billed yet, before tax; never less than nothing. */
export function leftToBill(quoted: number, parts: readonly Pick<BilledPart, 'amount'>[]): number {
  return Math.max(
    0,
    parts.reduce((left, { amount }) => left - amount, quoted),
  );
}

/** round(quoted × percent/100), half away from zero, in the smallest unit. */
export function shareOf(quoted: number, percent: Decimal): number {
  return new Big(quoted).times(percent).times('0.01').round(0, Big.roundHalfUp).toNumber();
}

export interface QuoteTexts {
  /** BCP 47, the account's. */
  locale: string;
  currency: string;
}

/** The one line of a deposit or a progress invoice. @param amount before tax, in the smallest unit. */
export function partLine(
  part: 'deposit' | 'progress',
  { amount, percent, quoteNumber }: { amount: number; percent?: Decimal | undefined; quoteNumber: string },
  { locale, currency }: QuoteTexts,
): TextLine {
  const share = percent === undefined ? undefined : writtenPercent(percent, locale);
  return single(filled(lineTexts(locale)[part], { share, quote: quoteNumber }), amount, currency);
}

/**
 * The lines that bill the quoted amount: those of the quote, and where they sum to something else, one that makes up the difference.
 * @param whenEmpty the text of the line when the quote has none.
 */
export function quotedLines(
  { amount, line_items, whenEmpty }: { amount: number; line_items: readonly TextLine[] | null; whenEmpty: string },
  { locale, currency }: QuoteTexts,
): TextLine[] {
  if (!line_items || line_items.length === 0) return [single(whenEmpty, amount, currency)];
  const difference = amount - sumOfLines(line_items, currency);
  if (difference === 0) return [...line_items];
  return [...line_items, single(lineTexts(locale).adjustment, difference, currency)];
}

/** One negative line for each earlier part, which says what tax it had. */
export function deductions(parts: readonly BilledPart[], { locale, currency }: QuoteTexts): TextLine[] {
  const texts = lineTexts(locale);
  return parts.map(({ number, day, amount, tax_amount }) => {
    const text = filled(texts.billedBefore, { invoice: number, date: writtenDay(day, locale) });
    const tax = filled(texts.taxIncluded, { tax: writtenAmount(tax_amount, currency, locale) });
    return single(tax_amount === 0 ? text : `${text} (${tax})`, -amount, currency);
  });
}

function single(description: string, amount: number, currency: string): TextLine {
  return { description, qty: '1', rate: plainDecimal(fromMinor(amount, currency)), discount: '0' };
}

function writtenPercent(percent: Decimal, locale: string): string {
  const share = Number(new Big(percent).times('0.01').toFixed());
  return new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 6 }).format(share);
}

function writtenAmount(minor: number, currency: string, locale: string): string {
  return new Intl.NumberFormat(locale, { style: 'currency', currency }).format(fromMinor(minor, currency));
}
