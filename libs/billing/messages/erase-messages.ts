// Erases the data that identifies a client from the messages to it, and cancels those that have not left.
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
 * Erases all messages to the client, and frees the addresses that are suppressed because of one. Erased ones are no longer
 * found, so that a second call changes nothing. One that is being sent ends with its attempt, see moveMessage.
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
  await removeSuppressionsOf(accountId, client._id, session);
}
