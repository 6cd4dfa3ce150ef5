// Locks time before a day that the account sets. It can be billed, but no longer logged, changed or deleted.
import { appError } from '../../errors.ts';
import { readAccount } from '../../models/accounts/account.ts';
import { hasOwn } from '../../models/records.ts';
import type { StoredId } from '../../models/tenant.ts';
import { TimeEntry } from '../../models/time/time-entry.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

type Reading = Pick<UnitOfWork, 'accountId' | 'session'>;

/**
 * Checks days for the lock.
 * @param days `YYYY-MM-DD`, of the time before and after a change.
 * @throws AppError 409 when one is locked.
 */
export async function requireUnlocked({ accountId, session }: Reading, days: readonly string[]): Promise<void> {
  const { time_locked_before: first } = await readAccount(accountId, session);
  if (first && days.some((day) => day < first)) throw lockedBefore(first);
}

/** Checks that a task may be deleted along with its time. @throws AppError 409 when some of it is locked. */
export async function requireUnlockedTask({ accountId, session }: Reading, task_id: StoredId): Promise<void> {
  const { time_locked_before: first } = await readAccount(accountId, session);
  if (first && (await hasOwn(TimeEntry, accountId, { task_id, date: { $lt: first } }, session))) {
    throw lockedBefore(first);
  }
}

function lockedBefore(day: string) {
  return appError('time_locked', { day });
}
