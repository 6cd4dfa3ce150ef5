// The discount and the shipping of a whole document: an allowance and a charge in the sense of EN 16931 (BG-20 and BG-21).
import { type DetailsForm, fieldProblem } from '../../errors.ts';
import { type Decimal, fromMinor, isAmount, sumOfLines, toMinor, withoutNoise } from '../money/money.ts';
import { shareOf } from '../quotes/quote-parts.ts';
import {
  type LineTax,
  splitByGroup,
  type TaxCategory,
  type TaxedLine,
  type TaxTerms,
  taxLines,
  taxOfLine,
} from '../taxes/tax-groups.ts';

/** As a document stores them: amounts are whole numbers of the currency's smallest unit, with tax where prices include it. */
export interface DocumentCharges {
  /** Absent where there is none, as are the others. */
  discount_amount?: number | undefined;
  /** Percentage of the sum of the lines; `discount_amount` follows from it. */
  discount_percent?: number | undefined;
  shipping_amount?: number | undefined;
  /** Percentage; the document's unless given. */
  shipping_tax_rate?: number | undefined;
  shipping_tax_category?: TaxCategory | undefined;
}

/** As callers write them: amounts are in major units, and null takes one back. */
export interface GivenCharges {
  discount_amount?: Decimal | null | undefined;
  discount_percent?: Decimal | null | undefined;
  shipping_amount?: Decimal | null | undefined;
  shipping_tax_rate?: number | null | undefined;
  shipping_tax_category?: TaxCategory | null | undefined;
}

/** Names of the fields, which a change of money looks for. */
export const CHARGES = [
  'discount_amount',
  'discount_percent',
  'shipping_amount',
  'shipping_tax_rate',
  'shipping_tax_category',
] as const satisfies readonly (keyof DocumentCharges)[];

/** What one tax group takes of a discount. */
export interface DiscountShare extends LineTax {
  /** Sum of its lines before the discount, as priced. */
  lines: number;
  amount: number;
}

export function hasCharges({ discount_amount, shipping_amount }: DocumentCharges): boolean {
  return Boolean(discount_amount || shipping_amount);
}

/**
 * The discount and the shipping that a document with these lines has.
 * @throws AppError 400 without lines, for a discount beyond their sum, and for an amount and a percentage that disagree.
 */
export function documentCharges(
  given: GivenCharges,
  lines: readonly TaxedLine[] | null,
  terms: TaxTerms,
  details?: DetailsForm,
): DocumentCharges {
  const charges = { ...discountOf(given, lines, terms, details), ...shippingOf(given, terms, details) };
  if (lines || !(hasCharges(charges) || charges.discount_percent)) return charges;
  // An amount alone would be read as the sum before them by one caller, and as the sum after them by another.
  const field = charges.shipping_amount ? 'shipping_amount' : nameOfDiscount(charges);
  throw fieldProblem(field, `${field} needs line_items`, details);
}

/** The same of a recurring invoice, whose lines are those of each occurrence. @throws AppError 400 for shipping that cannot be taxed so. */
export function templateCharges(given: GivenCharges, terms: TaxTerms): DocumentCharges {
  return { ...discountOf(given, null, terms), ...shippingOf(given, terms) };
}

function nameOfDiscount({ discount_percent }: GivenCharges): 'discount_amount' | 'discount_percent' {
  return discount_percent === undefined ? 'discount_amount' : 'discount_percent';
}

function discountOf(
  { discount_amount, discount_percent }: GivenCharges,
  lines: readonly TaxedLine[] | null,
  { currency }: TaxTerms,
  details?: DetailsForm,
): Pick<DocumentCharges, 'discount_amount' | 'discount_percent'> {
  const sum = sumOfLines(lines ?? [], currency);
  const given = discount_amount == null ? undefined : toMinor(discount_amount, currency);
  const percent = withoutNoise(Number(discount_percent ?? 0));
  if (percent > 0) {
    const amount = shareOf(sum, percent);
    if (given !== undefined && given !== amount) {
      const wanted = fromMinor(amount, currency);
      const problem = `discount_amount must be left out beside discount_percent, or be what it gives, ${wanted}`;
      throw fieldProblem('discount_amount', problem, details);
    }
    return { discount_amount: amount || undefined, discount_percent: percent };
  }
  if (lines && given !== undefined && given > sum) {
    throw fieldProblem('discount_amount', 'discount_amount must not be more than the sum of line_items', details);
  }
  return { discount_amount: given || undefined, discount_percent: undefined };
}

