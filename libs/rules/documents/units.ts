// Units of a line's quantity: names for the common units of services, and the codes of UN/ECE Recommendation 20 for all
// others.
import { isUnitCode } from './unit-codes.ts';

/** The names that callers write, with their codes. */
const UNITS = {
  hour: 'HUR',
  day: 'DAY',
  week: 'WEE',
  month: 'MON',
  year: 'ANN',
  minute: 'MIN',
  piece: 'H87',
  one: 'C62',
  lump_sum: 'LS',
  km: 'KMT',
  m: 'MTR',
  m2: 'MTK',
  kg: 'KGM',
  l: 'LTR',
} as const;

export type UnitName = keyof typeof UNITS;

export const UNIT_NAMES = Object.keys(UNITS) as UnitName[];

const names = new Map<string, UnitName>(UNIT_NAMES.flatMap((name) => [[name, name] as const, [UNITS[name], name]]));

export function isUnit(unit: string): boolean {
  return names.has(unit) || isUnitCode(unit);
}

/** Returns the name of a unit, so that `HUR` and `hour` print alike. Returns undefined for a code without a name. */
export function unitName(unit: string): UnitName | undefined {
  return names.get(unit);
}

/** Returns the code of UN/ECE Recommendation 20. @param unit a name or a code, see isUnit. */
export function unitCode(unit: string): string {
  const name = unitName(unit);
  return name ? UNITS[name] : unit;
}

export interface UnitFormat {
  unit: string;
  unitDisplay: 'short' | 'long';
}

/**
 * Units that Intl has words for. The short words of some languages for units of the calendar are ambiguous: `m.` is a
 * month.
 */
export const INTL_UNITS: Partial<Record<UnitName, UnitFormat>> = {
  minute: { unit: 'minute', unitDisplay: 'short' },
  hour: { unit: 'hour', unitDisplay: 'short' },
  day: { unit: 'day', unitDisplay: 'long' },
  week: { unit: 'week', unitDisplay: 'long' },
  month: { unit: 'month', unitDisplay: 'long' },
  year: { unit: 'year', unitDisplay: 'long' },
  km: { unit: 'kilometer', unitDisplay: 'short' },
  m: { unit: 'meter', unitDisplay: 'short' },
  kg: { unit: 'kilogram', unitDisplay: 'short' },
  l: { unit: 'liter', unitDisplay: 'short' },
};
