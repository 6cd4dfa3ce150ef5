// The queue entry of one attempt.
import { wireId } from '#libs/models/tenant.ts';
import type { DueMessage } from './store/due-messages.ts';

/**
 * Returns the queue entry.
 * @param behind the number of messages of the same account before it: accounts take turns.
 */
export function mailJob({ _id, account_id, revision }: DueMessage, behind: number) {
  const messageId = String(_id);
  return {
    // The same attempt has the same id, so it is in the queue once however often it is enqueued.
    id: `${messageId}-${revision}`,
    behind,
    payload: { messageId, accountId: wireId(account_id) },
  };
}
