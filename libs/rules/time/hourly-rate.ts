// Finds the hourly rate for time: the closest rate that is set. At each level the rate of the member comes before the
// rate for everybody.

/** The levels from the closest to the most general. */
export const RATE_SOURCES = ['entry', 'task', 'project', 'client', 'account'] as const;

export type RateSource = (typeof RATE_SOURCES)[number];

export interface HourlyRate {
  rate: number;
  /** The level that sets the rate. */
  from: RateSource;
}

/** The rate of one person. */
export interface MemberRate {
  member: string;
  rate: number;
}

/** A project, a client or an account: a rate for everybody, and rates for single members. */
export interface RateHolder {
  hourly_rate?: number | null | undefined;
  member_rates?: readonly MemberRate[] | null | undefined;
}

/** Returns the member's rate where the holder has one, else its rate for everybody. */
export function rateFor(holder: RateHolder | undefined, member: string | null | undefined): number | null | undefined {
  const own = member ? holder?.member_rates?.find((one) => one.member === member) : undefined;
  return own?.rate ?? holder?.hourly_rate;
}

/**
 * Returns the rate of the closest level that sets one, or undefined.
 * @param rates null and undefined mean that a level sets none; 0 is a rate.
 */
export function hourlyRate(rates: Partial<Record<RateSource, number | null | undefined>>): HourlyRate | undefined {
  for (const from of RATE_SOURCES) {
    const rate = rates[from];
    if (rate !== null && rate !== undefined) return { rate, from };
  }
  return undefined;
}
