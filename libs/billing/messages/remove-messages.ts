// Removes the messages about a document along with the document.
import { appError } from '../../errors.ts';
import { removeMailSourcesIn } from '../../models/messages/mail-source.ts';
import { Message } from '../../models/messages/message.ts';
import { isTooMuchToRemove, REMOVED_MAX, REMOVED_MAX_MIB, removeAllWith } from '../../models/remove-records.ts';
import type { StoredId } from '../../models/tenant.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/**
 * Removes the messages about a quote and the mails that are kept of them. A worker that has a lease of one loses it: its
 * mail does not leave any more, and nothing is kept of one that is leaving.
 * @throws AppError 409 when they are too many for one transaction.
 */
export async function removeMessagesOfQuote({ session, accountId }: UnitOfWork, quoteId: StoredId): Promise<void> {
  const about = { 'document.id': quoteId } as object;
  if (await isTooMuchToRemove(Message, accountId, about, session))
    throw appError('quote_too_large', { limit: REMOVED_MAX, limit_mib: REMOVED_MAX_MIB });
  await removeAllWith(Message, accountId, about, session, async (batch) => {
    const ids = batch.map(({ _id }) => _id);
    await removeMailSourcesIn(session, accountId, ids);
  });
}
