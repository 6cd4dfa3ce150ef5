// Computes the net amount and the taxes of an invoice or a quote from its amount and lines, or says why they are
// impossible.
import { type DetailsForm, fieldProblem, type Problem, problemOf, validationFailed } from '../../errors.ts';
import {
  type Decimal,
  fromMinor,
  isAmount,
  isLineAmount,
  lineNet,
  singleLine,
  sumOfLines,
  toMinor,
} from '../money/money.ts';
import { roundingAmount } from '../money/total-rounding.ts';
import { type DocumentTax, notedTaxes, type TaxIssuer } from '../taxes/document-taxes.ts';
import {
  ownTax,
  splitByGroup,
  type TaxCategory,
  type TaxedLine,
  type TaxedSum,
  type TaxGroup,
  type TaxTerms,
  taxLines,
  taxOfLine,
  taxSum,
} from '../taxes/tax-groups.ts';
import {
  chargedLines,
  type DocumentCharges,
  documentCharges,
  type GivenCharges,
  hasCharges,
} from './document-charges.ts';
import type { LineItem } from './line-item.ts';

/** The money of a document as it is stored. Amounts are in the currency's smallest unit. */
export interface DocumentMoney extends DocumentCharges {
  currency: string;
  /** The amount before tax, after the discount and with the shipping. */
  amount: number;
  /**
   * The sum of the lines before tax. Absent where it equals `amount`, because there is neither discount nor shipping.
   */
  subtotal: number | undefined;
  tax_amount: number;
  /** The amount that rounds the total with tax, see total-rounding.ts. Undefined where there is none. */
  rounding_amount: number | undefined;
  /** Percentage, 0 to 100. */
  tax_rate: number;
  /** The category of lines that have a rate of 0 and no category of their own. */
  tax_category: TaxCategory | undefined;
  prices_include_tax: true | undefined;
  /** Undefined where all lines have the rate and category of the document. */
  taxes: DocumentTax[] | undefined;
}

export interface GivenMoney extends TaxTerms {
  /** The amount in major units, as callers write it. Undefined where the lines are summed. */
  amount?: Decimal | undefined;
  line_items: LineItem[] | null;
  charges?: GivenCharges | undefined;
  issuer: TaxIssuer;
}

/**
 * Computes the money of an invoice. If there are lines, their sum less the discount and with the shipping replaces the
 * given amount.
 * @throws AppError 400 when the sum is out of range, a line is too large, or the discount or the shipping is
 * impossible.
 */
export function invoiceMoney(
  given: GivenMoney,
  details?: DetailsForm,
): DocumentMoney & { line_items: LineItem[] | null } {
  const { line_items } = given;
  const charges = documentCharges(given.charges ?? {}, line_items, given, {
    details,
    isEmpty: Number(given.amount ?? 0) === 0,
  });
  return {
    ...moneyOf(
      given,
      line_items ? taxedLines(line_items, given, { charges, details }) : taxedAmount(given, details),
      charges,
    ),
    line_items,
  };
}

/**
 * Computes the money of a quote. The quoted amount counts. If the lines have another sum, the difference is spread over
 * their rates in proportion. Lines with prices that include tax, with a discount or with shipping are summed as on an
 * invoice, and the amount must be one of their sums, see requireSum.
 * @throws AppError 400 in the cases of `invoiceMoney`, and for an amount that has to be a sum and is none.
 */
export function quoteMoney(given: GivenMoney): DocumentMoney {
  const { line_items, currency, prices_include_tax } = given;
  const charges = documentCharges(given.charges ?? {}, line_items, given, { details: 'list' });
  if (line_items && (prices_include_tax || hasCharges(charges))) {
    const sum = taxedLines(line_items, given, { details: 'list', charges });
    requireSum(given, charges, sum);
    return moneyOf(given, sum, charges);
  }
  requireTaxable(line_items, given, 'list');
  const quoted = taxedAmount(given, 'list');
  if (!line_items) return moneyOf(given, quoted, charges);
  const lines = taxLines(line_items, given);
  const taxed = taxLines([...line_items, ...adjustmentsOf(lines, quoted.amount - lines.amount, given)], given);
  requireConsistent(taxed, currency, 'list');
  return moneyOf(given, taxed, charges);
}

/**
 * Checks a quoted amount. It may be the sum of the lines, the amount before tax, or with tax where prices include it.
 * @throws AppError 400 when it is none of these.
 */
function requireSum(
  { amount, line_items, currency, prices_include_tax }: GivenMoney,
  charges: DocumentCharges,
  sum: TaxedSum,
): void {
  const lines = sumOfLines(line_items ?? [], currency);
  if (
    amount === undefined ||
    [lines, sum.amount, prices_include_tax ? sum.total : sum.amount].includes(toMinor(amount, currency))
  )
    return;
  const [of, net] = [lines, sum.amount].map((minor) => fromMinor(minor, currency));
  const other = hasCharges(charges) ? 'that after discount and shipping' : 'that without tax';
  const tax = hasCharges(charges) && prices_include_tax ? ' and without tax' : '';
  const message = `amount must be the sum of line_items, ${of}, or ${net}, ${other}${tax}`;
  const params = { sum: of ?? 0, net: net ?? 0 };
  throw validationFailed([{ path: ['amount'], code: 'amount_differs', message, params }], 'list');
}

/**
 * Returns lines that make up the difference between the lines and the quoted amount. If a rate is worth less than 0, or
 * all are worth 0, there is no proportion to follow, and the difference has the tax of the document.
 */
