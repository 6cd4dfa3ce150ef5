// Money in decimal arithmetic: amounts are whole numbers of a currency's smallest unit, everything else is a decimal string.
import Big from 'big.js';
import * as currencies from 'dinero.js/currencies';

/** What is computed with: 12.345 or "12.345", never the result of a floating-point sum. */
export type Decimal = number | string;

export interface Line {
  qty: Decimal;
  rate: Decimal;
  /** Percentage, 0 to 100. */
  discount: Decimal;
}

/** Largest amount in either direction, in major units: sums of it stay whole numbers that a double holds exactly. */
export const AMOUNT_MAX = 1_000_000_000_000;
/** Fifteen digits: so many a double holds wherever the decimal point is. Half of it, so that an amount with 100 % of tax has no more. */
const MINOR_MAX = Math.floor(999_999_999_999_999 / 2);
/** What lies behind this place in a quantity or price is noise of the caller's floating point. */
export const DECIMALS_KEPT = 12;
/** ISO 4217 gives these two decimals; the package counts their fifths. */
const IN_FIFTHS = 2;

/** Multiplying by it is exact; a division would be cut off after twenty places. */
const PERCENT = '0.01';

const decimals = new Map(
  Object.values(currencies).map(({ code, base, exponent }) => [code as string, base === 10 ? exponent : IN_FIFTHS]),
);

/** Every current ISO 4217 code that has decimals. */
export const currencyCodes: readonly string[] = [...decimals.keys()];

/** True for a current ISO 4217 code in capitals. */
export function isCurrency(code: string): boolean {
  return decimals.has(code);
}

/** Decimals of the currency by ISO 4217: JPY 0, USD 2, KWD 3. @throws RangeError on a code that `isCurrency` refuses. */
export function decimalsOf(currency: string): number {
  const count = decimals.get(currency);
  if (count === undefined) throw new RangeError(`${currency} is not a currency`);
  return count;
}

/** Major units as the caller wrote them → smallest units, rounded half away from zero. */
export function toMinor(amount: Decimal, currency: string): number {
  return round(new Big(amount).times(unit(currency))).toNumber() + 0;
}

/** False for an amount with more decimals than the currency has. Noise of floating point, as in 0.1 + 0.2, does not count. */
export function isExact(amount: Decimal, currency: string): boolean {
  return new Big(amount).round(DECIMALS_KEPT).times(unit(currency)).eq(toMinor(amount, currency));
}

/** Major units → smallest units that are no more than them: a bound must not grow by rounding. */
export function minorWithin(amount: Decimal, currency: string): number {
  return new Big(amount).times(unit(currency)).round(0, Big.roundDown).toNumber();
}

/**
 * Smallest units → major units: the double next to the exact amount, which prints as exactly the amount.
 * Both operands are whole numbers a double holds, so this one division is rounded once and correctly (IEEE 754).
 */
export function fromMinor(minor: number, currency: string): number {
  return minor / 10 ** decimalsOf(currency);
}

/** round(qty × rate × (1 − discount/100)) in smallest units, half away from zero. */
export function lineNet(line: Line, currency: string): number {
  return roundedNet(line, currency).toNumber() + 0; // + 0 makes −0 plain.
}

/** The exact sum of the rounded lines, in smallest units; a sum that is not exact is one that isAmount refuses. */
export function sumOfLines(lines: readonly Line[], currency: string): number {
  // Summed as decimals: two huge lines that cancel out must not leave the noise of doubles behind.
  return lines.reduce((sum, line) => sum.plus(roundedNet(line, currency)), new Big(0)).toNumber() + 0;
}

/** round(amount × rate/100) in smallest units, half away from zero. @param rate percentage. */
export function taxOf(minor: number, rate: Decimal): number {
  return round(new Big(minor).times(rate).times(PERCENT)).toNumber() + 0;
}

/** round(amount × part/whole), half away from zero; nothing of a whole that is nothing. */
export function shareWithin(amount: number, part: number, whole: number): number {
  if (whole === 0) return 0;
  // Cut off after twenty places: a quotient of such numbers is exact there, or farther from a tie than that.
  return round(new Big(amount).times(part).div(whole)).toNumber() + 0;
}

/** True for smallest units that an amount may have: not negative, and exact with its tax, also in major units. */
export function isAmount(minor: number): boolean {
  return minor >= 0 && minor <= MINOR_MAX;
}

/** True for smallest units that a line may have: a credit may be as large as an amount. */
export function isLineAmount(minor: number): boolean {
  return isAmount(Math.abs(minor));
}

/** A plain decimal without exponent and without floating-point noise: 2 → "2", 120.50 → "120.5", 0.1 + 0.2 → "0.3". */
export function plainDecimal(value: Decimal): string {
  return new Big(value).round(DECIMALS_KEPT, Big.roundHalfUp).toFixed();
}

/** The number that `plainDecimal` writes: 0.30000000000000004 → 0.3. Numbers that are not finite stay as they are. */
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
