// Reads what an account may have forgotten, each kind within the bounds of forgotten.ts.
import { dayIn } from '../../day.ts';
import { readAccount } from '../../models/accounts/account.ts';
import { LIST_LIMIT_MS } from '../../models/list-total.ts';
import { readOwnAtOnce } from '../../models/own-snapshot.ts';
import type { Id } from '../../models/tenant.ts';
import { FOLLOW_UP_KINDS, type FollowUpKind, followUp } from './follow-ups.ts';
import { type Forgotten, longestFirst } from './forgotten.ts';

/**
 * Returns the account's day, and the kinds of which there is something, in the order of the table. The records of each that
 * wait the longest come first.
 */
export async function readFollowUps(
  accountId: Id,
  { at, kinds = FOLLOW_UP_KINDS }: { at: Date; kinds?: readonly FollowUpKind[] },
): Promise<{ today: string; found: [FollowUpKind, Forgotten][] }> {
  const account = await readAccount(accountId);
  const today = dayIn(account.time_zone, at);
  const found = await readOwnAtOnce(accountId, LIST_LIMIT_MS, async (reader) => {
    const all: [FollowUpKind, Forgotten][] = [];
    for (const kind of kinds) all.push([kind, longestFirst(await followUp(kind).find({ reader, account, today }))]);
    return all;
  });
  return { today, found: found.filter(([, { records }]) => records.length > 0) };
}