function adjustmentsOf({ amount, taxes }: TaxedSum, difference: number, terms: TaxTerms): TaxedLine[] {
  if (difference === 0) return [];
  if (amount <= 0 || taxes.some(({ taxable }) => taxable < 0)) return [singleLine(difference, terms.currency)];
  const shares = splitByGroup(difference, taxes);
  return taxes.map((group, index) => ({ ...singleLine(shares[index] ?? 0, terms.currency), ...ownTax(group, terms) }));
}

/** Sums lines and their taxes. @throws AppError 400 when the sum is out of range, or a line is too large. */
export function taxedLines(
  lines: readonly TaxedLine[],
  terms: TaxTerms,
  { details, charges = {} }: { details?: DetailsForm | undefined; charges?: DocumentCharges } = {},
): TaxedSum {
  const { currency } = terms;
  const sum = requireSummable(lines, terms, details);
  const { discount_amount = 0, shipping_amount = 0 } = charges;
  if (!isAmount(sum - discount_amount + shipping_amount)) throw sumTooLarge(currency, details);
  const taxed = taxLines(chargedLines(lines, charges, terms), terms);
  requireConsistent(taxed, currency, details);
  return taxed;
}

/**
 * Computes the taxes of credited lines. The rounded tax of a small piece may be all of its amount.
 * @throws AppError 400 as taxedLines.
 */
export function creditedLines(lines: readonly TaxedLine[], terms: TaxTerms): TaxGroup[] {
  requireSummable(lines, terms);
  return taxLines(lines, terms).taxes;
}

/** Sums lines. @throws AppError 400 when a line or the sum is too large. */
function requireSummable(lines: readonly TaxedLine[], terms: TaxTerms, details?: DetailsForm): number {
  const { currency } = terms;
  requireTaxable(lines, terms, details);
  const sum = sumOfLines(lines, currency);
  if (!isAmount(sum)) {
    throw sum < 0 ? fieldProblem('line_items', 'sum_negative', undefined, details) : sumTooLarge(currency, details);
  }
  return sum;
}

/** Rejects sums that leave nothing to pay. A single group may be negative, and so may its tax. @throws AppError 400. */
function requireConsistent({ amount, total, taxes }: TaxedSum, currency: string, details?: DetailsForm): void {
  if (!taxes.every(({ taxable }) => isLineAmount(taxable))) {
    throw fieldProblem('line_items', 'too_large_at_one_rate', { currency }, details);
  }
  requireNotNegative({ amount, total }, details);
  // Other code decides by the net amount alone if anything is due. So tax alone must never make a document payable or
  // free.
  if ((amount === 0) !== (total === 0)) {
    throw fieldProblem('line_items', 'sum_zero_on_one_side', undefined, details);
  }
}

/**
 * Rejects lines that are worth less than nothing. A line below zero at one rate may bring one of the sums below 0 while the other is not.
 * @throws AppError 400.
 */
export function requireNotNegative({ amount, total }: Pick<TaxedSum, 'amount' | 'total'>, details?: DetailsForm): void {
  if (amount < 0) throw fieldProblem('line_items', 'sum_negative_before_tax', undefined, details);
  if (total < 0) throw fieldProblem('line_items', 'sum_negative_with_tax', undefined, details);
}

function sumTooLarge(currency: string, details: DetailsForm | undefined) {
  return fieldProblem('line_items', 'too_large_in_currency', { currency }, details);
}

function taxedAmount(given: GivenMoney, details?: DetailsForm): TaxedSum {
  const { currency, prices_include_tax } = given;
  const amount = toMinor(given.amount ?? 0, currency);
  // Responses show the amount before tax. A caller that sent it back would change the document.
  if (prices_include_tax && amount > 0) {
    throw fieldProblem('prices_include_tax', 'needs', { other: 'line_items' }, details);
  }
  if (!isAmount(amount)) throw fieldProblem('amount', 'too_large_in_currency', { currency }, details);
  return taxSum(amount, given);
}

/**
 * Checks each line.
 * @throws AppError 400 that names every line that is larger than a document can show, or whose rate does not fit its
 * category.
 */
function requireTaxable(lines: readonly TaxedLine[] | null, terms: TaxTerms, details?: DetailsForm): void {
  const { currency } = terms;
  const problems = (lines ?? []).flatMap((line, index) => {
    const name = `line_items[${index}]`;
    const isTooLarge = !isLineAmount(lineNet(line, currency));
    return [
      ...(isTooLarge ? [problemOf('line_items', 'line_too_large', { line: name, currency })] : []),
      ...rateProblem(line, terms, `${name}.tax_rate`),
    ];
  });
  if (problems.length > 0) throw validationFailed(problems, details);
}

function rateProblem(line: TaxedLine, terms: TaxTerms, name: string): Problem[] {
  const { rate, category } = taxOfLine(line, terms);
  if (category === 'S' ? rate > 0 : rate === 0) return [];
  const code = category === 'S' ? 'rate_needed' : 'rate_not_allowed';
  return [problemOf('line_items', code, { rate: name, category: String(category) })];
}

function moneyOf(given: GivenMoney, { amount, tax_amount, taxes }: TaxedSum, charges: DocumentCharges): DocumentMoney {
  const { currency, tax_rate, tax_category, prices_include_tax, line_items, issuer } = given;
  const [only] = taxes;
  const isPlain = taxes.length === 1 && only?.rate === tax_rate && (only.category ?? 'S') === 'S';
  return {
    currency,
    amount,
    subtotal: line_items && hasCharges(charges) ? taxLines(line_items, given).amount : undefined,
    ...charges,
    tax_rate,
    tax_amount,
    rounding_amount: roundingAmount(amount + tax_amount, currency, issuer),
    tax_category: tax_category ?? undefined,
    prices_include_tax: prices_include_tax || undefined,
    taxes: isPlain ? undefined : notedTaxes(taxes, issuer),
  };
}
