// The lines, adjustments and taxes of a document as EN 16931 adds them up: net amounts, whatever the prices of the document are.
import Big from 'big.js';
import { type DiscountShare, discountShares } from '../rules/documents/document-charges.ts';
import type { LineItem } from '../rules/documents/line-item.ts';
import { unitCode } from '../rules/documents/units.ts';
import { decimalsOf, lineNet } from '../rules/money/money.ts';
import { type DocumentTax, taxesOf } from '../rules/taxes/document-taxes.ts';
import { groupSum, isSameTax, type TaxCategory, taxOfLine } from '../rules/taxes/tax-groups.ts';
import type { Adjustment, DocumentAdjustment, EInvoice, ELine, ETax } from './terms.ts';

/** The stored fields that the money comes from. Amounts are in the currency's smallest unit. */
export interface MoneyRecord {
  currency: string;
  amount: number;
  tax_amount: number;
  tax_rate: number;
  tax_category?: TaxCategory | undefined;
  taxes?: DocumentTax[] | undefined;
  prices_include_tax?: true | undefined;
  rounding_amount?: number | undefined;
  discount_amount?: number | undefined;
  discount_percent?: number | undefined;
  /** The shares that a credit note by line stores; those of the whole document follow from its lines. */
  discounts?: readonly DiscountShare[] | undefined;
  line_items: LineItem[] | null;
}

/** The codes of the reasons for no tax (VATEX). Category E has none of its own. */
const REASON_CODES: Partial<Record<TaxCategory, string>> = {
  AE: 'VATEX-EU-AE',
  K: 'VATEX-EU-IC',
  G: 'VATEX-EU-G',
  O: 'VATEX-EU-O',
};
const DISCOUNT = { reason: 'Discount', code: '95' };
const SHIPPING = { reason: 'Freight', code: 'FC' };
/** Decimals of a price that was computed from a net amount. */
const PRICE_DECIMALS = 10;
/** A larger quantity needs two more decimals: times the price, it may be two cents from the net amount (PEPPOL-EN16931-R120). */
const LARGE_QUANTITY = 100_000_000;

/** One sum of a group: that of a line, of the discount or of the shipping, as priced. */
interface Part {
  sum: number;
  /** Without tax, in the smallest unit. */
  net: number;
}

/** @param name of the one line of a document without lines. */
export function moneyOf(
  record: MoneyRecord,
  name: string,
): Pick<EInvoice, 'lines' | 'adjustments' | 'taxes' | 'totals'> {
  const { currency, line_items, rounding_amount } = record;
  const major = (minor: number) => majorOf(minor, currency);
  const groups = taxesOf(record);
  const taxes = groups.map(
    ({ rate, category, taxable, tax, note }): ETax => ({
      category,
      rate: decimal(rate),
      taxable: major(taxable),
      tax: major(tax),
      reason: note,
      code: category ? REASON_CODES[category] : undefined,
    }),
  );
  const { lines, adjustments } = line_items
    ? linesOf(record, line_items)
    : { lines: onlyLines(record, name), adjustments: [] };
  const sum = (amounts: readonly { amount: string }[]) =>
    amounts.length === 0 ? undefined : total(amounts.map(({ amount }) => amount));
  const gross = record.amount + record.tax_amount;
  return {
    lines,
    adjustments,
    taxes,
    totals: {
      lines: total(lines.map(({ net }) => net)),
      allowances: sum(adjustments.filter(({ isCharge }) => !isCharge)),
      charges: sum(adjustments.filter(({ isCharge }) => isCharge)),
      net: major(record.amount),
      tax: major(record.tax_amount),
      gross: major(gross),
      rounding: rounding_amount ? major(rounding_amount) : undefined,
      due: major(gross + (rounding_amount ?? 0)),
    },
  };
}

/** Returns the lines of a document without lines: one for each of its taxes. */
function onlyLines(record: MoneyRecord, name: string): ELine[] {
  return taxesOf(record).map(({ rate, category, taxable }, index) => {
    const net = majorOf(taxable, record.currency);
    return {
      id: String(index + 1),
      name,
      // No price is negative (BR-27).
      quantity: taxable < 0 ? '-1' : '1',
      unit: 'C62',
      price: new Big(net).abs().toFixed(),
      net,
      category,
      rate: decimal(rate),
    };
  });
}

