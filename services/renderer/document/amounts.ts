// Sums and prints money: decimal arithmetic only, and a currency symbol of whatever length and direction the caller chose.
import Big from 'big.js';
import type { PdfDocument } from '#libs/jobs/pdf-document.ts';
import type { PrintableDocument, PrintableLine } from '#libs/jobs/printable-document.ts';
import { DECIMALS_KEPT, isCurrency, decimalsOf as minorDigitsOf } from '#libs/rules/money/money.ts';

/** Half away from zero, as people round money by hand. */
const ROUNDING = Big.roundHalfUp;

/** More than any currency has, for prices of thousandths and amounts "as given". */
const DECIMALS = 6;
/** A price of a token has more decimals. A longer number was computed, such as 33.333333333333336, and is rounded. */
const WRITTEN_MOST = 10;

/** Symbols of currencies without cents. ISO 4217 knows the codes. */
const WITHOUT_CENTS = new Set('JP¥ 円 ₩ 원 ₫ đ ₲ CFA FCFA CFPF FBu Fdj FG RF USh VT'.split(' '));
/** Of the yen, which has none, and of the yuan or a dollar, which have. */
const PERHAPS_WITHOUT_CENTS = new Set('¥ ￥ 圓'.split(' '));
const WITH_MILS = new Set('KD BD JD DT د.ب ع.د د.أ د.ك ل.د ر.ع د.ت'.split(' '));
/** Blanks, the marks of direction, and the dot that some write at the end. */
const NOT_OF_THE_SYMBOL = /[\s\u200e\u200f\u061c]|\.$/g;

export interface Totals {
  /** Undefined when neither it nor a line's price was given, so that the parts of the total are unknown. */
  subtotal: Big | undefined;
  /** What a quoted amount has beyond the sum of its lines; undefined when they agree. */
  adjustment: Big | undefined;
  discount: Big | undefined;
  /** What is taxed; undefined when that is the subtotal, or nothing is. */
  taxable: Big | undefined;
  /** What is left of a record before tax, after discount and shipping: it stands instead of `taxable`. */
  net: Big | undefined;
  taxRate: Big;
  /** Undefined when it was not given and there is no subtotal to take it of. */
  tax: Big | undefined;
  /** Where there are several rates, or no tax for a reason. */
  taxes: readonly TaxRow[] | undefined;
  shipping: Big | undefined;
  /** As given, not as computed. */
  total: Big;
  /** False when the lines say another total than the one given. */
  addsUp: boolean;
  /** False when the lines say another subtotal than the one given. */
  isSumOfLines: boolean;
}

interface TaxRow {
  rate: Big;
  taxable: Big;
  tax: Big;
}

/** Of one line, as decimals; undefined is what was not given. */
export interface LineAmounts {
  qty: Big | undefined;
  rate: Big | undefined;
  /** A line without a price, such as a heading or a remark, has none. */
  amount: Big | undefined;
}

export function lineAmounts(line: PrintableLine, digits: number): LineAmounts {
  const qty = line.qty === undefined ? undefined : new Big(line.qty);
  const rate = line.rate === undefined ? undefined : new Big(line.rate);
  if (line.amount !== undefined) return { qty, rate, amount: new Big(line.amount) };
  return { qty, rate, amount: rate && (qty ? qty.times(rate) : rate).round(digits, ROUNDING) };
}

