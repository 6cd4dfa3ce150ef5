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
  const covers = coverageOf(packages);
  const left = new Map(ordered.map(({ id, left }) => [id, left]));
  return lines.flatMap((line) => {
    let open = openShares(line);
    return ordered.flatMap((one) => {
      const most = left.get(one.id) ?? 0;
      if (most === 0) return [];
      open = open.filter(({ seconds }) => seconds > 0);
      const wanted = open.filter(({ entry }) => covers(one, entry));
      const seconds = Math.min(
        most,
        sumBy(wanted, ({ seconds }) => seconds),
      );
      if (seconds === 0) return [];
      left.set(one.id, most - seconds);
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

/** Whether a package covers an entry. A thousand packages and as many entries are a million questions. */
function coverageOf(packages: readonly PackageState[]) {
  const places = new Map(
    [...Map.groupBy(packages, ({ project_id }) => project_id)].map(([id, of]) => [
      id,
      { of, latest: new Map<string, string>() },
    ]),
  );

  /** When the last of the packages that are valid on a day ends; empty when none is. */
  function latestEnd(project_id: string | null, date: string): string {
    const place = places.get(project_id);
    const known = place?.latest.get(date);
    if (!place || known !== undefined) return known ?? '';
    const valid = place.of.filter((one) => isValid(one, date));
    const end = valid.map(endOf).toSorted().at(-1) ?? '';
    place.latest.set(date, end);
    return end;
  }

  return (one: PackageState, { date, project }: TimeToBill): boolean => {
    if (one.project_id !== null && one.project_id !== project.id) return false;
    if (one.valid_from !== null && date < one.valid_from) return false;
    if (date <= endOf(one)) return true;
    return one.rollover && latestEnd(one.project_id, date) > endOf(one);
  };
}

function isValid({ valid_from, valid_until }: PackageState, date: string): boolean {
  return (valid_from === null || valid_from <= date) && (valid_until === null || date <= valid_until);
}

/** Dates compare as text. */
const endOf = ({ valid_until }: PackageState) => valid_until ?? '9999-12-31';

/** The end first, then those for one project, then the oldest. */
function compare(one: PackageState, other: PackageState): number {
  const ends = [endOf(one), endOf(other)] as const;
  if (ends[0] !== ends[1]) return ends[0] < ends[1] ? -1 : 1;
  const byPlace = Number(one.project_id === null) - Number(other.project_id === null);
  return byPlace || (one.id < other.id ? -1 : 1);
}
