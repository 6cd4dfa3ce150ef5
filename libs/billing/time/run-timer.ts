// Starts, stops and discards timers. An owner has at most one that runs. A stopped one becomes a time entry, once.
import { isEqual } from 'es-toolkit/predicate/isEqual';
import { agreedDate } from '../../clock.ts';
import { dayIn } from '../../day.ts';
import { appError, fieldProblem } from '../../errors.ts';
import { type AccountRecord, maxEntryHours, readAccount } from '../../models/accounts/account.ts';
import { changeOwn, driverOf, insertOwn, isUnchanged, lockOwn, removeOwn } from '../../models/records.ts';
import { type Id, newRecord, storedId } from '../../models/tenant.ts';
import { Project } from '../../models/time/project.ts';
import { ownerKey, Timer, type TimerRecord } from '../../models/time/timer.ts';
import { SECONDS_PER_HOUR } from '../../rules/time/time-rounding.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { EARLIEST, measuredTime, secondsBetween } from './entry-time.ts';
import { logTime } from './log-time.ts';
import { taskOfProject } from './task-of-project.ts';
import { requireUnlocked } from './time-lock.ts';
import { changedPlace, placeOf } from './timer-place.ts';
import { timerViewOf } from './timer-views.ts';

const HOUR_MS = 3_600_000;

export interface NewTimer {
  project_id: Id;
  task_id?: Id | null | undefined;
  description?: string | null | undefined;
  member?: string | null | undefined;
  owner: string;
  /** The start. Defaults to now. */
  started_at?: Date | undefined;
  /** The action on a timer of the owner that runs already. */
  on_running: 'stop' | 'refuse';
}

export interface TimerChanges {
  project_id?: Id | undefined;
  task_id?: Id | null | undefined;
  description?: string | null | undefined;
  member?: string | null | undefined;
  /** Null means the time at which the timer was made. */
  started_at?: Date | null | undefined;
}

/**
 * Starts a timer. A running timer of the owner ends where this one starts, so that no minute is counted twice. An equal
 * one goes on, so a repeated start changes nothing.
 * @throws AppError
 * - 404 for project or task,
 * - 400, also when it would not start after the running one,
 * - 409 when the running one must not be stopped, or has run for too long to guess its end.
 */
export async function startTimer(unit: UnitOfWork, wanted: NewTimer) {
  const { session, accountId } = unit;
  const now = agreedDate();
  const started_at = wanted.started_at ?? now;
  requirePast('started_at', started_at, now);
  const place = await placeOf(unit, wanted.project_id, wanted.task_id);
  const running = await runningOf(unit, wanted.owner);
  const description = wanted.description || null;
  const member = wanted.member ?? null;
  const isSameStart = !wanted.started_at || isEqual(wanted.started_at, running?.started_at);
  const isSame = running && isSameStart && isUnchanged(running, { ...place, description, member });
  // After this many hours it is no repetition, but another start.
  if (isSame && !isTooLong(running, now, await readAccount(accountId, session))) {
    return { view: await timerViewOf(running, accountId, session), isNew: false };
  }
  if (running && wanted.on_running === 'refuse') throw appError('timer_already_running');
  if (running && wanted.started_at && wanted.started_at <= running.started_at) {
    throw fieldProblem('started_at', 'before_running_timer');
  }
  await requireUnlockedStart(unit, started_at);
  if (running) await stopBefore(unit, running, started_at);
  const timer: TimerRecord = {
    ...newRecord(accountId),
    // This is the clock that measures. The stop reads it as well.
    created_at: now,
    ...place,
    owner: wanted.owner,
    owner_key: ownerKey(wanted.owner),
    description,
    member,
    status: 'running',
    started_at,
  };
  await insertOwn(Timer, timer, session);
  const view = await timerViewOf(timer, accountId, session);
  await unit.announce('timer.started', view);
  return { view, isNew: true };
}

/**
 * Stops a timer.
 * @returns the entry that it became, in the form of the API.
 * @throws AppError 409 unless it runs, and when it has run for too long to guess its end; 400.
 */
export async function stopTimer(unit: UnitOfWork, timer: TimerRecord, ended_at?: Date) {
  requireRunning(timer);
  const now = agreedDate();
  if (ended_at) requirePast('ended_at', ended_at, now);
  if (ended_at && ended_at <= timer.started_at) {
    throw fieldProblem('ended_at', 'before_timer');
  }
  const account = await readAccount(unit.accountId, unit.session);
  const end = ended_at ?? now;
  if (isTooLong(timer, end, account)) {
    if (!ended_at) throw appError('timer_too_long', { hours: hoursRun(timer, now) });
    const most = maxEntryHours(account);
    throw fieldProblem('ended_at', 'time_too_long', { limit: most });
  }
  return become(unit, timer, end, account);
}