/** Subtotal + adjustment − discount, + tax, + shipping; records have the shipping before the tax. Zero is a value: only what was left out is computed or absent. */
export function totalsOf(document: PrintableDocument, amounts: readonly LineAmounts[], digits: number): Totals {
  const lines = amounts.map(({ amount }) => amount).filter((amount) => amount !== undefined);
  const sum = lines.reduce((before, amount) => before.plus(amount), new Big(0));
  const isStated = lines.length > 0 || document.subtotal !== undefined;
  const subtotal = document.subtotal === undefined ? sum : new Big(document.subtotal);
  const adjustment = document.adjustment === undefined ? undefined : new Big(document.adjustment);
  const discount = document.discountAmount === undefined ? undefined : new Big(document.discountAmount);
  const shipping = document.shippingAmount === undefined ? undefined : new Big(document.shippingAmount);
  const taxRate = new Big(document.taxRate);
  const tax =
    document.taxAmount === undefined
      ? subtotal
          .minus(discount ?? 0)
          .times(taxRate)
          .div(100)
          .round(digits, ROUNDING)
      : new Big(document.taxAmount);
  const isTaxed = isStated || document.taxAmount !== undefined;
  const total = new Big(document.amount);
  const priced = subtotal
    .plus(adjustment ?? 0)
    .minus(discount ?? 0)
    .plus(shipping ?? 0);
  const net = document.net === undefined ? undefined : new Big(document.net);
  const agreed = document.pricesIncludeTax && net ? priced : priced.plus(tax);
  const computed = agreed.round(digits, ROUNDING);
  return {
    subtotal: isStated ? subtotal : undefined,
    adjustment,
    discount,
    net,
    taxable:
      !net && isTaxed && discount && !discount.eq(0) ? subtotal.plus(adjustment ?? 0).minus(discount) : undefined,
    taxRate,
    tax: isTaxed ? tax : undefined,
    taxes: document.taxes?.map((one) => ({
      rate: new Big(one.rate),
      taxable: new Big(one.taxable),
      tax: new Big(one.tax),
    })),
    shipping,
    total,
    addsUp: !isStated || (computed.eq(total.round(digits, ROUNDING)) && (!net || net.plus(tax).eq(total))),
    isSumOfLines:
      lines.length === 0 ||
      sum.round(digits, ROUNDING).eq((document.pricesIncludeTax && !net ? total : subtotal).round(digits, ROUNDING)),
  };
}

/** Decimals of every amount. What was given with more, such as a price of half a won, is printed with its own. */
export function digitsOf(document: PdfDocument): number {
  const symbol = document.currencySymbol.replaceAll(NOT_OF_THE_SYMBOL, '');
  const code = symbol.toUpperCase();
  if (isCurrency(code)) return minorDigitsOf(code);
  if (PERHAPS_WITHOUT_CENTS.has(symbol)) return hasCents(document) ? 2 : 0;
  return WITH_MILS.has(symbol) ? 3 : WITHOUT_CENTS.has(symbol) ? 0 : 2;
}

/** The price of one piece says nothing of the currency: 1,000 pieces of 4.5 yen are 4,500 yen. */
function hasCents({ amount, subtotal, discountAmount, shippingAmount, lineItems }: PdfDocument): boolean {
  const products = lineItems.map(({ qty, rate }) => rate !== undefined && new Big(rate).times(qty ?? 1));
  const amounts = [amount, subtotal, discountAmount, shippingAmount, ...products];
  return amounts.some((value) => value && !new Big(value).mod(1).eq(0));
}

/** A number as written, however small; a computed number rounded. */
export function asWritten(value: Big): Big {
  const decimals = decimalsOf(value);
  if (decimals <= DECIMALS) return value;
  // Records are cut there, so one that has as many was computed, too.
  const isWritten = decimals < DECIMALS_KEPT && value.c.length <= WRITTEN_MOST;
  return isWritten ? value : value.round(DECIMALS, ROUNDING);
}

/** `1234.5` → `1,234.50`: at least `digits` decimals, more when the number has them. */
export function groupedNumber(value: Big, digits: number): string {
  const [whole = '', fraction] = value
    .abs()
    .toFixed(Math.max(digits, decimalsOf(value)))
    .split('.');
  const grouped = whole.length > 3 ? whole.replaceAll(/\B(?=(\d{3})+$)/g, ',') : whole;
  return fraction ? `${grouped}.${fraction}` : grouped;
}

/** How many decimals it has. Big keeps its digits without zeros at the end, and where the first of them stands. */
function decimalsOf({ c: digits, e: first }: Big): number {
  return Math.max(0, digits.length - 1 - first);
}

/** `value.lt(0)` makes a Big of the zero each time. Minus nothing is nothing. */
export function isNegative({ s: sign, c: digits }: Big): boolean {
  return sign < 0 && digits[0] !== 0;
}

/** Symbols made of letters stand apart: `CHF 5.00`, but `$5.00` and `R$5.00`. */
export function currencyGap(symbol: string): string {
  return /[\p{L}\p{M}.]$/u.test(symbol) ? '\u00a0' : '';
}
