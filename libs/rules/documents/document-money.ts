// What invoices and quotes make of amounts and lines: their net amount and its taxes, or the problem with them.
import { type DetailsForm, detailsOf, fieldProblem, type Problem, validationFailed } from '../../errors.ts';
import { type Decimal, fromMinor, isAmount, isLineAmount, lineNet, sumOfLines, toMinor } from '../money/money.ts';
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

/** As a document stores it: amounts are whole numbers of the currency's smallest unit. */
export interface DocumentMoney extends DocumentCharges {
  currency: string;
  /** Before tax, after the discount and with the shipping. */
  amount: number;
  /** What the lines are before tax; absent where neither a discount nor shipping makes it another sum than `amount`. */
  subtotal: number | undefined;
  tax_amount: number;
  /** Percentage, 0 to 100. */
  tax_rate: number;
  /** Of what has a rate of 0 and no category of its own. */
  tax_category: TaxCategory | undefined;
  prices_include_tax: true | undefined;
  /** Undefined when `tax_rate` alone says it. */
  taxes: DocumentTax[] | undefined;
}

export interface GivenMoney extends TaxTerms {
  /** In major units, as callers write it; undefined where lines are summed. */
  amount?: Decimal | undefined;
  line_items: LineItem[] | null;
  charges?: GivenCharges | undefined;
  issuer: TaxIssuer;
}

/**
 * With lines the amount is their sum, less the discount and with the shipping, whatever was given.
 * @throws AppError 400 when the sum is no amount, a line is too large, or the discount or the shipping cannot be.
 */
export function invoiceMoney(given: GivenMoney): DocumentMoney & { line_items: LineItem[] | null } {
  const { line_items } = given;
  const charges = documentCharges(given.charges ?? {}, line_items, given);
  return {
    ...moneyOf(given, line_items ? taxedLines(line_items, given, { charges }) : taxedAmount(given), charges),
    line_items,
  };
}

/**
 * The quoted amount counts. Lines of another sum are shown beside it, and their rates share the difference in proportion. Only prices
 * that include tax, and lines with a discount or shipping, are summed as on an invoice: then the amount has to be one of their sums.
 * @throws AppError 400 when the amount or a line is too large for the currency, the amount is none of these sums, or as invoiceMoney does.
 */
export function quoteMoney(given: GivenMoney): DocumentMoney {
  const { line_items, currency, prices_include_tax } = given;
  const charges = documentCharges(given.charges ?? {}, line_items, given, 'list');
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

/** @throws AppError 400 when a quoted amount is neither what was agreed nor what responses call the amount. */
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
  throw fieldProblem('amount', `amount must be the sum of line_items, ${of}, or ${net}, ${other}${tax}`, 'list');
}

/** Where a rate is worth less than nothing, or all are worth nothing, there is no proportion: the difference has the tax of the document. */
function adjustmentsOf({ amount, taxes }: TaxedSum, difference: number, terms: TaxTerms): TaxedLine[] {
  if (difference === 0) return [];
  const line = (sum: number) => ({ qty: '1', rate: fromMinor(sum, terms.currency), discount: '0' });
  if (amount <= 0 || taxes.some(({ taxable }) => taxable < 0)) return [line(difference)];
  const shares = splitByGroup(difference, taxes);
  return taxes.map((group, index) => ({ ...line(shares[index] ?? 0), ...ownTax(group, terms) }));
}

/** The sum of the lines. @throws AppError 400 when it is no amount, or a line is too large. */
export function taxedLines(
  lines: readonly TaxedLine[],
  terms: TaxTerms,
  { details, charges = {} }: { details?: DetailsForm | undefined; charges?: DocumentCharges } = {},
): TaxedSum {
  const { currency } = terms;
  const sum = requireSummable(lines, terms, details);
  const { discount_amount = 0, shipping_amount = 0 } = charges;
  if (!isAmount(sum - discount_amount + shipping_amount)) throw sumProblem(`is too large in ${currency}`, details);
  const taxed = taxLines(chargedLines(lines, charges, terms), terms);
  requireConsistent(taxed, currency, details);
  return taxed;
}

/** The taxes of lines that are credited: a piece may be so small that its rounded tax is all of it. @throws AppError 400 as taxedLines. */
export function creditedLines(lines: readonly TaxedLine[], terms: TaxTerms): TaxGroup[] {
  requireSummable(lines, terms);
  return taxLines(lines, terms).taxes;
}

/** @returns the sum. */
function requireSummable(lines: readonly TaxedLine[], terms: TaxTerms, details?: DetailsForm): number {
  const { currency } = terms;
  requireTaxable(lines, terms, details);
  const sum = sumOfLines(lines, currency);
  if (!isAmount(sum)) {
    throw sumProblem(sum < 0 ? 'must not sum to less than 0' : `is too large in ${currency}`, details);
  }
  return sum;
}

/** Groups may be less than 0, and then their tax is, too. @throws AppError 400 when that leaves no document to pay. */
function requireConsistent({ amount, total, taxes }: TaxedSum, currency: string, details?: DetailsForm): void {
  if (!taxes.every(({ taxable }) => isLineAmount(taxable))) {
    throw sumProblem(`is too large in ${currency} at one tax rate`, details);
  }
  if (total < 0) throw sumProblem('must not sum to less than 0 with tax', details);
  // Whether anything is due follows from the amount alone, so it must not come from tax alone, nor be undone by it.
  if ((amount === 0) !== (total === 0)) throw sumProblem('must not sum to 0 before tax or with it alone', details);
}

function sumProblem(problem: string, details: DetailsForm | undefined) {
  return fieldProblem('line_items', `line_items ${problem}`, details);
}

function taxedAmount(given: GivenMoney, details?: DetailsForm): TaxedSum {
  const { currency, prices_include_tax } = given;
  const amount = toMinor(given.amount ?? 0, currency);
  // The amount that responses show is the one before tax: it could not go back in.
  if (prices_include_tax && amount > 0) {
    throw fieldProblem('prices_include_tax', 'prices_include_tax needs line_items', details);
  }
  if (!isAmount(amount)) throw fieldProblem('amount', `amount is too large in ${currency}`, details);
  return taxSum(amount, given);
}

/** @throws AppError 400 that names every line which alone is more than a document can show, or has a rate that is not its category's. */
function requireTaxable(lines: readonly TaxedLine[] | null, terms: TaxTerms, details?: DetailsForm): void {
  const messages = (lines ?? []).flatMap((line, index) => [
    ...(isLineAmount(lineNet(line, terms.currency)) ? [] : [`line_items[${index}] is too large in ${terms.currency}`]),
    ...rateProblem(line, terms).map((problem) => `line_items[${index}].tax_rate ${problem}`),
  ]);
  const problems = messages.map((message): Problem => ({ path: ['line_items'], message }));
  if (problems.length > 0) throw validationFailed(detailsOf(problems, details));
}

function rateProblem(line: TaxedLine, terms: TaxTerms): string[] {
  const { rate, category } = taxOfLine(line, terms);
  if (category === 'S') return rate > 0 ? [] : ['must be greater than 0 in tax_category S'];
  return rate === 0 ? [] : [`must be 0 in tax_category ${category}`];
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
    tax_category: tax_category ?? undefined,
    prices_include_tax: prices_include_tax || undefined,
    taxes: isPlain ? undefined : notedTaxes(taxes, issuer),
  };
}