/** Changes a running timer. @returns it. @throws AppError 409 unless it runs, 404, 400. */
export async function changeTimer(unit: UnitOfWork, timer: TimerRecord, wanted: TimerChanges) {
  const { session, accountId } = unit;
  requireRunning(timer);
  const now = agreedDate();
  const changes: Partial<TimerRecord> = {};
  if (wanted.description !== undefined) changes.description = wanted.description || null;
  if (wanted.member !== undefined) changes.member = wanted.member;
  if (wanted.started_at !== undefined) changes.started_at = wanted.started_at ?? timer.created_at;
  if (changes.started_at) {
    requirePast('started_at', changes.started_at, now);
    await requireUnlockedStart(unit, changes.started_at);
  }
  Object.assign(changes, await changedPlace(unit, timer, wanted));
  if (isUnchanged(timer, changes)) return timerViewOf(timer, accountId, session);
  const view = await timerViewOf(await changeOwn(Timer, timer, changes, session), accountId, session);
  await unit.announce('timer.updated', view);
  return view;
}

/** Removes a running timer. Its time is counted nowhere. @throws AppError 409 unless it runs. */
export async function discardTimer(unit: UnitOfWork, timer: TimerRecord): Promise<void> {
  requireRunning(timer);
  const view = await timerViewOf(timer, unit.accountId, unit.session);
  await removeOwn(Timer, timer, unit.session);
  await unit.announce('timer.discarded', view);
}

/** Stops the old timer of an owner who starts another one. @param end the start of the new one. */
async function stopBefore(unit: UnitOfWork, running: TimerRecord, end: Date): Promise<void> {
  const account = await readAccount(unit.accountId, unit.session);
  if (isTooLong(running, end, account)) {
    throw appError('running_timer_too_long', { hours: hoursRun(running, end) });
  }
  await become(unit, running, end, account);
}

/** Makes an entry of a timer, on the day on which it started in the account's time zone. */
async function become(unit: UnitOfWork, timer: TimerRecord, ended_at: Date, account: AccountRecord) {
  const { session, accountId } = unit;
  const { started_at, description, member = null } = timer;
  const project = await lockOwn(Project, accountId, timer.project_id, session);
  if (!project) throw appError('project_not_found');
  const task = await taskOfProject(project._id, timer.task_id, accountId, session);
  const time = measuredTime({ started_at, ended_at }, account.time_zone);
  const { entry, view } = await logTime(unit, { project, task, description, member, ...time });
  const stopped: Partial<TimerRecord> = { status: 'stopped', ended_at, time_entry_id: entry._id };
  const changed = await changeOwn(Timer, timer, stopped, session);
  await unit.announce('timer.stopped', await timerViewOf(changed, accountId, session));
  return view;
}

function isTooLong({ started_at }: TimerRecord, end: Date, account: AccountRecord): boolean {
  return secondsBetween(started_at, end) > maxEntryHours(account) * SECONDS_PER_HOUR;
}

function hoursRun({ started_at }: TimerRecord, now: Date): number {
  return Math.floor((now.getTime() - started_at.getTime()) / HOUR_MS);
}

/**
 * Checks the day on which the timer started, which its entry will have.
 * @throws AppError 409 when that day is locked.
 */
async function requireUnlockedStart(unit: UnitOfWork, started_at: Date): Promise<void> {
  const { time_zone } = await readAccount(unit.accountId, unit.session);
  await requireUnlocked(unit, [dayIn(time_zone, started_at)]);
}

function requireRunning({ status }: TimerRecord): void {
  if (status !== 'running') throw appError('timer_not_running');
}

function requirePast(field: string, moment: Date, now: Date): void {
  if (moment > now) throw fieldProblem(field, 'in_future');
  if (moment < EARLIEST) throw fieldProblem(field, 'too_early', { earliest: 1970 });
}

async function runningOf({ session, accountId }: UnitOfWork, owner: string): Promise<TimerRecord | null> {
  const filter = { account_id: storedId(accountId), owner_key: ownerKey(owner), status: 'running' } as object;
  return (await driverOf(Timer).findOne(filter, { session })) as TimerRecord | null;
}
