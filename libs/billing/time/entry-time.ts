// When the work of a time entry was done, and for how long: hours, date and times are kept of one piece, so that they never contradict.
import { pick } from 'es-toolkit/object/pick';
import { isEqual } from 'es-toolkit/predicate/isEqual';
import { dayIn, isDay, LAST_DAY } from '../../day.ts';
import { detailsOf, fieldProblem, type Problem, validationFailed } from '../../errors.ts';
import { type AccountRecord, maxEntryHours, readAccount } from '../../models/accounts/account.ts';
import { secondsOf, type TimeEntryRecord } from '../../models/time/time-entry.ts';
import type { GivenHours } from '../../rules/time/given-hours.ts';
import { hoursQuantity } from '../../rules/time/time-rounding.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/** The first day that every time zone writes with four digits is far behind any clock that measures time. */
export const EARLIEST = new Date('1970-01-01T00:00:00Z');

export type EntryTime = Pick<
  TimeEntryRecord,
  'hours' | 'hours_decimals' | 'seconds' | 'date' | 'started_at' | 'ended_at'
>;

/** As a caller sends it. Null is as absent for hours and date, and takes the times back. */
export interface GivenTime {
  hours?: GivenHours | null | undefined;
  date?: string | null | undefined;
  started_at?: Date | null | undefined;
  ended_at?: Date | null | undefined;
}

const SECONDS_PER_HOUR = 3600;

interface Times {
  started_at: Date;
  ended_at: Date;
}

/** Hours to the nearest second, at least one; the day is that of the start, in the account's time zone. */
export function measuredTime({ started_at, ended_at }: Times, timeZone: string): EntryTime {
  const seconds = secondsBetween(started_at, ended_at);
  const hours = Number(hoursQuantity(seconds));
  return { hours, hours_decimals: undefined, seconds, date: dayIn(timeZone, started_at), started_at, ended_at };
}

/** To the nearest second, and at least one: an entry has hours. */
export function secondsBetween(from: Date, to: Date): number {
  return Math.max(1, Math.round((to.getTime() - from.getTime()) / 1000));
}

type Reading = Pick<UnitOfWork, 'accountId' | 'session'>;

/** As timeOf, of a new entry. */
export async function timeOfNew(unit: Reading, given: GivenTime): Promise<EntryTime> {
  const { hours, seconds, date, ...rest } = await timeOf(unit, given);
  if (hours === undefined || seconds === undefined || date === undefined) throw new Error('a new entry has hours');
  return { hours, seconds, date, ...rest };
}

/**
 * What a change makes of the time of an entry. With times, hours and date follow from them, and may be given when they say the same.
 * @param before the entry that is changed; undefined of a new one.
 * @throws AppError 400 for what contradicts itself, hours or date of measured time without its times, and more time than an entry may have.
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

/** Those given, or else those of the entry; undefined when it will have none. */
function timesOf(given: GivenTime, before: TimeEntryRecord | undefined): Times | undefined {
  const [started_at, ended_at] = (['started_at', 'ended_at'] as const).map((name) =>
    given[name] === undefined ? before?.[name] : (given[name] ?? undefined),
  );
  if (started_at && ended_at) return { started_at, ended_at };
  if (!started_at && !ended_at) return undefined;
  const [missing, other] = started_at ? ['ended_at', 'started_at'] : ['started_at', 'ended_at'];
  const instead = before ? `, or null for both: ${TAKEN_BACK}` : '';
  throw fieldProblem(missing ?? '', `${missing} is required with ${other}${instead}`);
}

const TAKEN_BACK = 'then the entry has hours alone';

function untimed({ hours, date }: GivenTime, before: TimeEntryRecord | undefined): Partial<EntryTime> {
  const missing = Object.entries({ hours, date }).filter(([, value]) => value === null || !(before || value));
  requireNone(missing.map(([name]) => ({ path: [name], message: `${name} is required without started_at` })));
  return {
    ...(hours && !isReadBack(hours, before) ? hoursOf(hours) : {}),
    ...(date ? { date } : {}),
    ...(before?.started_at ? { started_at: undefined, ended_at: undefined } : {}),
  };
}

function hoursOf({ hours, decimals }: GivenHours): Pick<EntryTime, 'hours' | 'hours_decimals' | 'seconds'> {
  return { hours, hours_decimals: decimals, seconds: secondsOf(hours) };
}

/** Responses write exact hours with decimals: sent back as they were read they stay exact. */
function isReadBack({ hours, decimals }: GivenHours, before: TimeEntryRecord | undefined): boolean {
  return hours === before?.hours && decimals !== undefined;
}

function requireTimes({ started_at, ended_at }: Times, account: AccountRecord): void {
  if (started_at < EARLIEST) throw fieldProblem('started_at', 'started_at must not be before 1970');
  if (!isDay(dayIn(account.time_zone, started_at))) {
    throw fieldProblem('started_at', `started_at must not be after ${LAST_DAY}`);
  }
  if (ended_at <= started_at) throw fieldProblem('ended_at', 'ended_at must be after started_at');
  const most = maxEntryHours(account);
  if (secondsBetween(started_at, ended_at) > most * SECONDS_PER_HOUR) {
    throw fieldProblem('ended_at', `ended_at must be at most ${most} hours after started_at, the max_entry_hours`);
  }
}

/** @throws AppError 400 for hours or a date that the times do not have. */
function requireSame(given: GivenTime, { hours, seconds, date }: Pick<EntryTime, 'hours' | 'seconds' | 'date'>): void {
  const isAlone = given.started_at === undefined && given.ended_at === undefined;
  const problem = (name: string, right: string) => {
    const alone = `${name} of measured time follows from its times: send started_at and ended_at, or null for both: ${TAKEN_BACK}`;
    return [{ path: [name], message: isAlone ? alone : `${name} must be ${right}, or left out` }];
  };
  requireNone([
    ...(given.hours && secondsOf(given.hours.hours) !== seconds
      ? problem('hours', `${hours}, the time from started_at to ended_at`)
      : []),
    ...(given.date && given.date !== date
      ? problem('date', `${date}, the day of started_at in the time zone of the account`)
      : []),
  ]);
}

function requireNone(problems: readonly Problem[]): void {
  if (problems.length > 0) throw validationFailed(detailsOf(problems));
}
