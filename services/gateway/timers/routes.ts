// Timers over HTTP: one runs per owner, and becomes a time entry when it stops.
import { changeTimer, discardTimer, startTimer, stopTimer } from '#libs/billing/time/run-timer.ts';
import { timerViewOf, timerViews } from '#libs/billing/time/timer-views.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { appError } from '#libs/errors.ts';
import { findOwn } from '#libs/models/records.ts';
import { Timer, type TimerRecord } from '#libs/models/time/timer.ts';
import { timeEntryResponse } from '#libs/responses/time-entry.ts';
import { timerResponse } from '#libs/responses/timer.ts';
import { type DryRun, dryRun } from '../http/dry-run.ts';
import type { ListQuery } from '../http/list.ts';
import { created, deleted, type JsonResponse, updated } from '../http/response.ts';
import { type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import {
  newTimer,
  type TimerBody,
  type TimerChangesBody,
  type TimerStop,
  timerChanges,
  timerList,
  timerStop,
} from './input.ts';

const path = '/api/v1/timers';
const missing = 'Timer not found or access denied';

export const timerRoutes: readonly Route[] = [
  route({
    method: 'post',
    path,
    operation: 'startTimer',
    scope: 'timers:write',
    query: dryRun,
    body: newTimer,
    docs: {
      title: 'Start a timer',
      summary: 'Start a timer on a project, optionally on a task',
      description:
        'A timer of the same owner that runs already becomes a time entry in the same step, unless `on_running` is `refuse`; it ends when this one starts. ' +
        'The same start again, with project, task and description of the one that runs, is 200 with that one. ' +
        'One that has run for more hours than an entry may have (`max_entry_hours`, 24) is never stopped by guessing: 409.',
      response: timerResponse,
      missingReference: 'Project not found or access denied',
      conflict: appError('timer_already_running'),
    },
    handler: postTimer,
  }),
  route({
    method: 'get',
    path,
    operation: 'listTimers',
    scope: 'timers:read',
    query: timerList.query,
    docs: {
      title: 'List timers',
      summary: 'List timers, newest first',
      description: 'With `status=running` those that run, whenever they were started.',
      response: timerResponse,
    },
    handler: listTimers,
  }),
  singleRead({
    path: `${path}/{id}`,
    operation: 'getTimer',
    scope: 'timers:read',
    missing: 'Timer not found',
    docs: {
      summary: 'Get a timer',
      response: timerResponse,
    },
    read: readTimer,
  }),
  route({
    method: 'patch',
    path: `${path}/{id}`,
    operation: 'updateTimer',
    scope: 'timers:write',
    body: timerChanges,
    missing,
    docs: {
      title: 'Update a timer',
      summary: 'Update a running timer, or correct when it started',
      response: timerResponse,
      missingReference: 'Project not found or access denied',
      conflict: appError('timer_not_running'),
    },
    handler: updateTimer,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/stop`,
    operation: 'stopTimer',
    scope: 'timers:write',
    query: dryRun,
    body: timerStop,
    missing,
    docs: {
      title: 'Stop a timer',
      summary: 'Stop a timer: it becomes a time entry of the day on which it started',
      description:
        "The day is the account's. The entry has whole seconds, at least one, and takes rate and `billable` from its task. " +
        'After more hours than an entry may have (`max_entry_hours`, 24), `ended_at` is required.',
      response: timeEntryResponse,
      conflict: appError('timer_too_long', { hours: 63 }),
    },
    handler: postStop,
  }),
  route({
    method: 'delete',
    path: `${path}/{id}`,
    operation: 'discardTimer',
    scope: 'timers:write',
    missing,
    docs: {
      title: 'Discard a timer',
      summary: 'Discard a running timer; its time is not counted',
      description: 'A stopped timer goes with its time entry.',
      message: 'Timer discarded',
      conflict: appError('timer_not_running'),
    },
    handler: deleteTimer,
  }),
];

async function postTimer({ caller, body, commit }: Context<TimerBody, DryRun>) {
  const owner = body.owner ?? caller.firstKeyId;
  return commit(async (unit) => {
    const { view, isNew } = await startTimer(unit, { ...body, owner });
    return isNew ? created(view) : updated(view);
  });
}

async function listTimers({ caller, query }: Context<unknown, ListQuery>) {
  return timerList.respond({ caller, query }, (records) => timerViews(records, caller.accountId));
}

async function readTimer({ caller, id, session }: Reading) {
  const timer = await findOwn(Timer, caller.accountId, id, session);
  return timer && timerViewOf(timer, caller.accountId, session);
}

async function updateTimer(context: Context<TimerChangesBody>) {
  return withTimer(context, async (unit, timer) => updated(await changeTimer(unit, timer, context.body)));
}

async function postStop(context: Context<TimerStop, DryRun>) {
  return withTimer(context, async (unit, timer) => created(await stopTimer(unit, timer, context.body.ended_at)));
}

async function deleteTimer(context: Context) {
  return withTimer(context, async (unit, timer) => {
    await discardTimer(unit, timer);
    return deleted('Timer discarded');
  });
}

/** Runs an operation on the timer of the path. */
function withTimer(
  { commit, requireRecord }: Context,
  work: (unit: UnitOfWork, timer: TimerRecord) => Promise<JsonResponse>,
): Promise<JsonResponse> {
  return commit(async (unit) => {
    const timer = await requireRecord(Timer, unit.session);
    return work(unit, timer);
  });
}
