// Which hourly rate counts for time: the closest one that is set, and at each place that of the person before that of everybody.

/** From the closest to the most general. */
export const RATE_SOURCES = ['entry', 'task', 'project', 'client', 'account'] as const;

export type RateSource = (typeof RATE_SOURCES)[number];

export interface HourlyRate {
  rate: number;
  /** Where it is set. */
  from: RateSource;
}

/** The rate of one person. */
export interface MemberRate {
  member: string;
  rate: number;
}

/** A project, a client or an account, which has a rate for everybody and may have rates for single people. */
export interface RateHolder {
  hourly_rate?: number | null | undefined;
  member_rates?: readonly MemberRate[] | null | undefined;
}

/** @returns the rate of the member where the holder has one, else its rate for everybody. */
export function rateFor(holder: RateHolder | undefined, member: string | null | undefined): number | null | undefined {
  const own = member ? holder?.member_rates?.find((one) => one.member === member) : undefined;
  return own?.rate ?? holder?.hourly_rate;
}

/** @param rates null and undefined mean that no rate is set there; 0 is a rate. @returns undefined when none is set anywhere. */
export function hourlyRate(rates: Partial<Record<RateSource, number | null | undefined>>): HourlyRate | undefined {
  for (const from of RATE_SOURCES) {
    const rate = rates[from];
    if (rate !== null && rate !== undefined) return { rate, from };
  }
  return undefined;
}
