// Sends mail that waits to the new address of its client.
import { agreedDate } from '../../clock.ts';
import { changeTime } from '../../models/counter.ts';
import { Message, type MessageRecord, normalAddress } from '../../models/messages/message.ts';
import { messageGuard } from '../../models/messages/message-moves.ts';
import { driverOf } from '../../models/records.ts';
import { countStored } from '../../models/stored-bytes.ts';
import { storedId } from '../../models/tenant.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/** The messages that are changed in one request. A client has few that wait. */
const CHANGED_MAX = 1_000;

/**
 * Replaces the former address of the client in messages that wait. A mail that was made has the address in its headers,
 * and stays: an attempt of it may be under way.
 */
export async function readdressMessages(
  { session, accountId }: UnitOfWork,
  { _id: client_id }: { _id: MessageRecord['client_id'] },
  addresses: { from: string; to: string },
): Promise<void> {
  const [from, to] = [normalAddress(addresses.from), normalAddress(addresses.to)];
  if (!from || !to || from === to) return;
  const waiting = {
    account_id: storedId(accountId),
    client_id,
    // A message that its caller could still cancel.
    ...messageGuard('cancel', { now: agreedDate() }),
    attempts_made: 0,
    'recipients.address': { $eq: from, $ne: to },
  } as object;
  const found = (await driverOf(Message)
    .find(waiting, { session, projection: { _id: 1, recipients: 1 }, limit: CHANGED_MAX })
    .toArray()) as unknown as Pick<MessageRecord, '_id' | 'recipients'>[];
  if (found.length === 0) return;
  const updated_at = await changeTime(session, accountId, new Date());
  for (const { _id, recipients } of found) {
    const place = `recipients.${recipients.findIndex(({ address }) => address === from)}.address`;
    const before = await driverOf(Message).findOneAndUpdate(
      { ...waiting, _id } as object,
      { $set: { [place]: to, updated_at } as never },
      { session },
    );
    if (before) countStored(session, Buffer.byteLength(to) - Buffer.byteLength(from));
  }
}
