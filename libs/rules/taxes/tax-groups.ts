// Computes tax by group, as EN 16931 requires: the lines of one rate and category are summed first, and their tax is
// rounded once.
import Big from 'big.js';
import { type Line, percentOf, sumOfLines } from '../money/money.ts';

/**
 * Categories of EN 16931 (UNCL 5305): standard and reduced rates (S), zero rate (Z), exempt (E), reverse charge (AE),
 * export (G), outside the scope of tax (O), goods into another country of the EU (K).
 */
export const TAX_CATEGORIES = ['S', 'Z', 'E', 'AE', 'G', 'O', 'K'] as const;

export type TaxCategory = (typeof TAX_CATEGORIES)[number];

export interface TaxedLine extends Line {
  /** A percentage. Where undefined, the document's applies. */
  tax_rate?: number | undefined;
  tax_category?: TaxCategory | undefined;
}

/** The terms of a document that apply to lines without values of their own. */
export interface TaxTerms {
  currency: string;
  /** A percentage, 0 to 100. */
  tax_rate: number;
  tax_category?: TaxCategory | null | undefined;
  /** True when the sums of the lines contain the tax. */
  prices_include_tax?: boolean | undefined;
}

export interface LineTax {
  rate: number;
  /** Null for a rate of 0 without a category. Billhook never guesses its meaning. */
  category: TaxCategory | null;
}

/** Amounts are whole numbers of the currency's smallest unit. */
export interface TaxGroup extends LineTax {
  taxable: number;
  tax: number;
}

export interface TaxedSum {
  /** The sum before tax: Σ taxable. */
  amount: number;
  /** The sum of the tax: Σ tax. */
  tax_amount: number;
  total: number;
  /** The groups, with the highest rate first. */
  taxes: TaxGroup[];
}

const NO_CATEGORY = TAX_CATEGORIES.length;

/**
 * Returns rate and category of a line. A category other than S has no tax, so a line with such a category needs no
 * rate.
 */
export function taxOfLine(
  { tax_rate, tax_category }: Omit<TaxedLine, keyof Line>,
  terms: Omit<TaxTerms, 'currency'>,
): LineTax {
  if (tax_category && tax_category !== 'S') return { rate: tax_rate ?? 0, category: tax_category };
  const rate = tax_rate ?? terms.tax_rate;
  if (tax_category || rate > 0) return { rate, category: 'S' };
  const inherited = terms.tax_category ?? null;
  return { rate, category: inherited === 'S' ? null : inherited };
}

/** Sums the lines by rate and category. With one rate the result is round(amount × rate/100), as without groups. */
export function taxLines(lines: readonly TaxedLine[], terms: TaxTerms): TaxedSum {
  const groups = Map.groupBy(lines, (line) => keyOf(taxOfLine(line, terms)));
  if (groups.size === 0) return taxSum(0, terms);
  const taxes = [...groups.values()].map((members) => {
    const [first] = members as [TaxedLine];
    return taxGroup(sumOfLines(members, terms.currency), taxOfLine(first, terms), terms.prices_include_tax);
  });
  return summed(taxes);
}

/**
 * Taxes a sum without lines at the rate of the document.
 * @param sum in smallest units, with tax where prices include it.
 */
export function taxSum(sum: number, terms: TaxTerms): TaxedSum {
  return summed([taxGroup(sum, taxOfLine({}, terms), terms.prices_include_tax)]);
}

/** Returns the tax fields that a line needs to be in this group on a document with these terms. */
export function ownTax({ rate, category }: LineTax, terms: Omit<TaxTerms, 'currency'>): Omit<TaxedLine, keyof Line> {
  const standard = taxOfLine({}, terms);
  if (standard.rate === rate && standard.category === category) return {};
  return explicitTax({ rate, category });
}

/** Returns the tax fields that put a line into the group, whatever the terms of its document. */
export function explicitTax({ rate, category }: LineTax): Omit<TaxedLine, keyof Line> {
  return category === null || category === 'S' ? { tax_rate: rate } : { tax_category: category };
}

export function isSameTax(one: LineTax, other: LineTax): boolean {
  return one.rate === other.rate && one.category === other.category;
}

/** Returns the agreed sum of a group: with its tax where prices include it. */
export function groupSum(
  { taxable, tax }: TaxGroup,
  { prices_include_tax }: Pick<TaxTerms, 'prices_include_tax'>,
): number {
  return prices_include_tax ? taxable + tax : taxable;
}

/**
 * Splits an amount over groups in proportion to their worth. The shares add up exactly: the largest remainders take the
 * cents.
 * @param amount in smallest units.
 * @param groups worth more than 0 together.
 * @returns a share for each group, in their order.
 */
export function splitByGroup(amount: number, groups: readonly Pick<TaxGroup, 'taxable'>[]): number[] {
  const whole = groups.reduce((sum, { taxable }) => sum.plus(taxable), new Big(0));
  if (whole.lte(0)) throw new RangeError('groups that are worth nothing take no share');
  const exact = groups.map(({ taxable }) => new Big(amount).times(taxable).div(whole));
  const shares = exact.map(floor);
  const left = amount - exactSum(shares);
  const byRemainder = [...exact.keys()].toSorted((one, other) => remainder(other) - remainder(one) || one - other);
  for (const index of byRemainder.slice(0, left)) shares[index] = (shares[index] as number) + 1;
  return shares;

  function remainder(index: number): number {
    return (exact[index] as Big).minus(shares[index] as number).toNumber();
  }
}

function taxGroup(sum: number, { rate, category }: LineTax, isInclusive = false): TaxGroup {
  const tax = isInclusive ? taxWithin(sum, rate) : percentOf(sum, rate);
  return { rate, category, taxable: isInclusive ? sum - tax : sum, tax };
}

/** Returns round(gross × rate/(100 + rate)), half away from zero. */
function taxWithin(gross: number, rate: number): number {
  // The division is cut off after twenty places. A quotient of such numbers is exact there, or farther from a tie than
  // that.
  return new Big(gross).times(rate).div(new Big(100).plus(rate)).round(0, Big.roundHalfUp).toNumber() + 0; // + 0 makes −0 plain.
}

function summed(groups: readonly TaxGroup[]): TaxedSum {
  const taxes = groups.toSorted(byRate);
  const amount = exactSum(taxes.map(({ taxable }) => taxable));
  const tax_amount = exactSum(taxes.map(({ tax }) => tax));
  return { amount, tax_amount, total: amount + tax_amount, taxes };
}

// Sums as decimals: two huge groups that cancel out must not leave the noise of doubles behind.
function exactSum(values: readonly number[]): number {
  return values.reduce((sum, value) => sum.plus(value), new Big(0)).toNumber() + 0;
}

function floor(value: Big): number {
  const cut = value.round(0, Big.roundDown);
  return (cut.gt(value) ? cut.minus(1) : cut).toNumber() + 0;
}

function keyOf({ rate, category }: LineTax): string {
  return `${rate} ${category}`;
}

function byRate(one: LineTax, other: LineTax): number {
  return other.rate - one.rate || placeOf(one) - placeOf(other);
}

function placeOf({ category }: LineTax): number {
  return category === null ? NO_CATEGORY : TAX_CATEGORIES.indexOf(category);
}
