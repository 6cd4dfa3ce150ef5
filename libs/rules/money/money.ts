// Money in decimal arithmetic: amounts are whole numbers of a currency's smallest unit, everything else is a decimal string.
import Big from 'big.js';
import * as currencies from 'dinero.js/currencies';

/** A decimal such as 12.345 or "12.345". It must never be the result of a floating-point sum. */
export type Decimal = number | string;

export interface Line {
  qty: Decimal;
  rate: Decimal;
  /** Percentage, 0 to 100. */
  discount: Decimal;
}

/** The largest amount in either direction, in major units. A double holds its sums in smallest units exactly. */
export const AMOUNT_MAX = 1_000_000_000_000;
/** A double holds fifteen digits wherever the decimal point is. Half of that leaves room for 100 % of tax. */
const MINOR_MAX = Math.floor(999_999_999_999_999 / 2);
/** Digits behind this decimal place of a quantity or price are noise of the caller's floating point. */
export const DECIMALS_KEPT = 12;
/** The package counts the fifths of these two currencies. ISO 4217 gives them two decimals. */
const IN_FIFTHS = 2;

/** A multiplication by this is exact. A division by 100 would be cut off after twenty places. */
const PERCENT = '0.01';

/** The currency where neither a client nor an account has one. */
export const CURRENCY_STANDARD = 'USD';

const decimals = new Map(
  Object.values(currencies).map(({ code, base, exponent }) => [code as string, base === 10 ? exponent : IN_FIFTHS]),
);

/** Every current ISO 4217 code that has decimals. */
export const currencyCodes: readonly string[] = [...decimals.keys()];

/** True for a current ISO 4217 code in capitals. */
export function isCurrency(code: string): boolean {
  return decimals.has(code);
}

/**
 * Returns the decimals of a currency by ISO 4217: JPY 0, USD 2, KWD 3.
 * @throws RangeError on a code that `isCurrency` refuses.
 */
export function decimalsOf(currency: string): number {
  const count = decimals.get(currency);
  if (count === undefined) throw new RangeError(`${currency} is not a currency`);
  return count;
}

/** Converts major units, as the caller wrote them, to smallest units. Rounds half away from zero. */
export function toMinor(amount: Decimal, currency: string): number {
  return round(new Big(amount).times(unit(currency))).toNumber() + 0;
}

/**
 * Returns false for an amount with more decimals than the currency has. Noise of floating point, as in 0.1 + 0.2, does
 * not count.
 */
export function isExact(amount: Decimal, currency: string): boolean {
  return new Big(amount).round(DECIMALS_KEPT).times(unit(currency)).eq(toMinor(amount, currency));
}

/** Converts major units to smallest units and rounds down, because rounding must not raise a bound. */
export function minorWithin(amount: Decimal, currency: string): number {
  return new Big(amount).times(unit(currency)).round(0, Big.roundDown).toNumber();
}

/**
 * Converts smallest units to major units: the double nearest to the exact amount, which prints as exactly that amount.
 * Both operands are whole numbers that a double holds, so the division is rounded once and correctly (IEEE 754).
 */
export function fromMinor(minor: number, currency: string): number {
  return minor / 10 ** decimalsOf(currency);
}

/** Returns round(qty × rate × (1 − discount/100)) in smallest units, half away from zero. */
export function lineNet(line: Line, currency: string): number {
  return roundedNet(line, currency).toNumber() + 0; // + 0 makes −0 plain.
}

/**
 * Returns the exact sum of the rounded lines in smallest units. `isAmount` refuses a sum that a double cannot hold
 * exactly.
 */
export function sumOfLines(lines: readonly Line[], currency: string): number {
  // Decimals keep two huge lines that cancel out from leaving the noise of doubles behind.
  return lines.reduce((sum, line) => sum.plus(roundedNet(line, currency)), new Big(0)).toNumber() + 0;
}

/** Returns round(amount × percent/100) in smallest units, half away from zero. */
export function percentOf(minor: number, percent: Decimal): number {
  return round(new Big(minor).times(percent).times(PERCENT)).toNumber() + 0;
}

/** Returns round(amount × part/whole), half away from zero, and 0 for a whole of 0. */
export function shareWithin(amount: number, part: number, whole: number): number {
  if (whole === 0) return 0;
  // The division is cut off after twenty places. A quotient of such numbers is exact there, or farther from a tie than
  // that.
  return round(new Big(amount).times(part).div(whole)).toNumber() + 0;
}

/** True for an amount that a document may have: it is not negative, and exact with its tax, also in major units. */
export function isAmount(minor: number): boolean {
  return minor >= 0 && minor <= MINOR_MAX;
}

/** True for an amount that a line may have: a credit may be as large as an amount. */
export function isLineAmount(minor: number): boolean {
  return isAmount(Math.abs(minor));
}

/** True for an amount between 0 and the whole. Where the whole is negative, so are its parts. */
export function isWithin(amount: number, whole: number): boolean {
  return whole < 0 ? amount <= 0 && amount >= whole : amount >= 0 && amount <= whole;
}

/** Returns a line that is worth the amount. @param minor in smallest units. */
export function singleLine(minor: number, currency: string): Line {
  return { qty: '1', rate: fromMinor(minor, currency), discount: '0' };
}

/** Writes a decimal without exponent and without floating-point noise: 2 → "2", 120.50 → "120.5", 0.1 + 0.2 → "0.3". */
export function plainDecimal(value: Decimal): string {
  return new Big(value).round(DECIMALS_KEPT, Big.roundHalfUp).toFixed();
}

/**
 * Returns the number that `plainDecimal` writes: 0.30000000000000004 → 0.3. Numbers that are not finite stay as they
 * are.
 */
export function withoutNoise(value: number): number {
  return Number.isFinite(value) ? Number(plainDecimal(value)) + 0 : value; // + 0 makes −0 plain.
}

function roundedNet({ qty, rate, discount }: Line, currency: string): Big {
  const share = new Big(100).minus(discount).times(PERCENT);
  return round(new Big(qty).times(rate).times(share).times(unit(currency)));
}

function unit(currency: string): Big {
  return new Big(10).pow(decimalsOf(currency));
}

// big.js calls it "half up", and rounds ties away from zero.
function round(value: Big): Big {
  return value.round(0, Big.roundHalfUp);
}
