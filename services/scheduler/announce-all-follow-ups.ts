// Announces what accounts may have forgotten, each account once a week.
import { partition } from 'es-toolkit/array/partition';
import { announceFollowUps, type FollowUpLook } from '#libs/billing/follow-ups/announce-follow-ups.ts';
import { agreedDate } from '#libs/clock.ts';
import { Account } from '#libs/models/accounts/account.ts';
import { openTries } from '#libs/models/operations/round-try.ts';
import { collectFailures } from '#libs/models/rounds.ts';
import type { Id, StoredId } from '#libs/models/tenant.ts';
import { byAccount, type Direction, eachAccount, firstAndLast } from './by-account.ts';

/** The accounts that one round looks at. The next round follows at once with the rest. */
const LOOKED_AT = 100;
/** Reports read much and are in no hurry, so most of the database is left to callers. */
const ACCOUNTS_AT_ONCE = 2;

type Due = FollowUpLook & { _id: StoredId; account_id: StoredId };

/**
 * Looks at the accounts whose look is due. Any number of schedulers may do this at once.
 * @param signal ends the round early. The next round of any scheduler finds the rest.
 * @returns the number of events written, and true when more may be due.
 * @throws when an account failed, after all others were looked at.
 */
export async function announceAllFollowUps(
  at: Date = agreedDate(),
  signal?: AbortSignal,
): Promise<{ written: number; hasMore: boolean }> {
  const tries = await openTries('follow-ups', at);
  const failures = collectFailures();
  const due = await firstAndLast(LOOKED_AT, (direction, most) => findDue(at, direction, most));
  let written = 0;
  const look = async (accountId: Id, [account]: readonly Due[]) => {
    if (!account || signal?.aborted) return;
    const tried = await tries.run({ id: account._id, accountId }, async () => {
      if (await announceFollowUps(accountId, account, at)) written += 1;
    });
    if (tried.isDone) return;
    if (tried.error) failures.add(accountId, tried.error);
    // An account that is set aside does not take the place of others in every round.
    if (tried.retryAt) await lookAt(account, tried.retryAt);
  };
  const [suspects, others] = partition(due, ({ _id }) => tries.isSuspect(_id));
  await eachAccount(byAccount(others), look, ACCOUNTS_AT_ONCE);
  // Suspects come last and one after the other, as in the round of recurring invoices.
  await eachAccount(byAccount(suspects), look, 1);
  failures.report((failed) => `the follow-ups of ${failed} accounts could not be announced`);
  return { written, hasMore: others.length >= LOOKED_AT };
}

/** Sets the time of the next look, unless another process has set it. */
async function lookAt({ _id, follow_ups_due_at }: Due, at: Date): Promise<void> {
  const asRead = { _id, follow_ups_due_at: follow_ups_due_at ?? null };
  await Account.updateOne(asRead, { $set: { follow_ups_due_at: at } });
}

async function findDue(at: Date, direction: Direction, most: number): Promise<Due[]> {
  const found = await Account.find({ $or: [{ follow_ups_due_at: null }, { follow_ups_due_at: { $lte: at } }] })
    .sort({ follow_ups_due_at: direction })
    .limit(most)
    .select({ time_zone: 1, follow_ups_due_at: 1 })
    .lean();
  return found.map(({ _id, time_zone, follow_ups_due_at }) => ({
    _id,
    account_id: _id,
    time_zone,
    follow_ups_due_at,
  }));
}
