// Bills a quote in parts: shares of its amount, and the lines that take earlier parts off the final invoice.

import Big from 'big.js';
import { intlLocale } from '../../profile-forms.ts';
import type { TextLine } from '../documents/line-item.ts';
import { lineTexts } from '../documents/line-texts.ts';
import { filled, writtenDay } from '../documents/line-wording.ts';
import { type Decimal, fromMinor, isWithin, plainDecimal } from '../money/money.ts';
import { writtenMoney } from '../money/written-money.ts';
import {
  explicitTax,
  groupSum,
  isSameTax,
  ownTax,
  splitByGroup,
  type TaxGroup,
  type TaxTerms,
  taxLines,
} from '../taxes/tax-groups.ts';

export const QUOTE_PARTS = ['full', 'deposit', 'progress', 'final'] as const;

export type QuotePart = (typeof QUOTE_PARTS)[number];

/** The part of a quote that one invoice bills. Amounts are in the smallest unit. */
export interface BilledPart {
  /** The number as it is printed. */
  number: string;
  /** `YYYY-MM-DD`. */
  day: string;
  /** The part of the agreed sum, see agreedSum. */
  amount: number;
  taxes: readonly TaxGroup[];
}

interface Agreed {
  amount: number;
  tax_amount: number;
  prices_include_tax?: boolean | undefined;
}

/** Returns the agreed sum, which the parts add up to: before tax, or with tax where prices include it. */
export function agreedSum({ amount, tax_amount, prices_include_tax }: Agreed): number {
  return prices_include_tax ? amount + tax_amount : amount;
}

/** Returns the part of the agreed sum that is not billed yet. It is never below 0. */
export function leftToBill(quoted: number, parts: readonly Pick<BilledPart, 'amount'>[]): number {
  return Math.max(
    0,
    parts.reduce((left, { amount }) => left - amount, quoted),
  );
}

/** The terms of the quote and its parts, with the language of their texts. */
export interface QuoteTexts extends TaxTerms {
  /** The locale of the account, BCP 47. */
  locale: string;
}

/** Returns the line of a part of a sum without tax groups, such as a fixed amount. @param amount in the smallest unit. */
export function partLine(
  part: 'deposit' | 'progress',
  { amount, percent, quoteNumber }: { amount: number; percent?: Decimal | undefined; quoteNumber: string },
  { locale, currency }: Pick<QuoteTexts, 'locale' | 'currency'>,
): TextLine {
  const share = percent === undefined ? undefined : writtenPercent(percent, locale);
  return single(filled(lineTexts(locale)[part], { share, quote: quoteNumber }), amount, currency);
}

/**
 * Returns the lines of a deposit or a progress invoice: one for each tax group of the quote, with its share.
 * @param amount of the agreed sum, in the smallest unit.
 * @param taxes see groupsLeft.
 * @param terms of the quote.
 */
export function partLines(
  part: 'deposit' | 'progress',
  wanted: { amount: number; percent?: Decimal | undefined; quoteNumber: string; taxes: readonly TaxGroup[] },
  { locale, ...terms }: QuoteTexts,
): TextLine[] {
  const { amount, percent, quoteNumber, taxes } = wanted;
  const { description: text } = partLine(part, { amount, percent, quoteNumber }, { locale, currency: terms.currency });
  const worths = taxes.map((group) => ({ taxable: groupSum(group, terms) }));
  const shares = taxes.length === 1 ? [amount] : splitByGroup(amount, worths);
  return taxes.flatMap((group, index) => {
    const sum = shares[index] ?? 0;
    const description = taxes.length === 1 ? text : `${text} (${writtenPercent(group.rate, locale)})`;
    return sum === 0 ? [] : [{ ...single(description, sum, terms.currency), ...ownTax(group, terms) }];
  });
}

/**
 * Returns the part of each tax group of the quote that is not billed yet. The next part takes its share of that, so
 * that each rate adds up. A change before sending may give an invoice in full other groups; then the quote's own groups
 * count.
 */
export function groupsLeft(
  quote: Agreed & { taxes: readonly TaxGroup[] },
  parts: readonly BilledPart[],
): readonly TaxGroup[] {
  const billed = parts.flatMap(({ taxes }) => taxes);
  const left = quote.taxes.map((group) => {
    const same = billed.filter((one) => isSameTax(one, group));
    const sum = same.reduce((rest, one) => rest - groupSum(one, quote), groupSum(group, quote));
    return { ...group, taxable: sum, tax: 0 };
  });
  const isPart = left.every(({ taxable }, index) => isWithin(taxable, groupSum(quote.taxes[index] as TaxGroup, quote)));
  const rest = left.reduce((sum, { taxable }) => sum + taxable, 0);
  return isPart && rest === leftToBill(agreedSum(quote), parts) ? left : quote.taxes;
}

/**
 * Returns the lines that bill the quoted amount: those of the quote, and lines that make up a difference at each of its
 * rates.
 * @param amount the agreed sum.
 * @param taxes of the quote.
 * @param whenEmpty the text of the line when the quote has none.
 */
export function quotedLines(
  {
    amount,
    line_items,
    taxes,
    whenEmpty,
  }: { amount: number; line_items: readonly TextLine[] | null; taxes: readonly TaxGroup[]; whenEmpty: string },
  { locale, ...terms }: QuoteTexts,
): TextLine[] {
  if (!line_items || line_items.length === 0) return [single(whenEmpty, amount, terms.currency)];
  const lines = taxLines(line_items, terms).taxes;
  const differences = taxes.map((group) => {
    const same = lines.find((one) => isSameTax(one, group));
    return { group, sum: groupSum(group, terms) - (same ? groupSum(same, terms) : 0) };
  });
  const adjustments = differences.filter(({ sum }) => sum !== 0);
  const text = lineTexts(locale).adjustment;
  return [
    ...line_items,
    ...adjustments.map(({ group, sum }) => ({
      ...single(
        adjustments.length === 1 ? text : `${text} (${writtenPercent(group.rate, locale)})`,
        sum,
        terms.currency,
      ),
      ...ownTax(group, terms),
    })),
  ];
}

/** Returns negative lines for each earlier part: one for each of its tax groups, with the tax that it had. */
export function deductions(parts: readonly BilledPart[], { locale, ...terms }: QuoteTexts): TextLine[] {
  const texts = lineTexts(locale);
  return parts.flatMap(({ number, day, taxes }) => {
    const text = filled(texts.billedBefore, { invoice: number, date: writtenDay(day, locale) });
    return taxes.flatMap((group): TextLine[] => {
      const sum = groupSum(group, terms);
      if (sum === 0) return [];
      const tax = filled(texts.taxIncluded, { tax: writtenMoney(group.tax, terms.currency, locale) });
      const description = group.tax === 0 ? text : `${text} (${tax})`;
      // The line names its rate even where the quote has the same: the rate of the draft may change, that of the part
      // does not.
      return [{ ...single(description, -sum, terms.currency), ...explicitTax(group) }];
    });
  });
}

function single(description: string, amount: number, currency: string): TextLine {
  return { description, qty: '1', rate: plainDecimal(fromMinor(amount, currency)), discount: '0' };
}

/** Writes a percentage as the locale does: 33.3 → `33,3 %` in German. @param locale BCP 47. */
export function writtenPercent(percent: Decimal, locale: string): string {
  const share = Number(new Big(percent).times('0.01').toFixed());
  return new Intl.NumberFormat(intlLocale(locale), { style: 'percent', maximumFractionDigits: 6 }).format(share);
}
