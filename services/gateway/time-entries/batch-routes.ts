// Logs many time entries in one request, such as those of an import: all of them or none, and each `external_id` once.
import { pick } from 'es-toolkit/object/pick';
import { type EntryTime, timeOfNew } from '#libs/billing/time/entry-time.ts';
import { logTimes, type NewTime } from '#libs/billing/time/log-time.ts';
import { timeEntryViews } from '#libs/billing/time/time-context.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { AppError, appError, type Problem, problemOf, validationFailed } from '#libs/errors.ts';
import { type AccountRecord, maxEntryHours, readAccount } from '#libs/models/accounts/account.ts';
import { readWithin } from '#libs/models/read-within.ts';
import { driverOf, findAllOwn, lockOwn } from '#libs/models/records.ts';
import { type StoredId, storedId } from '#libs/models/tenant.ts';
import { Project } from '#libs/models/time/project.ts';
import { Task, type TaskRecord } from '#libs/models/time/task.ts';
import { TimeEntry, type TimeEntryRecord } from '#libs/models/time/time-entry.ts';
import { isDuplicate, staleRead } from '#libs/mongo/errors.ts';
import { timeBatchResponse } from '#libs/responses/time-entry.ts';
import { created, replayed } from '../http/response.ts';
import { type Context, type Route, route } from '../http/route.ts';
import { BATCH_ENTRIES_MAX, type BatchedTimeEntry, type NewTimeBatch, newTimeBatch } from './input.ts';

export const batchRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/api/v1/time-entries/batch',
    operation: 'createTimeEntries',
    scope: 'time-entries:write',
    body: newTimeBatch,
    docs: {
      title: 'Log many time entries',
      summary: 'Log many time entries at once, each external id once',
      description:
        `All of the entries or none, at most ${BATCH_ENTRIES_MAX}, under the rules of a single one. An entry whose \`external_id\` was logged before is returned ` +
        'as it is now, whatever the request says about it; when all were, the status is 200. Every problem names the entry by its place: `time_entries.3.hours`.',
      response: timeBatchResponse,
      missingReference: 'Project not found or access denied',
      conflict: appError('time_locked', { day: '2026-11-01' }),
    },
    handler: logBatch,
  }),
];

async function logBatch({ body, commit }: Context<NewTimeBatch>) {
  const given = body.time_entries;
  return commit(async (unit) => {
    const known = await knownEntries(unit, given);
    const isNew = ({ external_id }: BatchedTimeEntry) => !external_id || !known.has(external_id);
    const places = given.flatMap((entry, place) => (isNew(entry) ? [place] : []));
    const times = await timesToLog(unit, given, places);
    const logged = await logTimes(unit, times).catch(unlessKnown);
    const views = new Map(logged.map(({ view }, index) => [places[index], view]));
    const before = [...known.values()];
    const viewsBefore = await timeEntryViews(before, unit.accountId, unit.session);
    const viewOf = new Map(before.map(({ external_id }, index) => [external_id, viewsBefore[index]]));
    const data = {
      time_entries: given.map(({ external_id }, place) => views.get(place) ?? viewOf.get(external_id ?? undefined)),
      created: logged.length,
    };
    return logged.length > 0 ? created(data) : replayed(data);
  });
}

/** Returns the entries that were logged before, by external id. */
async function knownEntries({ accountId, session }: UnitOfWork, given: readonly BatchedTimeEntry[]) {
  const ids = given.flatMap(({ external_id }) => external_id ?? []);
  const wanted = { account_id: storedId(accountId), external_id: { $in: ids } } as object;
  const found =
    ids.length === 0
      ? []
      : await readWithin<TimeEntryRecord>(driverOf(TimeEntry).find(wanted, { session }), 'time_entries');
  return new Map(found.map((entry) => [entry.external_id as string, entry]));
}

/** Another request logged one of the entries at the same moment: the transaction starts again, and finds it. */
function unlessKnown(error: unknown): never {
  throw isDuplicate(error, TimeEntry.collection.name) ? staleRead('a time entry was logged by another request') : error;
}

/**
 * Returns the entries at these places, checked.
 * @throws AppError with the problems of all entries: 400, 404 when nothing is wrong but projects and tasks, or 409 when
 * nothing is but days that are locked.
 */
async function timesToLog(
  unit: UnitOfWork,
  given: readonly BatchedTimeEntry[],
  places: readonly number[],
): Promise<NewTime[]> {
  const { session, accountId } = unit;
  const wrong: Problem[] = [];
  const missing: Problem[] = [];
  const locked: Problem[] = [];
  const entries = places.map((place) => given[place] as BatchedTimeEntry);
  const account = await readAccount(accountId, session);
  const first = account.time_locked_before ?? '';
  const projects = await lockedProjects(unit, entries);
  const taskIds = entries.flatMap(({ task_id }) => task_id ?? []);
  const tasks = await findAllOwn(Task, accountId, taskIds, ['project_id', 'billable'], session);
  const times: NewTime[] = [];
  for (const place of places) {
    const entry = given[place] as BatchedTimeEntry;
    const at = (problem: Problem): Problem => ({ ...problem, path: ['time_entries', place, ...problem.path] });
    const { time, problems = [] } = await checkedTime(unit, entry, account);
    wrong.push(...problems.map(at));
    if (time && time.date < first) locked.push(at(problemOf('date', 'too_early', { earliest: first })));
    const project = projects.get(entry.project_id);
    const task = entry.task_id ? tasks.get(entry.task_id) : undefined;
    if (!project) missing.push(at(problemOf('project_id', 'not_found', { record: 'Project' })));
    else if (entry.task_id && !isOf(task, project)) {
      missing.push(at(problemOf('task_id', 'not_found', { record: 'Task' })));
    }
    if (!time || !project) continue;
    const fields = pick(entry, ['description', 'hourly_rate', 'billable', 'member']);
    times.push({ ...fields, ...time, external_id: entry.external_id ?? undefined, project: { _id: project }, task });
  }
  if (wrong.length > 0) throw validationFailed([...wrong, ...missing]);
  if (missing.length > 0) throw appError('project_not_found', undefined, { problems: missing });
  if (locked.length > 0) throw appError('time_locked', { day: first }, { problems: locked });
  return times;
}

/** Returns the ids of the account's projects under row locks, by id. */
async function lockedProjects({ accountId, session }: UnitOfWork, entries: readonly BatchedTimeEntry[]) {
  const found = new Map<string, StoredId>();
  // In the order of ids, so that two batches never wait for each other.
  for (const id of [...new Set(entries.map(({ project_id }) => project_id))].toSorted()) {
    const project = await lockOwn(Project, accountId, id, session);
    if (project) found.set(id, project._id);
  }
  return found;
}

function isOf(task: TaskRecord | undefined, project: StoredId): boolean {
  return task?.project_id.equals(project) === true;
}

async function checkedTime(
  unit: UnitOfWork,
  entry: BatchedTimeEntry,
  account: AccountRecord,
): Promise<{ time?: EntryTime; problems?: readonly Problem[] }> {
  try {
    const time = await timeOfNew(unit, entry);
    const limit = maxEntryHours(account);
    // Measured time has its own check of the limit.
    if (time.started_at || time.hours <= limit) return { time };
    return { problems: [problemOf('hours', 'exceeds_max_entry_hours', { limit })] };
  } catch (error) {
    if (error instanceof AppError && error.problems.length > 0) return { problems: error.problems };
    throw error;
  }
}
