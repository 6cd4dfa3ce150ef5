// Clock times as `HH:MM`, and the moment at which the clocks of a time zone show one.
import { offsetIn } from '../../day.ts';

/** A time of day from 00:00 to 23:59. */
export const CLOCK_TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

/** A change of the clock on a day lies between these distances from its noon. */
const HALF_DAY_MS = 12 * 3_600_000;

/**
 * Returns the moment of `day` at which clocks in `timeZone` show `time`. A time that occurs twice is the first of the two.
 * A time that the clocks leave out is as long after midnight as on any other day.
 * @param timeZone an IANA name. @param day `YYYY-MM-DD`. @param time `HH:MM`.
 */
export function momentOf(timeZone: string, day: string, time: string): Date {
  const asUtc = Date.parse(`${day}T${time}:00Z`);
  const noon = Date.parse(`${day}T12:00:00Z`);
  const [before, after] = [noon - HALF_DAY_MS, noon + HALF_DAY_MS].map((at) => {
    // The first guess may be up to 14 hours off, which the offset at that time repairs.
    const local = at - offsetIn(timeZone, at);
    return offsetIn(timeZone, local);
  }) as [number, number];
  const candidates = [asUtc - before, asUtc - after].toSorted((one, other) => one - other);
  const shown = candidates.find((at) => at + offsetIn(timeZone, at) === asUtc);
  return new Date(shown ?? asUtc - before);
}
