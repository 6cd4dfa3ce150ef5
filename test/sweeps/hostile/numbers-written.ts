// JSON numbers in every notation, and what a field with rules makes of them: computed in integers, independently of the product.

/** All of them are JSON. */
export const NUMBERS = [
  '0',
  '-0',
  '0.0',
  '-0.0',
  '0e0',
  '0e9999',
  '-0e-9999',
  '1',
  '-1',
  '1.0',
  '1.5',
  '-1.5',
  '0.1',
  '0.01',
  '0.001',
  '0.005',
  '0.015',
  '0.004999999999999999',
  '1.005',
  '2.675',
  '1.004',
  '99.994',
  '99.995',
  '100',
  '100.0',
  '100.000000000000001',
  '100.01',
  '101',
  '1e2',
  '1E2',
  '1e+2',
  '1e-2',
  '1e-7',
  '1e-20',
  '1e-400',
  '5e-324',
  '0.30000000000000004',
  '12345.678901234567',
  '999999',
  '1000000',
  '1000000.01',
  '1e6',
  '1e9',
  '1000000000.5',
  '999999999999.99',
  '999999999999.995',
  '1e12',
  '1000000000000.01',
  '1e13',
  '-1e12',
  '-1e13',
  '9007199254740991',
  '9007199254740992',
  '9007199254740993',
  '-9007199254740993',
  '18446744073709551616',
  '1e21',
  '1e100',
  '1e308',
  '1e309',
  '-1e309',
  '1e400',
  '9'.repeat(400),
  `0.${'0'.repeat(400)}1`,
  `1${'0'.repeat(15)}`,
  '3.1415926535897932384626433832795',
  '0.8',
  '1.2',
  '0.79',
  '1.21',
] as const;

export interface Rule {
  name: string;
  args?: { limit?: number };
}

/** Decimals that are stored of a rate, hours or a percentage. */
export const STORED_DECIMALS = 12;

/** True when a field with these rules accepts the number. */
export function accepts(rules: readonly Rule[], literal: string): boolean {
  const given = Number(literal);
  // A JSON number is read as a double: what does not fit is no number.
  if (!Number.isFinite(given) || Math.abs(given) > Number.MAX_SAFE_INTEGER) return false;
  const own = rules.filter(({ name }) => name === 'custom').length;
  // The first custom rule rounds the noise away, before the bounds are checked; hours have a second one.
  const value = own > 0 ? rounded(literal, STORED_DECIMALS) : given;
  if (own > 1 && value > 0 && Math.round(value * 3600) < 1) return false;
  return rules.every(({ name, args: { limit = 0 } = {} }) => {
    if (name === 'min') return value >= limit;
    if (name === 'max') return value <= limit;
    if (name === 'greater') return value > limit;
    if (name === 'integer') return Number.isInteger(value);
    if (name === 'sign') return value > 0;
    if (name === 'custom') return true;
    throw new Error(`what does the rule ${name} mean?`);
  });
}

/** The number a double is printed as, rounded to `decimals`, half away from zero. */
export function rounded(literal: string, decimals: number): number {
  const [, sign = '', whole = '0', part = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(String(Number(literal))) ?? [];
  const digits = BigInt(whole + part);
  // digits × 10^shift is the number in its smallest units.
  const shift = Number(exponent) - part.length + decimals;
  const units = shift >= 0 ? digits * 10n ** BigInt(shift) : halfUp(digits, 10n ** BigInt(-shift));
  const value = Number(`${units}e-${decimals}`);
  return sign && value !== 0 ? -value : value;
}

function halfUp(digits: bigint, by: bigint): bigint {
  return (2n * digits + by) / (2n * by);
}
