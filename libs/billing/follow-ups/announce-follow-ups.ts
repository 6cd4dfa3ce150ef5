// Announces once a week what an account may have forgotten. The account has the time of the next look, and the transaction
// that moves it on writes the event.
import { addDays, dayIn, startOfDay } from '../../day.ts';
import { Account } from '../../models/accounts/account.ts';
import { type Id, storedId } from '../../models/tenant.ts';
import { runUnitOfWork } from '../unit-of-work.ts';
import { forgottenView } from './forgotten.ts';
import { readFollowUps } from './read-follow-ups.ts';

/** An account whose look is due. */
export interface FollowUpLook {
  /** Absent on an account that was never looked at. Its first look is next Monday. */
  follow_ups_due_at?: Date | null | undefined;
  time_zone: string;
}

/**
 * Looks at the account, and sets its mark to the beginning of next Monday.
 * @returns true when there was something to announce, and no other process had announced it.
 */
export async function announceFollowUps(
  accountId: Id,
  { follow_ups_due_at: dueAt, time_zone }: FollowUpLook,
  at: Date,
): Promise<boolean> {
  // The account may have moved to a zone in which it is still Sunday.
  const isEarly = dueAt && daysSinceMonday(dayIn(time_zone, at)) === SUNDAY && at.getTime() < dueAt.getTime() + DAY_MS;
  const { today, found } = dueAt && !isEarly ? await readFollowUps(accountId, { at }) : { today: '', found: [] };
  const { result } = await runUnitOfWork({ accountId, by: { type: 'schedule' } }, async ({ session, announce }) => {
    const { modifiedCount } = await Account.updateOne(
      { _id: storedId(accountId), follow_ups_due_at: dueAt ?? null },
      { $set: { follow_ups_due_at: nextMonday(time_zone, at) } },
      { session },
    );
    if (modifiedCount === 0 || found.length === 0) return false;
    const follow_ups = found.map(([kind, forgotten]) => ({ kind, ...forgottenView(forgotten) }));
    await announce('report.follow_ups', { as_of: today, follow_ups });
    return true;
  });
  return result;
}

const DAYS_OF_WEEK = 7;
const SUNDAY = 6;
const DAY_MS = 24 * 3_600_000;

/** Returns the beginning of the next Monday after the day of `at`. */
export function nextMonday(timeZone: string, at: Date): Date {
  const day = dayIn(timeZone, at);
  return startOfDay(timeZone, addDays(day, DAYS_OF_WEEK - daysSinceMonday(day)));
}

function daysSinceMonday(day: string): number {
  return (new Date(`${day}T00:00:00Z`).getUTCDay() + DAYS_OF_WEEK - 1) % DAYS_OF_WEEK;
}
