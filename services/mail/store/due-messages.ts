// Finds the messages that are due for the poller, and sets when it looks at them again.
import { countBy } from 'es-toolkit/array/countBy';
import { agreedDate } from '#libs/clock.ts';
import { Message, type MessageRecord } from '#libs/models/messages/message.ts';
import { messageChange, messageGuard } from '#libs/models/messages/message-moves.ts';
import { driverOf } from '#libs/models/records.ts';
import { acrossAccounts, type Id, storedId, wireId } from '#libs/models/tenant.ts';
import { isOutOfTime } from '#libs/mongo/errors.ts';

export type DueMessage = Pick<
  MessageRecord,
  '_id' | 'account_id' | 'state' | 'revision' | 'lease_until' | 'request_id' | 'due_at' | 'sender'
>;

/**
 * The time for a write outside of a transaction. The transaction of a process that died locks a message for a minute or
 * longer: the attempt, whose writes are in a transaction, ends it sooner.
 */
const LOCKED_MAX_MS = 1_000;

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

/** Returns how many messages of each account the poller looks at again in this time: it has just enqueued them. */
export async function countEnqueued(limit: number, from: Date, until: Date): Promise<Map<Id, number>> {
  const found = await Message.find({ due_at: { $gt: from, $lte: until } })
    .setOptions(acrossAccounts)
    .sort({ due_at: 1 })
    .limit(limit)
    .select({ account_id: 1 })
    .lean<Pick<DueMessage, 'account_id'>[]>();
  return new Map(Object.entries(countBy(found, ({ account_id }) => wireId(account_id))));
}

/** Sets when the poller looks at these messages again, except where another process has changed them meanwhile. */
export async function lookAgain(messages: readonly DueMessage[], at: (message: DueMessage) => Date): Promise<void> {
  if (messages.length === 0) return;
  const marking = driverOf(Message).bulkWrite(
    messages.map((message) => {
      const { _id, account_id, revision, due_at } = message;
      return {
        updateMany: {
          filter: { _id, account_id, due_at, ...messageGuard('lookAgain', { revision }) } as object,
          hint: { _id: 1 },
          update: messageChange('lookAgain', { dueAt: at(message) }, []),
        },
      };
    }),
    { ordered: false, maxTimeMS: LOCKED_MAX_MS },
  );
  // Those that were not marked stay due.
  await unlessLocked(marking);
}

/**
 * Acquires a message that no worker has had yet. It is queued and stays so: nothing that callers see changes, so one
 * update does it.
 * @returns undefined when it is not due, was planned for a later time, or a worker has or had it.
 */
export async function acquireNew(
  accountId: Id,
  messageId: Id,
  lease: { id: string; ms: number },
  now: Date = agreedDate(),
): Promise<MessageRecord | undefined> {
  const leaseUntil = new Date(now.getTime() + lease.ms);
  const acquiring = driverOf(Message).findOneAndUpdate(
    {
      _id: storedId(messageId),
      account_id: storedId(accountId),
      ...messageGuard('acquire', { now }),
      state: 'queued',
      revision: 0,
      lease_until: null,
    } as object,
    messageChange('acquire', { leaseId: lease.id, leaseUntil, dueAt: leaseUntil }, []),
    // A lease that an election loses is missed before the contents leave.
    { returnDocument: 'after', writeConcern: { w: 1 }, maxTimeMS: LOCKED_MAX_MS },
  );
  return ((await unlessLocked(acquiring)) as MessageRecord | null | undefined) ?? undefined;
}

/** Resolves to undefined when a message was locked for too long. */
async function unlessLocked<Result>(write: Promise<Result>): Promise<Result | undefined> {
  try {
    return await write;
  } catch (error) {
    if (isOutOfTime(error)) return undefined;
    throw error;
  }
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
