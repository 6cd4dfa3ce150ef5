// Hours as people write them: 1.5, "1:30", "90m" or "1h 30m".
import { plainDecimal, withoutNoise } from '../money/money.ts';
import { hoursQuantity } from './time-rounding.ts';

export interface GivenHours {
  hours: number;
  /** The number of given decimals. Absent for whole hours, and for hours and minutes, which are exact. */
  decimals?: number | undefined;
}

const DECIMAL = /^\d{1,7}(?:\.(\d{1,12}))?$/;
const DECIMAL_HOURS = /^(\d{1,7}\.\d{1,12}) ?h$/i;
const CLOCK = /^(\d{1,7}):([0-5]\d)(?::([0-5]\d))?$/;
const UNITS = /^(?=\d)(?:(\d{1,7}) ?h ?)?(?:(\d{1,9}) ?m(?:in)? ?)?(?:(\d{1,9}) ?s)?$/i;

/** Reads hours. Hours and minutes are read to the second, with four decimals. @returns undefined for a text of another form. */
export function givenHours(given: number | string): GivenHours | undefined {
  if (typeof given === 'number') return { hours: withoutNoise(given), ...decimalsIn(plainDecimal(given)) };
  const text = given.trim();
  const decimal = DECIMAL_HOURS.exec(text)?.[1] ?? DECIMAL.exec(text)?.[0];
  if (decimal !== undefined) return { hours: withoutNoise(Number(decimal)), ...decimalsIn(decimal) };
  const parts = CLOCK.exec(text) ?? UNITS.exec(text);
  if (!parts) return undefined;
  const [hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map((part) => Number(part ?? 0));
  return { hours: Number(hoursQuantity((hours * 60 + minutes) * 60 + seconds)) };
}

function decimalsIn(text: string): Pick<GivenHours, 'decimals'> {
  const count = text.split('.')[1]?.length;
  return count === undefined ? {} : { decimals: count };
}
