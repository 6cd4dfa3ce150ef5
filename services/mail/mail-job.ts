// The queue entry of one attempt.
import { wireId } from '#libs/models/tenant.ts';
import type { DueMessage } from './store/due-messages.ts';

/**
 * Returns the queue entry.
 * @param behind the number of messages of the same account before it: accounts take turns.
 */
export function mailJob({ _id, account_id, revision, lease_until }: DueMessage, behind: number) {
  const messageId = String(_id);
  return {
    // The same attempt has the same id, so it is in the queue once however often it is enqueued. The job of a worker that
    // died exists for up to a minute, so the end of its lease makes another id.
    id: [messageId, revision, ...(lease_until ? [lease_until.getTime()] : [])].join('-'),
    behind,
    payload: { messageId, accountId: wireId(account_id) },
  };
}
