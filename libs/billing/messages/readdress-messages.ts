// Lets mail that waits follow the address of its client.
import { agreedDate } from '../../clock.ts';
import { changeTime } from '../../models/counter.ts';
import { Message, type MessageRecord, normalAddress } from '../../models/messages/message.ts';
import { messageGuard } from '../../models/messages/message-moves.ts';
import { driverOf } from '../../models/records.ts';
import { countStored, sizeOf } from '../../models/stored-bytes.ts';
import { storedId } from '../../models/tenant.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { moveMessage } from './move-message.ts';
import { freeStep } from './withdraw-message.ts';

/** The messages that are changed in one request. A client has few that wait. */
const CHANGED_MAX = 1_000;

/**
 * Replaces the former address of the client in messages that wait. Where the client has none any more, the mail goes to
 * its other recipients, and one without any is cancelled. A mail that was made has the address in its headers, and stays:
 * an attempt of it may be under way.
 */
export async function readdressMessages(
  unit: UnitOfWork,
  { _id: client_id }: { _id: MessageRecord['client_id'] },
  addresses: { from: string; to: string },
): Promise<void> {
  const { session, accountId } = unit;
  const [from, to] = [normalAddress(addresses.from), normalAddress(addresses.to)];
  if (!from || from === to) return;
  const waiting = {
    account_id: storedId(accountId),
    client_id,
    // A message that its caller could still cancel.
    ...messageGuard('cancel', { now: agreedDate() }),
    attempts_made: 0,
    'recipients.address': { $eq: from, $ne: to },
  } as object;
  const found = (await driverOf(Message)
    .find(waiting, { session, ...(to ? { projection: { _id: 1, recipients: 1 } } : {}), limit: CHANGED_MAX })
    .toArray()) as unknown as MessageRecord[];
  if (found.length === 0) return;
  if (!to) {
    for (const message of found) await dropRecipient(unit, message, from);
    return;
  }
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

/** Takes an address off a message. It is cancelled when only blind copies are left. */
async function dropRecipient(unit: UnitOfWork, message: MessageRecord, address: string): Promise<void> {
  const { session, accountId } = unit;
  const now = agreedDate();
  const others = message.recipients.filter((one) => one.address !== address);
  if (others.every(({ role }) => role === 'bcc')) {
    const values = { settledAt: now, attempt: { at: now, text: 'The client has no address any more' } };
    const cancelled = await moveMessage(unit, message, { move: 'cancel', facts: { now }, values });
    if (cancelled?.reminder) await freeStep(unit, cancelled);
    return;
  }
  const isHeaded = others.some(({ role }) => role === 'to');
  const recipients = others.map((one) => (one.role === 'cc' && !isHeaded ? { ...one, role: 'to' as const } : one));
  const updated_at = await changeTime(session, accountId, new Date());
  const own = { _id: message._id, account_id: message.account_id, ...messageGuard('cancel', { now }) } as object;
  const before = await driverOf(Message).findOneAndUpdate(
    own,
    { $set: { recipients, updated_at } as never },
    { session },
  );
  if (before) countStored(session, sizeOf({ ...before, recipients }) - sizeOf(before));
}
