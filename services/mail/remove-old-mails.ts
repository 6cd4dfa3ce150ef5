// Removes the mails that were kept for long enough. Their messages stay.
import { groupBy } from 'es-toolkit/array/groupBy';
import { agreedDate } from '#libs/clock.ts';
import { findExpiredMailSources, removeMailSources } from '#libs/models/messages/mail-source.ts';
import { collectFailures } from '#libs/models/rounds.ts';
import { wireId } from '#libs/models/tenant.ts';

/** The mails of one round. */
const ROUND_MAX = 200;

/**
 * Removes the oldest mails of all accounts. Any number of mail services may do this at once.
 * @returns true when there may be more.
 */
export async function removeOldMails(now: Date = agreedDate()): Promise<boolean> {
  const expired = await findExpiredMailSources(now, ROUND_MAX);
  const failures = collectFailures();
  for (const [accountId, own] of Object.entries(groupBy(expired, ({ account_id }) => wireId(account_id)))) {
    const ids = own.map(({ _id }) => _id);
    await removeMailSources(accountId, ids).catch((error: unknown) => failures.add(accountId, error));
  }
  failures.report((count) => `the old mails of ${count} accounts could not be removed`);
  return expired.length === ROUND_MAX;
}
