// Sets the recipients of a message that has not left.
import { changeTime } from '../../models/counter.ts';
import { Message, type MessageRecord, type Recipient } from '../../models/messages/message.ts';
import { driverOf } from '../../models/records.ts';
import { countStored, sizeOf } from '../../models/stored-bytes.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/**
 * Sets the recipients.
 * @param changes the recipients, and the mark of a mail that was made for others, see READDRESSED.
 * @param guard a filter, see messageGuard.
 * @returns the message as it is then, or undefined when the guard does not hold.
 */
export async function setRecipients(
  { session, accountId }: Pick<UnitOfWork, 'session' | 'accountId'>,
  { _id, account_id }: Pick<MessageRecord, '_id' | 'account_id'>,
  changes: { recipients: Recipient[]; shown?: string },
  guard: object,
): Promise<MessageRecord | undefined> {
  const updated_at = await changeTime(session, accountId, new Date());
  const before = (await driverOf(Message).findOneAndUpdate(
    { ...guard, _id, account_id } as object,
    { $set: { ...changes, updated_at } as never },
    { session },
  )) as MessageRecord | null;
  if (!before) return undefined;
  const after = { ...before, ...changes, updated_at };
  countStored(session, sizeOf(after) - sizeOf(before));
  return after;
}
