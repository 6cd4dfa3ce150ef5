// The time of an entry: hours, date and times. They are kept consistent, so that they never contradict each other.
import { pick } from 'es-toolkit/object/pick';
import { isEqual } from 'es-toolkit/predicate/isEqual';
import { dayIn, isDay, LAST_DAY } from '../../day.ts';
import { fieldProblem, type Problem, problemOf, validationFailed } from '../../errors.ts';
import { type AccountRecord, maxEntryHours, readAccount } from '../../models/accounts/account.ts';
import { secondsOf, type TimeEntryRecord } from '../../models/time/time-entry.ts';
import type { GivenHours } from '../../rules/time/given-hours.ts';
import { hoursQuantity, SECONDS_PER_HOUR } from '../../rules/time/time-rounding.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/**
 * The earliest time of an entry. Every time zone writes it with four digits, and it is far behind any clock that
 * measures time.
 */
export const EARLIEST = new Date('1970-01-01T00:00:00Z');

export type EntryTime = Pick<
  TimeEntryRecord,
  'hours' | 'hours_decimals' | 'seconds' | 'date' | 'started_at' | 'ended_at'
>;

/** The time that a caller sends. Null counts as absent for hours and date, and removes the times. */
export interface GivenTime {
  hours?: GivenHours | null | undefined;
  date?: string | null | undefined;
  started_at?: Date | null | undefined;
  ended_at?: Date | null | undefined;
}

interface Times {
  started_at: Date;
  ended_at: Date;
}

/**
 * Returns the time of two instants: hours to the nearest second, at least one. The day is that of the start in the
 * account's time zone.
 */
export function measuredTime({ started_at, ended_at }: Times, timeZone: string): EntryTime {
  const seconds = secondsBetween(started_at, ended_at);
  const hours = Number(hoursQuantity(seconds));
  return { hours, hours_decimals: undefined, seconds, date: dayIn(timeZone, started_at), started_at, ended_at };
}

/** Returns the distance to the nearest second, and at least one, because an entry has hours. */
export function secondsBetween(from: Date, to: Date): number {
  return Math.max(1, Math.round((to.getTime() - from.getTime()) / 1000));
}

type Reading = Pick<UnitOfWork, 'accountId' | 'session'>;

/** Returns the time of a new entry, as timeOf does. */
export async function timeOfNew(unit: Reading, given: GivenTime): Promise<EntryTime> {
  const { hours, seconds, date, ...rest } = await timeOf(unit, given);
  if (hours === undefined || seconds === undefined || date === undefined) throw new Error('a new entry has hours');
  return { hours, seconds, date, ...rest };
}

/**
 * Returns the time of an entry after a change. If it has times, hours and date follow from them, and may only be given
 * when they agree.
 * @param before the entry before the change. Undefined for a new one.
 * @throws AppError 400 for
 * - fields that contradict each other,
 * - hours or date of measured time without its times,
 * - more time than an entry may have.
 */
export async function timeOf(unit: Reading, given: GivenTime, before?: TimeEntryRecord): Promise<Partial<EntryTime>> {
  const times = timesOf(given, before);
  if (!times) return untimed(given, before);
  if (before && isEqual(times, pick(before, ['started_at', 'ended_at']))) {
    requireSame(given, before);
    return {};
  }
  const account = await readAccount(unit.accountId, unit.session);
  requireTimes(times, account);
  const measured = measuredTime(times, account.time_zone);
  requireSame(given, measured);
  return measured;
}

/** Returns the given times, else those of the entry. Undefined when it will have none. */
function timesOf(given: GivenTime, before: TimeEntryRecord | undefined): Times | undefined {
  const [started_at, ended_at] = (['started_at', 'ended_at'] as const).map((name) =>
    given[name] === undefined ? before?.[name] : (given[name] ?? undefined),
  );
  if (started_at && ended_at) return { started_at, ended_at };
  if (!started_at && !ended_at) return undefined;
  const [absent, other] = started_at ? (['ended_at', 'started_at'] as const) : (['started_at', 'ended_at'] as const);
  throw fieldProblem(absent, before ? 'required_with_or_both_null' : 'required_with', { other });
}

function untimed({ hours, date }: GivenTime, before: TimeEntryRecord | undefined): Partial<EntryTime> {
  const absent = Object.entries({ hours, date }).filter(([, value]) => value === null || !(before || value));
  requireNone(absent.map(([name]) => problemOf(name, 'required_without', { other: 'started_at' })));
  return {
    ...(hours && !isReadBack(hours, before) ? hoursOf(hours) : {}),
    ...(date ? { date } : {}),
    ...(before?.started_at ? { started_at: undefined, ended_at: undefined } : {}),
  };
}

function hoursOf({ hours, decimals }: GivenHours): Pick<EntryTime, 'hours' | 'hours_decimals' | 'seconds'> {
  return { hours, hours_decimals: decimals, seconds: secondsOf(hours) };
}

/**
 * True for hours that a caller sends back as it read them. Responses write exact hours with decimals, and they stay
 * exact.
 */
function isReadBack({ hours, decimals }: GivenHours, before: TimeEntryRecord | undefined): boolean {
  return hours === before?.hours && decimals !== undefined;
}

function requireTimes({ started_at, ended_at }: Times, account: AccountRecord): void {
  if (started_at < EARLIEST) throw fieldProblem('started_at', 'too_early', { earliest: 1970 });
  if (!isDay(dayIn(account.time_zone, started_at))) {
    throw fieldProblem('started_at', 'too_late', { latest: LAST_DAY });
  }
  if (ended_at <= started_at) throw fieldProblem('ended_at', 'not_after', { other: 'started_at' });
  const most = maxEntryHours(account);
  if (secondsBetween(started_at, ended_at) > most * SECONDS_PER_HOUR) {
    throw fieldProblem('ended_at', 'time_too_long', { limit: most });
  }
}

/** Checks hours and date. @throws AppError 400 when they disagree with the times. */
function requireSame(given: GivenTime, { hours, seconds, date }: Pick<EntryTime, 'hours' | 'seconds' | 'date'>): void {
  const isAlone = given.started_at === undefined && given.ended_at === undefined;
  const problem = (name: 'hours' | 'date', differs: Problem) => [
    isAlone ? problemOf(name, 'follows_from_times') : differs,
  ];
  requireNone([
    ...(given.hours && secondsOf(given.hours.hours) !== seconds
      ? problem('hours', problemOf('hours', 'hours_differ', { hours }))
      : []),
    ...(given.date && given.date !== date ? problem('date', problemOf('date', 'date_differs', { date })) : []),
  ]);
}

function requireNone(problems: readonly Problem[]): void {
  if (problems.length > 0) throw validationFailed(problems);
}
