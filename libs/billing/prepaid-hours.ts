// How hour packages cover the lines of an invoice: to the second, the package that ends first before the others.
import { sumBy } from 'es-toolkit/math/sumBy';
import type { TimeLine, TimeToBill } from './time-lines.ts';
import { billedShares } from './time-rounding.ts';

/** A package of the client, as it is before this invoice. */
export interface PackageState {
  id: string;
  /** It covers time of this project alone. */
  project_id: string | null;
  /** Seconds. */
  left: number;
  /** `YYYY-MM-DD`; both days belong to it, null is unbounded. */
  valid_from: string | null;
  valid_until: string | null;
  rollover: boolean;
}

export interface Draw {
  package_id: string;
  /** The id of the line of time. */
  line: number;
  seconds: number;
}

/** A line of time, and what something else covers of it. */
export type LineToCover = TimeLine & { id: number; covered?: number | undefined };

/**
 * What each line draws from each package, in the order of the lines. The day of the work decides which packages cover it.
 * @param packages all of the client, those that are used up among them: one that is valid keeps what an earlier one left.
 */
export function drawsOf(lines: readonly LineToCover[], packages: readonly PackageState[]): Draw[] {
  const ordered = packages.toSorted(compare);
  const left = new Map(ordered.map(({ id, left }) => [id, left]));
  return lines.flatMap((line) => {
    const open = openShares(line);
    return ordered.flatMap((one) => {
      const wanted = open.filter(({ entry }) => covers(one, entry, packages));
      const seconds = Math.min(
        left.get(one.id) ?? 0,
        sumBy(wanted, ({ seconds }) => seconds),
      );
      if (seconds === 0) return [];
      left.set(one.id, (left.get(one.id) ?? 0) - seconds);
      take(wanted, seconds);
      return [{ package_id: one.id, line: line.id, seconds }];
    });
  });
}

interface Share {
  entry: TimeToBill;
  seconds: number;
}

/** What of each entry is still to be charged. Time whose rate was set to 0 is free: it draws nothing. */
function openShares({ entries, rounding, covered = 0 }: LineToCover): Share[] {
  const seconds = billedShares(entries, rounding);
  const shares = entries.map((entry, index) => ({ entry, seconds: isFree(entry) ? 0 : (seconds[index] ?? 0) }));
  take(shares, covered);
  return shares;
}

function isFree({ rate, rateFrom }: TimeToBill): boolean {
  return rate === 0 && rateFrom !== 'none';
}

function take(shares: readonly Share[], seconds: number): void {
  let wanted = seconds;
  for (const share of shares) {
    const taken = Math.min(share.seconds, wanted);
    share.seconds -= taken;
    wanted -= taken;
  }
}

function covers(one: PackageState, { date, project }: TimeToBill, packages: readonly PackageState[]): boolean {
  if (one.project_id !== null && one.project_id !== project.id) return false;
  if (one.valid_from !== null && date < one.valid_from) return false;
  if (one.valid_until === null || date <= one.valid_until) return true;
  return one.rollover && packages.some((other) => isLater(other, one) && isValid(other, date));
}

function isLater(other: PackageState, { project_id, valid_until }: PackageState): boolean {
  const isSamePlace = other.project_id === project_id;
  return isSamePlace && valid_until !== null && (other.valid_until === null || other.valid_until > valid_until);
}

function isValid({ valid_from, valid_until }: PackageState, date: string): boolean {
  return (valid_from === null || valid_from <= date) && (valid_until === null || date <= valid_until);
}

/** The end first, then those for one project, then the oldest. */
function compare(one: PackageState, other: PackageState): number {
  const ends = [one, other].map(({ valid_until }) => valid_until ?? '9999-12-31') as [string, string];
  if (ends[0] !== ends[1]) return ends[0] < ends[1] ? -1 : 1;
  const byPlace = Number(one.project_id === null) - Number(other.project_id === null);
  return byPlace || (one.id < other.id ? -1 : 1);
}
