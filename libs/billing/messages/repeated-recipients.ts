// The recipients of a message from which some were taken off, and of one that repeats another.
import type { Recipient } from '../../models/messages/message.ts';
import { withoutSuppressed } from '../../models/messages/suppression.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import type { Named } from './archive-copies.ts';

/** Returns the recipients that the account still mails, with one in the header `To`, unless all of them are blind copies. */
export async function repeatedRecipients(
  { session, accountId }: Pick<UnitOfWork, 'session' | 'accountId'>,
  recipients: readonly Recipient[],
): Promise<Named[]> {
  const mailed = await withoutSuppressed(accountId, recipients, session);
  return withHead(mailed.map(({ address, role, archive }) => ({ address, role, ...(archive ? { archive } : {}) })));
}

/** Puts the copies in the header `To` when no one else is there. */
export function withHead<One extends Pick<Recipient, 'role'>>(recipients: readonly One[]): One[] {
  const isHeaded = recipients.some(({ role }) => role === 'to');
  return recipients.map((one) => (one.role === 'cc' && !isHeaded ? { ...one, role: 'to' } : one));
}
