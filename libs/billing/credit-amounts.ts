// What a credit note is worth: per tax rate the mirror of its invoice, and together with all others of the invoice exactly the invoice.
import { conflict, fieldProblem } from '../errors.ts';
import type { LineItem } from '../models/billing/line-item.ts';
import { writtenAmount } from './balance.ts';
import { taxedLines } from './document-money.ts';
import { type DocumentTax, taxesOf } from './document-taxes.ts';
import { taxOf } from './money.ts';
import { splitByGroup, type TaxGroup, type TaxTerms } from './tax-groups.ts';

/** What is computed of an invoice or a credit note. Amounts are whole numbers of the currency's smallest unit. */
export interface Taxed extends TaxTerms {
  amount: number;
  tax_amount: number;
  /** Absent where one rate taxes all of it. */
  taxes?: readonly DocumentTax[] | undefined;
}

/** Before tax; the lines count where there are some. Neither is all that is left. */
export interface CreditWanted {
  amount?: number | undefined;
  line_items?: readonly LineItem[] | null | undefined;
}

/** What the credit notes of an invoice have left of it. */
export function leftToCredit(invoice: Taxed, credited: readonly Taxed[]): DocumentTax[] {
  const before = credited.flatMap(taxesOf);
  return taxesOf(invoice).map((group) => {
    const same = before.filter((other) => isSame(group, other));
    return { ...group, taxable: group.taxable - netOf(same), tax: group.tax - taxSumOf(same) };
  });
}

/**
 * Splits a credit by tax rate. The one that uses up the net of a rate also takes what is left of its tax, and none takes more tax than is
 * left, so that the credits of an invoice sum to the invoice.
 * @param number of the invoice, for messages. @throws AppError 409 when less is left, 400 when the lines are worth nothing.
 */
export function creditGroups(
  left: readonly DocumentTax[],
  { amount, line_items }: CreditWanted,
  { terms, number }: { terms: TaxTerms; number: string },
): DocumentTax[] {
  const net = netOf(left);
  const tooMuch = (where: string, rest: number) =>
    conflict(`Cannot credit more than is left of ${number}${where}: ${writtenAmount(rest, terms.currency)}`);
  if (net <= 0) throw tooMuch('', 0);
  if (line_items) {
    const wanted = taxedLines(line_items, terms);
    if (wanted.amount <= 0) throw fieldProblem('line_items', 'line_items must sum to more than 0');
    if (wanted.amount > net) throw tooMuch('', net);
    return wanted.taxes.map((group) => {
      const rest = left.find((other) => isSame(group, other));
      if (!rest || !isWithin(group.taxable, rest.taxable)) throw tooMuch(` at ${group.rate} %`, rest?.taxable ?? 0);
      return { ...rest, taxable: group.taxable, tax: taxWithin(rest, group.taxable, group.tax) };
    });
  }
  if (amount === undefined || amount === net) return left.filter(({ taxable, tax }) => taxable !== 0 || tax !== 0);
  if (amount > net) throw tooMuch('', net);
  const parts = left.filter(({ taxable }) => taxable > 0);
  const shares = splitByGroup(amount, parts);
  return parts.flatMap((group, index) => {
    const taxable = shares[index] as number;
    return taxable === 0 ? [] : [{ ...group, taxable, tax: taxWithin(group, taxable, taxOf(taxable, group.rate)) }];
  });
}

export function netOf(groups: readonly TaxGroup[]): number {
  return groups.reduce((sum, { taxable }) => sum + taxable, 0);
}

export function taxSumOf(groups: readonly TaxGroup[]): number {
  return groups.reduce((sum, { tax }) => sum + tax, 0);
}

function taxWithin(left: TaxGroup, taxable: number, tax: number): number {
  if (taxable === left.taxable) return left.tax;
  return left.tax < 0 ? Math.max(tax, left.tax) : Math.min(tax, left.tax);
}

/** A rate whose lines sum to less than nothing is credited by as much less than nothing at most. */
function isWithin(taxable: number, left: number): boolean {
  return left < 0 ? taxable <= 0 && taxable >= left : taxable >= 0 && taxable <= left;
}

function isSame(one: Pick<TaxGroup, 'rate' | 'category'>, other: Pick<TaxGroup, 'rate' | 'category'>): boolean {
  return one.rate === other.rate && one.category === other.category;
}
