// Erases the data that identifies a client from the messages to it, and cancels those that have not left.
import { ERASED_ADDRESS } from '../../models/accounts/client-erasure.ts';
import { Message, type MessageRecord } from '../../models/messages/message.ts';
import { MESSAGE_MOVES } from '../../models/messages/message-states.ts';
import { Suppression, type SuppressionRecord } from '../../models/messages/suppression.ts';
import { driverOf } from '../../models/records.ts';
import { removeBatch } from '../../models/remove-records.ts';
import { storedId } from '../../models/tenant.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { moveMessage } from './move-message.ts';

const BATCH = 200;
/** The subject and texts of an erased message: empty, because a message has them. */
const ERASED = { subject: '', subject_template: '', body_template: '', 'recipients.$[].address': ERASED_ADDRESS };
const REMOVED = { 'recipients.$[].text': 1, 'attempts.$[].text': 1, reply_to: 1, texts: 1 };

/** Erases all messages to the client. Erased ones are no longer found, so that a second call changes nothing. */
export async function eraseMessages(unit: UnitOfWork, client: { _id: MessageRecord['client_id'] }): Promise<void> {
  const { session, accountId } = unit;
  const now = new Date();
  const unerased = { account_id: storedId(accountId), client_id: client._id, erased_at: null } as object;
  for (;;) {
    const batch = (await driverOf(Message)
      .find(unerased, { session, sort: { _id: 1 }, limit: BATCH, batchSize: BATCH + 1 })
      .toArray()) as unknown as MessageRecord[];
    if (batch.length === 0) return;
    for (const message of batch) {
      const isOpen = (MESSAGE_MOVES.erase.from as readonly string[]).includes(message.state);
      if (isOpen) await moveMessage(unit, message, { move: 'erase', facts: {}, values: { settledAt: now } });
    }
    const ids = batch.map(({ _id }) => _id);
    await driverOf(Message).updateMany(
      { account_id: storedId(accountId), _id: { $in: ids } },
      { $set: { ...ERASED, erased_at: now } as never, $unset: REMOVED as never },
      { session },
    );
    await removeSuppressions(unit, batch);
  }
}

/** Removes the suppressions that came of these messages: their addresses are erased, too. */
async function removeSuppressions({ session, accountId }: UnitOfWork, messages: readonly MessageRecord[]) {
  const caused = {
    account_id: storedId(accountId),
    address: { $in: messages.flatMap(({ recipients }) => recipients.map(({ address }) => address)) },
    message_id: { $in: messages.map(({ _id }) => _id) },
  } as object;
  const found = (await driverOf(Suppression).find(caused, { session }).toArray()) as unknown as SuppressionRecord[];
  await removeBatch(Suppression, accountId, found, session);
}
