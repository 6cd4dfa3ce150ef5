// The discount and the shipping of a whole document: an allowance and a charge in the sense of EN 16931 (BG-20 and BG-21).
import { type DetailsForm, fieldProblem } from '../../errors.ts';
import {
  type Decimal,
  fromMinor,
  isAmount,
  percentOf,
  singleLine,
  sumOfLines,
  toMinor,
  withoutNoise,
} from '../money/money.ts';
import {
  explicitTax,
  type LineTax,
  splitByGroup,
  type TaxCategory,
  type TaxedLine,
  type TaxTerms,
  taxLines,
  taxOfLine,
} from '../taxes/tax-groups.ts';

/**
 * Discount and shipping as a document stores them. Amounts are in the currency's smallest unit, with tax where prices
 * include it.
 */
export interface DocumentCharges {
  /** Absent without a discount. Every other field is absent where it has no value, too. */
  discount_amount?: number | undefined;
  /** Percentage of the sum of the lines; `discount_amount` follows from it. */
  discount_percent?: number | undefined;
  shipping_amount?: number | undefined;
  /** A percentage. Where absent, the tax rate of the document applies. */
  shipping_tax_rate?: number | undefined;
  shipping_tax_category?: TaxCategory | undefined;
}

/** Discount and shipping as callers write them: amounts are in major units, and null removes a value. */
export interface GivenCharges {
  discount_amount?: Decimal | null | undefined;
  discount_percent?: Decimal | null | undefined;
  shipping_amount?: Decimal | null | undefined;
  shipping_tax_rate?: number | null | undefined;
  shipping_tax_category?: TaxCategory | null | undefined;
}

/** The names of the fields of a discount and of shipping. */
export const CHARGES = [
  'discount_amount',
  'discount_percent',
  'shipping_amount',
  'shipping_tax_rate',
  'shipping_tax_category',
] as const satisfies readonly (keyof DocumentCharges)[];

/** The share of a discount that one tax group takes. */
export interface DiscountShare extends LineTax {
  /** The sum of the group's lines before the discount, as priced. */
  lines: number;
  amount: number;
}

export function hasCharges({ discount_amount, shipping_amount }: DocumentCharges): boolean {
  return Boolean(discount_amount || shipping_amount);
}

/**
 * Checks the given discount and shipping against the lines, and returns them as a document stores them.
 * @throws AppError 400 for
 * - a discount or shipping without lines, except a percentage of a document that is empty: worth nothing,
 * - a discount that is larger than the sum of the lines,
 * - a discount whose amount and percentage disagree.
 */
export function documentCharges(
  given: GivenCharges,
  lines: readonly TaxedLine[] | null,
  terms: TaxTerms,
  { details, isEmpty = false }: { details?: DetailsForm | undefined; isEmpty?: boolean } = {},
): DocumentCharges {
  const charges = { ...discountOf(given, lines, terms, details), ...shippingOf(given, terms, details) };
  if (lines || !(hasCharges(charges) || (charges.discount_percent && !isEmpty))) return charges;
  // Some callers would read an amount beside charges as the sum before them, others as the sum after them.
  const field = charges.shipping_amount ? 'shipping_amount' : nameOfDiscount(charges);
  throw fieldProblem(field, 'needs', { other: 'line_items' }, details);
}

/**
 * Checks the charges of a recurring invoice. Its lines are only known at each occurrence.
 * @throws AppError 400 for shipping that cannot be taxed so.
 */
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
    const amount = percentOf(sum, percent);
    if (given !== undefined && given !== amount) {
      throw fieldProblem('discount_amount', 'discount_differs', { amount: fromMinor(amount, currency) }, details);
    }
    return { discount_amount: amount || undefined, discount_percent: percent };
  }
  if (lines && given !== undefined && given > sum) {
    throw fieldProblem('discount_amount', 'exceeds_line_items', undefined, details);
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
  if (hasTax && shipping_amount == null) throw fieldProblem(named, 'needs', { other: 'shipping_amount' }, details);
  if (amount === 0) {
    return { shipping_amount: undefined, shipping_tax_rate: undefined, shipping_tax_category: undefined };
  }
  if (!isAmount(amount)) {
    throw fieldProblem('shipping_amount', 'too_large_in_currency', { currency: terms.currency }, details);
  }
  const own = { tax_rate: shipping_tax_rate ?? undefined, tax_category: shipping_tax_category ?? undefined };
  const { rate, category } = taxOfLine(own, terms);
  if (category === 'S' ? rate === 0 : rate !== 0) {
    const code = category === 'S' ? 'rate_needed' : 'rate_not_allowed';
    throw fieldProblem(named, code, { rate: 'shipping_tax_rate', category: String(category) }, details);
  }
  return { shipping_amount: amount, shipping_tax_rate: own.tax_rate, shipping_tax_category: own.tax_category };
}

