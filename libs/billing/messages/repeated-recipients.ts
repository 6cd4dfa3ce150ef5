// The recipients of a message that repeats another one.
import type { Recipient } from '../../models/messages/message.ts';
import { suppressedOf } from '../../models/messages/suppression.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/** Returns the recipients that the account still mails, with one in the header `To`, unless all of them are blind copies. */
export async function repeatedRecipients(
  { session, accountId }: Pick<UnitOfWork, 'session' | 'accountId'>,
  recipients: readonly Recipient[],
): Promise<Pick<Recipient, 'address' | 'role'>[]> {
  const addresses = recipients.map(({ address }) => address);
  const suppressed = await suppressedOf(accountId, addresses, session);
  const mailed = recipients.filter(({ address }) => !suppressed.has(address));
  const isHeaded = mailed.some(({ role }) => role === 'to');
  return mailed.map(({ address, role }) => ({ address, role: role === 'cc' && !isHeaded ? 'to' : role }));
}
