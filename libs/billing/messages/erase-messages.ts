// Erases the data that identifies a client from the messages to it, and cancels those that have not left.
import { findByEmail } from '../../models/accounts/client.ts';
import { Message, type MessageRecord } from '../../models/messages/message.ts';
import { canErase } from '../../models/messages/message-moves.ts';
import { removeSuppressionsOf } from '../../models/messages/suppression.ts';
import { driverOf } from '../../models/records.ts';
import { storedId } from '../../models/tenant.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { ERASED_WORDS } from './erased-words.ts';
import { moveMessage } from './move-message.ts';

const BATCH = 200;

/**
 * Erases all messages to the client, and frees the addresses that are suppressed because of one, unless another client of
 * the account has the address. Erased ones are no longer found, so that a second call changes nothing. One that is being
 * sent ends with its attempt, see moveMessage.
 */
export async function eraseMessages(unit: UnitOfWork, client: { _id: MessageRecord['client_id'] }): Promise<void> {
  const { session, accountId } = unit;
  const now = new Date();
  const unerased = { account_id: storedId(accountId), client_id: client._id, erased_at: null } as object;
  for (;;) {
    const batch = (await driverOf(Message)
      .find(unerased, { session, sort: { _id: 1 }, limit: BATCH, batchSize: BATCH + 1 })
      .toArray()) as unknown as MessageRecord[];
    if (batch.length === 0) break;
    for (const message of batch) {
      if (canErase(message)) await moveMessage(unit, message, { move: 'erase', facts: {}, values: { settledAt: now } });
    }
    const ids = batch.map(({ _id }) => _id);
    await driverOf(Message).updateMany(
      { account_id: storedId(accountId), _id: { $in: ids } },
      { ...ERASED_WORDS, $set: { ...ERASED_WORDS.$set, erased_at: now } } as never,
      { session },
    );
  }
  await removeSuppressionsOf(accountId, client._id, session, (address) => otherClientOf(unit, client, address));
}

/** Returns another client that has the address, or that the account has mailed at it. The messages of this client are erased before. */
async function otherClientOf(
  { session, accountId }: UnitOfWork,
  { _id }: { _id: MessageRecord['client_id'] },
  address: string,
): Promise<MessageRecord['client_id'] | undefined> {
  const other = await findByEmail(accountId, address, { except: _id, session });
  if (other) return other;
  const mailed = {
    account_id: storedId(accountId),
    'recipients.address': address,
    client_id: { $ne: _id },
    erased_at: null,
  } as object;
  const message = await driverOf(Message).findOne(mailed, { session, projection: { client_id: 1 } });
  return (message as Pick<MessageRecord, 'client_id'> | null)?.client_id;
}
