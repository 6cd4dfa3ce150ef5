// The form in which timers are read, listed and announced, and the removal of timers with their deleted time.
import { driverOf, readAll } from '../../models/records.ts';
import { removeBatch } from '../../models/remove-records.ts';
import { type Id, type StoredId, storedId } from '../../models/tenant.ts';
import { projectsOf } from '../../models/time/project.ts';
import { tasksOf } from '../../models/time/task.ts';
import type { TimeEntryRecord } from '../../models/time/time-entry.ts';
import { Timer, type TimerRecord, timerView } from '../../models/time/timer.ts';
import type { Session } from '../../mongo/connection.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

export async function timerViews(timers: readonly TimerRecord[], accountId: Id, session?: Session) {
  const ids = (name: 'project_id' | 'task_id') => timers.map((timer): StoredId | null => timer[name]);
  const [projects, tasks] = await readAll(session, [
    () => projectsOf(accountId, ids('project_id'), session),
    () => tasksOf(accountId, ids('task_id'), session),
  ] as const);
  return timers.map((timer) =>
    timerView(timer, projects.get(String(timer.project_id)), tasks.get(String(timer.task_id))),
  );
}

export async function timerViewOf(timer: TimerRecord, accountId: Id, session?: Session) {
  const [view] = await timerViews([timer], accountId, session);
  if (!view) throw new Error('one timer has one view');
  return view;
}

/**
 * Removes the stopped timers that became these entries, also where the entry has lost its times.
 * @param entries that are deleted in the same transaction.
 */
export async function removeTimersOf(
  entries: readonly Pick<TimeEntryRecord, '_id'>[],
  { session, accountId, announceAll }: UnitOfWork,
): Promise<void> {
  if (entries.length === 0) return;
  const time_entry_id = { $in: entries.map(({ _id }) => _id) };
  // The query walks the index of stopped timers by their entries.
  const filter = { account_id: storedId(accountId), time_entry_id, status: 'stopped' } as object;
  const timers = (await driverOf(Timer)
    .find(filter, { session, batchSize: entries.length + 1 })
    .toArray()) as unknown as TimerRecord[];
  if (timers.length === 0) return;
  await removeBatch(Timer, accountId, timers, session);
  await announceAll('timer.discarded', await timerViews(timers, accountId, session));
}
