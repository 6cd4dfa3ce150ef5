// The amounts of a credit note. Per tax rate it mirrors its invoice, and all credit notes of an invoice together are
// worth exactly the invoice.
import { appError, fieldProblem } from '../../errors.ts';
import { creditedLines, requireNotNegative } from '../documents/document-money.ts';
import { writtenAmount } from '../money/balance.ts';
import { isWithin, percentOf } from '../money/money.ts';
import { type DocumentTax, taxesOf } from '../taxes/document-taxes.ts';
import {
  groupSum,
  isSameTax,
  splitByGroup,
  type TaxedLine,
  type TaxGroup,
  type TaxTerms,
} from '../taxes/tax-groups.ts';

/**
 * The fields of an invoice or a credit note that credits are computed from. Amounts are in the currency's smallest
 * unit.
 */
export interface Taxed extends TaxTerms {
  amount: number;
  tax_amount: number;
  /** Absent where one rate taxes the whole amount. */
  taxes?: readonly DocumentTax[] | undefined;
}

/**
 * The credit that a caller asks for, before tax. Lines count before the amount; with neither, all that is left is
 * credited.
 */
export interface CreditWanted {
  amount?: number | undefined;
  line_items?: readonly TaxedLine[] | null | undefined;
  /** The lines may be worth nothing, as those of work that was paid for already. */
  mayBeNothing?: boolean | undefined;
}

/** Returns the part of each tax group of the invoice that its credit notes have not credited yet. */
export function leftToCredit(invoice: Taxed, credited: readonly Taxed[]): DocumentTax[] {
  const before = credited.flatMap(taxesOf);
  return taxesOf(invoice).map((group) => {
    const same = before.filter((other) => isSameTax(group, other));
    return { ...group, taxable: group.taxable - netOf(same), tax: group.tax - taxSumOf(same) };
  });
}

/** The invoice that is credited: its terms, and its number for messages. */
export interface CreditedInvoice {
  terms: TaxTerms;
  number: string;
  /**
   * True while no credit note was issued for the invoice. Then even an invoice that is worth nothing can be credited.
   */
  isFirst: boolean;
}

/**
 * Splits a credit by tax rate, so that the credits of an invoice sum to the invoice at each of its rates. The amount
 * that is left bounds the lines in their own terms: before tax, or with it where prices include it. The credit that
 * uses up a rate takes all that is left of its tax.
 * @throws AppError 409 when less is left, 400 when the lines are worth nothing or less.
 */
export function creditGroups(
  left: readonly DocumentTax[],
  wanted: CreditWanted,
  source: CreditedInvoice,
): DocumentTax[] {
  if (isUsedUp(left) && !source.isFirst && !wanted.mayBeNothing) throw tooMuch(source, 0);
  const groups = wantedGroups(left, wanted, source);
  requireRest(left, groups, source);
  return groups;
}

function wantedGroups(
  left: readonly DocumentTax[],
  { amount, line_items, mayBeNothing }: CreditWanted,
  source: CreditedInvoice,
): DocumentTax[] {
  if (line_items) return groupsOfLines(left, line_items, { ...source, mayBeNothing });
  const net = netOf(left);
  if (amount === undefined || amount === net) {
    // The credit of a whole invoice has all of its lines, so it keeps the taxes of those that are worth nothing.
    return source.isFirst || isUsedUp(left) ? [...left] : left.filter((group) => !isEmpty(group));
  }
  if (amount > net) throw tooMuch(source, net);
  const shares = splitByGroup(amount, left);
  return left.flatMap((group, index) => {
    const taxable = shares[index] as number;
    return taxable === 0
      ? []
      : [{ ...group, taxable, tax: creditedTax(group, taxable, percentOf(taxable, group.rate)) }];
  });
}

function groupsOfLines(
  left: readonly DocumentTax[],
  lines: readonly TaxedLine[],
  source: CreditedInvoice & Pick<CreditWanted, 'mayBeNothing'>,
): DocumentTax[] {
  const { terms } = source;
  const wanted = creditedLines(lines, terms);
  const worth = agreedOf(wanted, terms);
  const rest = agreedOf(left, terms);
  if (worth === 0 && rest > 0 && !source.mayBeNothing) throw fieldProblem('line_items', 'sum_not_positive');
  if (worth > rest) throw tooMuch(source, rest);
  const groups = wanted.map((group) => {
    const same = left.find((other) => isSameTax(group, other));
    const most = same ? groupSum(same, terms) : 0;
    const sum = groupSum(group, terms);
    if (!same || !isWithin(sum, most)) throw tooMuch(source, most, group.rate);
    if (sum === most) return { ...same };
    if (!terms.prices_include_tax) return { ...same, taxable: sum, tax: creditedTax(same, sum, group.tax) };
    // Neither the sum before tax nor the tax may exceed what is left of it.
    const tax = between(group.tax, sum - same.taxable, same.tax);
    return { ...same, taxable: sum - tax, tax };
  });
  const amount = netOf(groups);
  requireNotNegative({ amount, total: amount + taxSumOf(groups) });
  return groups;
}

/**
 * Checks the rest of the invoice.
 * @throws AppError 409 when later credits of the other rates would have nothing, or too little, to be taken from.
 */
function requireRest(left: readonly DocumentTax[], groups: readonly DocumentTax[], source: CreditedInvoice): void {
  const rest = left.map((group) => {
    const taken = groups.filter((other) => isSameTax(group, other));
    return { ...group, taxable: group.taxable - netOf(taken), tax: group.tax - taxSumOf(taken) };
  });
  const [net, tax] = [netOf(rest), taxSumOf(rest)];
  if (net >= 0 && net + tax > 0) return;
  const open = rest.find((group) => !isEmpty(group));
  if (!open) return;
  const sum = writtenAmount(groupSum(open, source.terms), source.terms.currency);
  throw appError('credit_leaves_rate', { number: source.number, rate: open.rate, left: sum });
}

function tooMuch({ number, terms }: CreditedInvoice, rest: number, rate?: number) {
  const left = writtenAmount(rest, terms.currency);
  return rate === undefined
    ? appError('credit_exceeds_invoice', { number, left })
    : appError('credit_exceeds_rate', { number, rate, left });
}

function isEmpty({ taxable, tax }: TaxGroup): boolean {
  return taxable === 0 && tax === 0;
}

function isUsedUp(left: readonly TaxGroup[]): boolean {
  return left.every(isEmpty);
}

function agreedOf(groups: readonly TaxGroup[], terms: TaxTerms): number {
  return groups.reduce((sum, group) => sum + groupSum(group, terms), 0);
}

/** Returns the sum of the groups before tax. */
export function netOf(groups: readonly TaxGroup[]): number {
  return groups.reduce((sum, { taxable }) => sum + taxable, 0);
}

/** Returns the sum of the tax of the groups. */
export function taxSumOf(groups: readonly TaxGroup[]): number {
  return groups.reduce((sum, { tax }) => sum + tax, 0);
}

/** Returns the tax of a part. All of the rate takes all of its tax, and a part never takes more than is left. */
function creditedTax(left: TaxGroup, taxable: number, tax: number): number {
  return taxable === left.taxable ? left.tax : between(tax, 0, left.tax);
}

/** Returns the number nearest to `value` between the two bounds, which may come in either order. */
function between(value: number, one: number, other: number): number {
  return Math.max(Math.min(one, other), Math.min(value, Math.max(one, other)));
}
