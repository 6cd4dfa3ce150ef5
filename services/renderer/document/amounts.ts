// Computes sums and prints money: decimal arithmetic only, and a currency symbol of any length and direction.
import Big from 'big.js';
import type { PdfDocument } from '#libs/jobs/pdf-document.ts';
import type { PrintableDocument, PrintableLine } from '#libs/jobs/printable-document.ts';
import { DECIMALS_KEPT, isCurrency, decimalsOf as minorDigitsOf } from '#libs/rules/money/money.ts';

/** Half away from zero, as people round money by hand. */
const ROUNDING = Big.roundHalfUp;

/** More decimals than any currency has, for prices of thousandths and amounts "as given". */
const DECIMALS = 6;
/**
 * The most digits of a number that a person wrote, such as the price of a token. A longer one, such as
 * 33.333333333333336, was computed and is rounded.
 */
const WRITTEN_MOST = 10;

/** Symbols of currencies without cents. Where a code is given, ISO 4217 decides. */
const WITHOUT_CENTS = new Set('JP¥ 円 ₩ 원 ₫ đ ₲ CFA FCFA CFPF FBu Fdj FG RF USh VT'.split(' '));
/** Symbols of the yen, which has no cents, and of the yuan or a dollar, which have. */
const PERHAPS_WITHOUT_CENTS = new Set('¥ ￥ 圓'.split(' '));
const WITH_MILS = new Set('KD BD JD DT د.ب ع.د د.أ د.ك ل.د ر.ع د.ت'.split(' '));
/** Blanks, direction marks, and the dot that some write at the end. */
const NOT_OF_THE_SYMBOL = /[\s\u200e\u200f\u061c]|\.$/g;

export interface Totals {
  /** Undefined when neither it nor the price of some line was given, so that the parts of the total are unknown. */
  subtotal: Big | undefined;
  /** The difference between a quoted amount and the sum of its lines. Undefined when they agree. */
  adjustment: Big | undefined;
  discount: Big | undefined;
  /** The taxed amount. Undefined when that is the subtotal, or nothing is taxed. */
  taxable: Big | undefined;
  /** The amount of a record before tax, after discount and shipping. It replaces `taxable`. */
  net: Big | undefined;
  taxRate: Big;
  /** Undefined when it was not given and there is no subtotal to compute it from. */
  tax: Big | undefined;
  /** The taxes, where there are several rates or a reason for no tax. */
  taxes: readonly TaxRow[] | undefined;
  shipping: Big | undefined;
  /** The amount that rounds the total. The total contains it. */
  rounding: Big | undefined;
  /** The total as given, not as computed. */
  total: Big;
  /** False when the lines give another total than the given one. */
  addsUp: boolean;
  /** False when the lines give another subtotal than the given one. */
  isSumOfLines: boolean;
}

interface TaxRow {
  rate: Big;
  taxable: Big;
  tax: Big;
}

/** The values of one line as decimals. Undefined means that a value was not given. */
export interface LineAmounts {
  qty: Big | undefined;
  rate: Big | undefined;
  /** Undefined for a line without a price, such as a heading or a remark. */
  amount: Big | undefined;
}

export function lineAmounts(line: PrintableLine, digits: number): LineAmounts {
  const qty = line.qty === undefined ? undefined : new Big(line.qty);
  const rate = line.rate === undefined ? undefined : new Big(line.rate);
  if (line.amount !== undefined) return { qty, rate, amount: new Big(line.amount) };
  return { qty, rate, amount: rate && (qty ? qty.times(rate) : rate).round(digits, ROUNDING) };
}

/**
 * Computes subtotal + adjustment − discount, + tax, + shipping, + rounding. Records have the shipping before the tax. Zero is a
 * value: only a value that was left out is computed or absent.
 */
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
  const rounding = document.roundingAmount === undefined ? undefined : new Big(document.roundingAmount);
  const exact = total.minus(rounding ?? 0);
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
    rounding,
    total,
    addsUp: !isStated || (computed.eq(exact.round(digits, ROUNDING)) && (!net || net.plus(tax).eq(exact))),
    isSumOfLines:
      lines.length === 0 ||
      sum.round(digits, ROUNDING).eq((document.pricesIncludeTax && !net ? exact : subtotal).round(digits, ROUNDING)),
  };
}

/** Returns the decimals of every amount. An amount with more, such as a price of half a won, keeps its own. */
export function digitsOf(document: PdfDocument): number {
  const symbol = document.currencySymbol.replaceAll(NOT_OF_THE_SYMBOL, '');
  const code = symbol.toUpperCase();
  if (isCurrency(code)) return minorDigitsOf(code);
  if (PERHAPS_WITHOUT_CENTS.has(symbol)) return hasCents(document) ? 2 : 0;
  if (WITH_MILS.has(symbol)) return 3;
  return WITHOUT_CENTS.has(symbol) ? 0 : 2;
}

/** True when an amount shows cents. The price of one piece does not count: 1,000 pieces of 4.5 yen are 4,500 yen. */
function hasCents({
  amount,
  subtotal,
  discountAmount,
  shippingAmount,
  roundingAmount,
  lineItems,
}: PdfDocument): boolean {
  const products = lineItems.map(({ qty, rate }) => rate !== undefined && new Big(rate).times(qty ?? 1));
  const amounts = [amount, subtotal, discountAmount, shippingAmount, roundingAmount, ...products];
  return amounts.some((value) => value && !new Big(value).mod(1).eq(0));
}

/** Returns a number as it was written, however small. A computed number is rounded. */
export function asWritten(value: Big): Big {
  const decimals = decimalsOf(value);
  if (decimals <= DECIMALS) return value;
  // Records are cut at that place, so a number with as many decimals was computed, too.
  const isWritten = decimals < DECIMALS_KEPT && value.c.length <= WRITTEN_MOST;
  return isWritten ? value : value.round(DECIMALS, ROUNDING);
}

/** Groups digits: `1234.5` → `1,234.50`. It writes at least `digits` decimals, more when the number has them. */
export function groupedNumber(value: Big, digits: number): string {
  const [whole = '', fraction] = value
    .abs()
    .toFixed(Math.max(digits, decimalsOf(value)))
    .split('.');
  const grouped = whole.length > 3 ? whole.replaceAll(/\B(?=(\d{3})+$)/g, ',') : whole;
  return fraction ? `${grouped}.${fraction}` : grouped;
}

/** Returns the number of decimals. Big keeps its digits without zeros at the end, and the place of the first one. */
function decimalsOf({ c: digits, e: first }: Big): number {
  return Math.max(0, digits.length - 1 - first);
}

/** True for a number below 0. `value.lt(0)` would make a Big of the zero each time, and −0 is not negative. */
export function isNegative({ s: sign, c: digits }: Big): boolean {
  return sign < 0 && digits[0] !== 0;
}

/** Returns the gap after a symbol. Symbols made of letters need one: `CHF 5.00`, but `$5.00` and `R$5.00`. */
export function currencyGap(symbol: string): string {
  return /[\p{L}\p{M}.]$/u.test(symbol) ? '\u00a0' : '';
}