function shippingOf(
  { shipping_amount, shipping_tax_rate, shipping_tax_category }: GivenCharges,
  terms: TaxTerms,
  details?: DetailsForm,
): Omit<DocumentCharges, 'discount_amount' | 'discount_percent'> {
  const amount = shipping_amount == null ? 0 : toMinor(shipping_amount, terms.currency);
  const named = shipping_tax_rate == null ? 'shipping_tax_category' : 'shipping_tax_rate';
  const hasTax = shipping_tax_rate != null || shipping_tax_category != null;
  if (hasTax && shipping_amount == null) throw fieldProblem(named, `${named} needs shipping_amount`, details);
  if (amount === 0) {
    return { shipping_amount: undefined, shipping_tax_rate: undefined, shipping_tax_category: undefined };
  }
  if (!isAmount(amount)) {
    throw fieldProblem('shipping_amount', `shipping_amount is too large in ${terms.currency}`, details);
  }
  const own = { tax_rate: shipping_tax_rate ?? undefined, tax_category: shipping_tax_category ?? undefined };
  const { rate, category } = taxOfLine(own, terms);
  if (category === 'S' ? rate === 0 : rate !== 0) {
    const wanted = category === 'S' ? 'greater than 0' : '0';
    throw fieldProblem(named, `shipping_tax_rate must be ${wanted} in tax_category ${category}`, details);
  }
  return { shipping_amount: amount, shipping_tax_rate: own.tax_rate, shipping_tax_category: own.tax_category };
}

/**
 * Splits the discount of a document over its tax groups in proportion to what their lines sum to, exactly in sum.
 * @returns a share for every group, also where it is nothing.
 */
export function discountShares(
  lines: readonly TaxedLine[],
  { discount_amount = 0 }: DocumentCharges,
  terms: TaxTerms,
): DiscountShare[] {
  const groups = taxLines(lines, { ...terms, prices_include_tax: false }).taxes;
  const shares = discount_amount === 0 ? [] : splitByGroup(discount_amount, groups);
  return groups.map(({ rate, category, taxable }, index) => {
    return { rate, category, lines: taxable, amount: shares[index] ?? 0 };
  });
}

/** The lines with others that stand for the discount and the shipping: their sums by tax group are those of the document. */
export function chargedLines(
  lines: readonly TaxedLine[],
  charges: DocumentCharges,
  terms: TaxTerms,
): readonly TaxedLine[] {
  if (!hasCharges(charges)) return lines;
  return [...lines, ...discountLines(discountShares(lines, charges, terms), terms), ...shippingLine(charges, terms)];
}

/** A negative line for each group that has a share of the discount. */
export function discountLines(shares: readonly DiscountShare[], { currency }: TaxTerms): TaxedLine[] {
  return shares
    .filter(({ amount }) => amount !== 0)
    .map(({ rate, category, amount }) => ({ ...oneOf(-amount, currency), ...taxOfGroup({ rate, category }) }));
}

export function shippingLine(charges: DocumentCharges, { currency }: TaxTerms): TaxedLine[] {
  const { shipping_amount, shipping_tax_rate, shipping_tax_category } = charges;
  if (!shipping_amount) return [];
  return [{ ...oneOf(shipping_amount, currency), tax_rate: shipping_tax_rate, tax_category: shipping_tax_category }];
}

function oneOf(minor: number, currency: string) {
  return { qty: '1', rate: fromMinor(minor, currency), discount: '0' };
}

/** What a line needs of its own to be in the group. */
function taxOfGroup({ rate, category }: LineTax): Pick<TaxedLine, 'tax_rate' | 'tax_category'> {
  return category === null || category === 'S' ? { tax_rate: rate } : { tax_category: category };
}

/** The charges of a stored document as callers write them, so that they can be computed anew. */
export function givenCharges(document: DocumentCharges & { currency: string }): GivenCharges {
  const { currency, discount_amount, discount_percent, shipping_amount } = document;
  const major = (minor: number | undefined) => (minor === undefined ? undefined : fromMinor(minor, currency));
  return {
    // It follows from the percentage, and from lines that may be others.
    ...(discount_percent === undefined ? { discount_amount: major(discount_amount) } : { discount_percent }),
    shipping_amount: major(shipping_amount),
    shipping_tax_rate: document.shipping_tax_rate,
    shipping_tax_category: document.shipping_tax_category,
  };
}

/** What a change makes of them: an amount replaces a percentage, and the other way round. */
export function changedCharges(document: DocumentCharges & { currency: string }, changes: GivenCharges): GivenCharges {
  const before = givenCharges(document);
  return { ...before, ...changedDiscount(changes), ...changedShipping(changes) };
}

/** The record that was read has both: a percentage of null beside an amount stands for none. */
function changedDiscount({ discount_amount, discount_percent }: GivenCharges): GivenCharges {
  if (discount_percent != null || discount_amount !== undefined) return { discount_amount, discount_percent };
  return discount_percent === null ? { discount_percent } : {};
}

/** Without shipping there is no tax of it. */
function changedShipping({ shipping_amount, shipping_tax_rate, shipping_tax_category }: GivenCharges): GivenCharges {
  const tax = {
    ...(shipping_tax_rate === undefined ? {} : { shipping_tax_rate }),
    ...(shipping_tax_category === undefined ? {} : { shipping_tax_category }),
  };
  if (shipping_amount === undefined) return tax;
  if (shipping_amount !== null) return { shipping_amount, ...tax };
  return { shipping_amount, shipping_tax_rate: null, shipping_tax_category: null, ...tax };
}
