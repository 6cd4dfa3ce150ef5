// Finds the hours of an invoice that are paid already. It counts in seconds and in the order of the work, and draws on
// the package that ends first.
import { groupedTime, type TimeLine, type TimeToBill } from './time-lines.ts';
import { billedShares, hoursQuantity, type TimeRounding } from './time-rounding.ts';

/** A package of the client in its state before this invoice. */
export interface PackageState {
  id: string;
  /** The project whose time the package covers. Null covers all projects. */
  project_id: string | null;
  /** The time that is left, in seconds. */
  left: number;
  /** The days `YYYY-MM-DD` on which the package is valid. Both belong to it, and null is unbounded. */
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

/** A line of time with the id that its entries name. */
export type LineToCover = TimeLine & { id: number };

interface PaidInAdvance {
  /**
   * Seconds that the fee of the invoice includes. They count before packages, because unused ones expire with the
   * period.
   */
  included: number;
  /** All packages of the client, used-up ones too: a valid package may hold hours that an earlier one left over. */
  packages: readonly PackageState[];
  /**
   * Unbilled time of the client that is not on the invoice. Where it comes first, its hours of the packages are
   * reserved.
   */
  others: readonly TimeToBill[];
}

export interface CoveredHours {
  /** The included seconds by line. */
  included: ReadonlyMap<number, number>;
  /** The drawdowns, in the order of the lines. */
  draws: Draw[];
}

/**
 * Returns the seconds of each line that are paid already.
 * - Hours go to the work in its own order, by day and then by id. So grouping and the order of invoices do not change
 *   the price.
 * - The day of the work decides which packages cover it.
 */
export function coverHours(lines: readonly LineToCover[], { included, packages, others }: PaidInAdvance): CoveredHours {
  const own = lines.flatMap((line) => sharesOf(line.entries, line.rounding, line.id)).filter(isOpen);
  const byFee = takeIncluded(own.toSorted(inOrderOfWork), included);
  // The rounding is that of an invoice with one line per task.
  const ahead = groupedTime(others, 'task')
    .flatMap((group) => sharesOf(group, group[0]?.rounding ?? null))
    .filter(isOpen);
  return { included: byFee, draws: drawsOf([...own, ...ahead].toSorted(inOrderOfWork), packages, lines) };
}

/** Returns the quantity of prepaid hours. A line that they cover as a whole counts with its own, so that it costs nothing. */
export function coveredQuantity({ qty, billed }: LineToCover, seconds: number): string {
  return seconds === billed ? qty : hoursQuantity(seconds);
}

/** The seconds of an entry that are still to be charged. */
export interface Share {
  entry: TimeToBill;
  /** Undefined for time that is not on the invoice. */
  line?: number | undefined;
  seconds: number;
}

/** Returns the seconds of each entry after rounding. */
export function sharesOf(entries: readonly TimeToBill[], rounding: TimeRounding | null, line?: number): Share[] {
  const seconds = billedShares(entries, rounding);
  return entries.map((entry, index) => ({ entry, line, seconds: seconds[index] ?? 0 }));
}

/** False for time with a rate of 0: it is free and uses no hours. */
export function isOpen({ entry: { rate, rateFrom } }: Share): boolean {
  return rate !== 0 || rateFrom === 'none';
}

/** Compares shares by the day of the work and then by the id of the entry. */
export function inOrderOfWork({ entry: one }: Share, { entry: other }: Share): number {
  if (one.date !== other.date) return one.date < other.date ? -1 : 1;
  return one.id < other.id ? -1 : 1;
}

/** Takes the hours that a fee includes off the shares. @returns seconds by line. */
export function takeIncluded(shares: readonly Share[], included: number): Map<number, number> {
  const byLine = new Map<number, number>();
  let left = included;
  for (const share of shares) {
    if (left <= 0) break;
    const taken = Math.min(share.seconds, left);
    share.seconds -= taken;
    left -= taken;
    if (share.line !== undefined && taken > 0) byLine.set(share.line, (byLine.get(share.line) ?? 0) + taken);
  }
  return byLine;
}

function drawsOf(shares: readonly Share[], packages: readonly PackageState[], lines: readonly LineToCover[]): Draw[] {
  const covers = coverageOf(packages);
  const ordered = packages
    .toSorted(inOrderOfUse)
    .map((one) => ({ one, left: one.left, byLine: new Map<number, number>() }));
  let open = ordered.filter(({ left }) => left > 0);
  for (const { entry, line, seconds } of shares) {
    let wanted = seconds;
    for (const state of open) {
      if (wanted === 0) break;
      if (!covers(state.one, entry)) continue;
      const taken = Math.min(state.left, wanted);
      state.left -= taken;
      wanted -= taken;
      if (line !== undefined) state.byLine.set(line, (state.byLine.get(line) ?? 0) + taken);
    }
    if (wanted > 0 || open[0]?.left === 0) open = open.filter(({ left }) => left > 0);
  }
  return lines.flatMap(({ id }) =>
    ordered.flatMap(({ one, byLine }) => {
      const seconds = byLine.get(id) ?? 0;
      return seconds === 0 ? [] : [{ package_id: one.id, line: id, seconds }];
    }),
  );
}

/** Indexes the packages, because a thousand packages and as many entries are a million pairs to compare. */
export function coverageOf(packages: readonly PackageState[]) {
  const places = new Map(
    [...Map.groupBy(packages, ({ project_id }) => project_id)].map(([id, of]) => [
      id,
      { of, latest: new Map<string, string>() },
    ]),
  );

  /** Returns the last end of the packages that are valid on a day, or '' when none is. */
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

/** Dates in this form compare as text. */
const endOf = ({ valid_until }: PackageState) => valid_until ?? '9999-12-31';

/** Orders packages by their end, then those for one project first, then by age. */
export function inOrderOfUse(one: PackageState, other: PackageState): number {
  const ends = [endOf(one), endOf(other)] as const;
  if (ends[0] !== ends[1]) return ends[0] < ends[1] ? -1 : 1;
  const byPlace = Number(one.project_id === null) - Number(other.project_id === null);
  return byPlace || (one.id < other.id ? -1 : 1);
}
