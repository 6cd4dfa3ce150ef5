// Which hourly rate counts for time: the closest one that is set.

/** From the closest to the most general. */
export const RATE_SOURCES = ['entry', 'task', 'project', 'client', 'account'] as const;

export type RateSource = (typeof RATE_SOURCES)[number];

export interface HourlyRate {
  rate: number;
  /** Where it is set. */
  from: RateSource;
}

/** @param rates null and undefined mean that no rate is set there; 0 is a rate. @returns undefined when none is set anywhere. */
export function hourlyRate(rates: Partial<Record<RateSource, number | null | undefined>>): HourlyRate | undefined {
  for (const from of RATE_SOURCES) {
    const rate = rates[from];
    if (rate !== null && rate !== undefined) return { rate, from };
  }
  return undefined;
}