/**
 * Splits the discount of a document over its tax groups in proportion to the sums of their lines. The shares add up to
 * the discount.
 * @returns a share for every group, also where it is 0.
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

/**
 * Returns the lines together with lines for the discount and the shipping. Their sums by tax group are those of the
 * document.
 */
export function chargedLines(
  lines: readonly TaxedLine[],
  charges: DocumentCharges,
  terms: TaxTerms,
): readonly TaxedLine[] {
  if (!hasCharges(charges)) return lines;
  return [...lines, ...discountLines(discountShares(lines, charges, terms), terms), ...shippingLine(charges, terms)];
}

/** Returns one negative line for each group that has a share of the discount. */
export function discountLines(shares: readonly DiscountShare[], { currency }: TaxTerms): TaxedLine[] {
  return shares
    .filter(({ amount }) => amount !== 0)
    .map((share) => ({ ...singleLine(-share.amount, currency), ...explicitTax(share) }));
}

/** Returns the shipping as one line with its own tax, or no line. */
export function shippingLine(charges: DocumentCharges, { currency }: TaxTerms): TaxedLine[] {
  const { shipping_amount, shipping_tax_rate, shipping_tax_category } = charges;
  if (!shipping_amount) return [];
  return [
    { ...singleLine(shipping_amount, currency), tax_rate: shipping_tax_rate, tax_category: shipping_tax_category },
  ];
}

/** Returns the charges of a stored document as callers write them, so that they can be computed anew. */
export function givenCharges(document: DocumentCharges & { currency: string }): GivenCharges {
  const { currency, discount_amount, discount_percent, shipping_amount } = document;
  const major = (minor: number | undefined) => (minor === undefined ? undefined : fromMinor(minor, currency));
  return {
    // The amount follows from the percentage and the lines, and the lines may have changed.
    ...(discount_percent === undefined ? { discount_amount: major(discount_amount) } : { discount_percent }),
    shipping_amount: major(shipping_amount),
    shipping_tax_rate: document.shipping_tax_rate,
    shipping_tax_category: document.shipping_tax_category,
  };
}

/** Returns the charges after a change. A new amount replaces the percentage, and a new percentage the amount. */
export function changedCharges(document: DocumentCharges & { currency: string }, changes: GivenCharges): GivenCharges {
  const before = givenCharges(document);
  return { ...before, ...changedDiscount(changes), ...changedShipping(changes) };
}

/**
 * A caller may send back the record it read, which has both fields: a percentage of null beside an amount means no
 * percentage.
 */
function changedDiscount({ discount_amount, discount_percent }: GivenCharges): GivenCharges {
  if (discount_percent != null || discount_amount !== undefined) return { discount_amount, discount_percent };
  return discount_percent === null ? { discount_percent } : {};
}

/** A change that removes the shipping removes its tax, too. */
function changedShipping({ shipping_amount, shipping_tax_rate, shipping_tax_category }: GivenCharges): GivenCharges {
  const tax = {
    ...(shipping_tax_rate === undefined ? {} : { shipping_tax_rate }),
    ...(shipping_tax_category === undefined ? {} : { shipping_tax_category }),
  };
  if (shipping_amount === undefined) return tax;
  if (shipping_amount !== null) return { shipping_amount, ...tax };
  return { shipping_amount, shipping_tax_rate: null, shipping_tax_category: null, ...tax };
}
