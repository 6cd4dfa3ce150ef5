// Finds the messages that are due for the poller, and sets when it looks at them again.
import { agreedDate } from '#libs/clock.ts';
import { Message, type MessageRecord } from '#libs/models/messages/message.ts';
import { messageChange, messageGuard } from '#libs/models/messages/message-moves.ts';
import { driverOf } from '#libs/models/records.ts';
import { acrossAccounts, type Id, storedId, wireId } from '#libs/models/tenant.ts';

export type DueMessage = Pick<
  MessageRecord,
  '_id' | 'account_id' | 'state' | 'revision' | 'lease_until' | 'request_id' | 'due_at' | 'sender'
>;

const FIELDS = { account_id: 1, state: 1, revision: 1, lease_until: 1, request_id: 1, due_at: 1, sender: 1 };

/**
 * Returns messages of all accounts that are due now. When there are more than `limit`, half of them are the ones that
 * fell due last: the backlog of one account must not keep the mail of the others.
 */
export async function findDueMessages(limit: number, now: Date = agreedDate()): Promise<DueMessage[]> {
  const oldest = await findDue(1, limit, now);
  if (oldest.length < limit) return oldest;
  const newest = await findDue(-1, Math.floor(limit / 2), now);
  return [...new Map([...newest, ...oldest].map((message) => [wireId(message._id), message])).values()];
}

function findDue(direction: 1 | -1, limit: number, now: Date): Promise<DueMessage[]> {
  return Message.find({ due_at: { $lte: now } })
    .setOptions(acrossAccounts)
    .sort({ due_at: direction })
    .limit(limit)
    .select(FIELDS)
    .lean<DueMessage[]>();
}

/** Sets when the poller looks at these messages again, except where another process has changed them meanwhile. */
export async function lookAgain(messages: readonly DueMessage[], at: (message: DueMessage) => Date): Promise<void> {
  if (messages.length === 0) return;
  await driverOf(Message).bulkWrite(
    messages.map((message) => {
      const { _id, account_id, revision, due_at } = message;
      return {
        updateMany: {
          filter: { _id, account_id, due_at, ...messageGuard('enqueue', { revision }) } as object,
          hint: { _id: 1 },
          update: messageChange('enqueue', { dueAt: at(message) }, []),
        },
      };
    }),
    { ordered: false },
  );
}

/** Extends the lease of an attempt that takes its time. @returns false when the lease is lost. */
export async function extendLease(
  { _id, account_id }: Pick<MessageRecord, '_id' | 'account_id'>,
  leaseId: string,
  until: Date,
): Promise<boolean> {
  const { matchedCount } = await driverOf(Message).updateOne(
    { _id, account_id, ...messageGuard('extendLease', { leaseId }) } as object,
    messageChange('extendLease', { leaseUntil: until, dueAt: until }, []),
  );
  return matchedCount === 1;
}

/** Returns the account's next message for its own mail server, whose attempt is due and which no worker has. */
export async function findNextOwnMessage(accountId: Id, now: Date = agreedDate()) {
  const found = await driverOf(Message).findOne(
    {
      account_id: storedId(accountId),
      state: { $in: ['planned', 'queued', 'unknown'] },
      sender: { $exists: true },
      next_at: { $lte: now },
      $or: [{ lease_until: null }, { lease_until: { $lte: now } }],
    } as object,
    { sort: { _id: 1 }, projection: { _id: 1 } },
  );
  return found ? { messageId: wireId(found._id), accountId } : undefined;
}