function linesOf(record: MoneyRecord, items: readonly LineItem[]) {
  const { currency, discount_percent } = record;
  const terms = { ...record, prices_include_tax: Boolean(record.prices_include_tax) };
  const shares = record.discounts ?? discountShares(items, record, terms);
  const placed = items.map((item) => ({ item, tax: taxOfLine(item, record), sum: lineNet(item, currency), net: 0 }));
  const adjustments: DocumentAdjustment[] = [];
  for (const group of taxesOf(record)) {
    const parts: Part[] = placed.filter(({ tax }) => isSameTax(tax, group));
    const lines = parts.reduce((sum, part) => sum + part.sum, 0);
    const discount = shares.find((share) => isSameTax(share, group))?.amount ?? 0;
    // The rest of the agreed sum of the group is its shipping.
    const shipping = groupSum(group, terms) - lines + discount;
    const [off, on] = [
      { sum: -discount, net: 0 },
      { sum: shipping, net: 0 },
    ];
    const all = [...parts, off, on];
    if (record.prices_include_tax) splitNet(all, group.taxable, group.rate);
    else for (const part of all) part.net = part.sum;
    adjustments.push(
      ...adjustmentOf(off, DISCOUNT, { percent: discount_percent, base: lines }),
      ...adjustmentOf(on, on.sum > 0 ? SHIPPING : DISCOUNT),
    );

    function adjustmentOf({ net }: Part, why: typeof DISCOUNT, of?: { percent: number | undefined; base: number }) {
      if (net === 0) return [];
      const isCharge = net > 0;
      const amount = Math.abs(net);
      const isPlain =
        of?.percent !== undefined &&
        !record.prices_include_tax &&
        isShare(majorOf(amount, currency), majorOf(of.base, currency), String(of.percent));
      return [
        {
          isCharge,
          amount: majorOf(amount, currency),
          ...(isPlain ? { base: majorOf(of.base, currency), percent: decimal(of.percent as number) } : {}),
          reason: why.reason,
          code: isCharge === (why === SHIPPING) ? why.code : undefined,
          category: group.category,
          rate: decimal(group.rate),
        },
      ];
    }
  }
  const lines = placed.map(({ item, tax, net }, index): ELine => {
    const { name, description } = namesOf(item.description);
    const priced = record.prices_include_tax ? computedPrice(item, net, currency) : givenPrice(item, net, currency);
    return {
      id: String(index + 1),
      name,
      description,
      unit: item.unit ? unitCode(item.unit) : 'C62',
      net: majorOf(net, currency),
      category: tax.category,
      rate: decimal(tax.rate),
      ...priced,
    };
  });
  return { lines, adjustments };
}

/** Splits the taxable amount of a group over its parts: each is rounded, and the largest take the cents that are left. */
function splitNet(parts: readonly Part[], taxable: number, rate: number): void {
  for (const part of parts) {
    part.net = new Big(part.sum).times(100).div(new Big(100).plus(rate)).round(0, Big.roundHalfUp).toNumber() + 0;
  }
  const left = taxable - parts.reduce((sum, { net }) => sum + net, 0);
  const largest = parts
    .filter(({ sum }) => sum !== 0)
    .toSorted((one, other) => Math.abs(other.sum) - Math.abs(one.sum))
    .slice(0, Math.abs(left));
  for (const part of largest) part.net += Math.sign(left);
}

/** Returns price and quantity as they were given, with the discount as an allowance. No price is negative (BR-27). */
function givenPrice(item: LineItem, netMinor: number, currency: string) {
  const isNegative = new Big(item.rate).lt(0);
  const quantity = isNegative ? new Big(item.qty).neg() : new Big(item.qty);
  const price = new Big(item.rate).abs();
  const full = quantity.times(price).round(2, Big.roundHalfUp);
  const off = full.minus(majorOf(netMinor, currency));
  return { quantity: quantity.toFixed(), price: price.toFixed(), adjustment: lineAdjustment(full, off, item.discount) };
}

function lineAdjustment(full: Big, off: Big, discount: string): Adjustment | undefined {
  if (off.eq(0)) return undefined;
  const isPlain = off.gt(0) && new Big(discount).gt(0) && isShare(off, full, discount);
  return {
    isCharge: off.lt(0),
    amount: off.abs().toFixed(2),
    ...(isPlain ? { base: full.toFixed(2), percent: decimal(discount) } : {}),
    reason: new Big(discount).gt(0) ? `Discount ${decimal(discount)} %` : 'Rounding',
    code: isPlain ? '95' : undefined,
  };
}

/** Returns the price that gives the net amount of a line whose own price contains the tax. */
function computedPrice(item: LineItem, netMinor: number, currency: string) {
  const net = new Big(majorOf(netMinor, currency));
  const given = new Big(item.qty);
  if (given.eq(0) || net.eq(0)) return { quantity: given.toFixed(), price: '0' };
  const quantity = given.times(net).lt(0) ? given.neg() : given;
  const decimals = quantity.abs().gt(LARGE_QUANTITY) ? PRICE_DECIMALS + 2 : PRICE_DECIMALS;
  return { quantity: quantity.toFixed(), price: net.div(quantity).round(decimals, Big.roundHalfUp).toFixed() };
}

/** The largest difference that the rules allow between an amount and what its percentage gives (PEPPOL-EN16931-R040). */
const SHARE_TOLERANCE = '0.01';

/** True when the percentage of the base is the amount: the rules recompute it. All are in major units. */
function isShare(amount: Big | string, base: Big | string, percent: string): boolean {
  return new Big(base).times(percent).div(100).minus(amount).abs().lte(SHARE_TOLERANCE);
}

/** The error for an amount that EN 16931 cannot express. */
export class ThreeDecimals extends Error {}

/** Returns the amount with two decimals. @throws ThreeDecimals for one that has three. */
function majorOf(minor: number, currency: string): string {
  const amount = new Big(minor).div(new Big(10).pow(decimalsOf(currency)));
  if (!amount.round(2, Big.roundDown).eq(amount))
    throw new ThreeDecimals(`${amount.toFixed()} ${currency} has three decimals`);
  return amount.toFixed(2);
}

function total(amounts: readonly string[]): string {
  return amounts.reduce((sum, amount) => sum.plus(amount), new Big(0)).toFixed(2);
}

function decimal(value: number | string): string {
  return new Big(value).toFixed();
}

/** Splits a description: its first line is the name of the item, the others describe it. */
function namesOf(text: string): { name: string; description: string | undefined } {
  const [name = '', ...rest] = text.trim().split(/\r\n?|\n/);
  return { name: name.trim() || '–', description: rest.join('\n').trim() || undefined };
}
