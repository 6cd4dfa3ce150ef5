// The discount and the shipping of an invoice that a credit note by line takes back.
import { appError } from '../../errors.ts';
import {
  type DiscountShare,
  type DocumentCharges,
  discountLines,
  discountShares,
  shippingLine,
} from '../documents/document-charges.ts';
import type { LineItem } from '../documents/line-item.ts';
import { writtenAmount } from '../money/balance.ts';
import { shareWithin } from '../money/money.ts';
import { isSameTax, type TaxedLine, type TaxTerms, taxLines } from '../taxes/tax-groups.ts';

/** Amounts are in the currency's smallest unit. They contain tax where prices include it. */
export interface CreditedCharges {
  /** The sum of the credited lines and their share of the discount, by tax group. Absent on a credit by amount. */
  discounts?: DiscountShare[] | undefined;
  shipping_amount?: number | undefined;
}

type Invoice = DocumentCharges & TaxTerms & { line_items: LineItem[] | null };

/**
 * Returns the credited lines with their share of the discount, and with the shipping. The shares of all credit notes
 * add up to the discount: each share is that of all lines credited so far, less the earlier shares.
 * @param shipping in the smallest unit.
 * @param number of the invoice, for messages.
 * @throws AppError 409 for more shipping than is left.
 */
export function creditedCharges(
  invoice: Invoice,
  earlier: readonly CreditedCharges[],
  {
    line_items,
    shipping = 0,
    number,
  }: { line_items: LineItem[] | null; shipping?: number | undefined; number: string },
): CreditedCharges & { lines: readonly TaxedLine[] } {
  const left = (invoice.shipping_amount ?? 0) - earlier.reduce((sum, one) => sum + (one.shipping_amount ?? 0), 0);
  if (shipping > left) {
    throw appError('credit_exceeds_shipping', { number, left: writtenAmount(left, invoice.currency) });
  }
  const discounts = invoice.discount_amount ? creditedDiscounts(invoice, earlier, line_items ?? []) : [];
  return {
    lines: [
      ...(line_items ?? []),
      ...discountLines(discounts, invoice),
      ...shippingLine({ ...invoice, shipping_amount: shipping }, invoice),
    ],
    ...(invoice.discount_amount ? { discounts } : {}),
    ...(shipping > 0 ? { shipping_amount: shipping } : {}),
  };
}

function creditedDiscounts(invoice: Invoice, earlier: readonly CreditedCharges[], lines: readonly LineItem[]) {
  const whole = discountShares(invoice.line_items ?? [], invoice, invoice);
  const before = earlier.flatMap(({ discounts = [] }) => discounts);
  return taxLines(lines, { ...invoice, prices_include_tax: false }).taxes.map((group): DiscountShare => {
    const ofGroup = whole.find((one) => isSameTax(one, group));
    const had = before.filter((one) => isSameTax(one, group));
    const credited = had.reduce((sum, one) => sum + one.lines, group.taxable);
    const share = ofGroup ? shareWithin(ofGroup.amount, credited, ofGroup.lines) : 0;
    return {
      rate: group.rate,
      category: group.category,
      lines: group.taxable,
      amount: had.reduce((rest, one) => rest - one.amount, share),
    };
  });
}
