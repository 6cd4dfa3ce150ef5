// Cancels the mail that waits about a document, as soon as a change of the document ends what the mail would say.
import { agreedDate } from '../../clock.ts';
import { dayIn } from '../../day.ts';
import type { RecordOfKind } from '../../documents/printed-content.ts';
import { readAccount } from '../../models/accounts/account.ts';
import type { DocumentDelivery } from '../../models/billing/document-delivery.ts';
import { deliveryStateOf, Message, type MessageRecord } from '../../models/messages/message.ts';
import { messageGuard } from '../../models/messages/message-moves.ts';
import { driverOf } from '../../models/records.ts';
import type { NumberKind } from '../../rules/documents/number-kinds.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { moveMessage } from './move-message.ts';
import { freeStep, hasIt, staleness } from './withdraw-message.ts';

/** The messages that one change cancels. A document has few that wait, and an attempt checks each again. */
const CANCELLED_MAX = 200;

/**
 * Cancels the messages about a document that must not leave any more, see staleness. One that a worker has is left to
 * its attempt, and so is one that some of its recipients have.
 * @param record as the caller is about to store it.
 * @returns the delivery that an invoice or a quote shows from then on, for the caller to store with its change.
 */
export async function endMail<Kind extends NumberKind>(
  unit: UnitOfWork,
  type: Kind,
  record: RecordOfKind[Kind],
): Promise<{ delivery?: DocumentDelivery }> {
  const { session, accountId } = unit;
  const last = 'delivery' in record ? record.delivery : undefined;
  // Every mail about an invoice or a quote shows in its delivery.
  if ((type === 'invoice' || type === 'quote') && !last) return {};
  const now = agreedDate();
  const { account_id, _id } = record;
  const waiting = { account_id, 'document.id': _id, ...messageGuard('cancel', { now }) } as object;
  const found = (await driverOf(Message)
    .find(waiting, { session, sort: { _id: 1 }, limit: CANCELLED_MAX })
    .toArray()) as unknown as MessageRecord[];
  if (found.length === 0) return {};
  const { time_zone } = await readAccount(accountId, session);
  let shown: { delivery?: DocumentDelivery } = {};
  for (const message of found) {
    const leavesAt = message.send_at && message.send_at > now ? message.send_at : now;
    const reason = staleness(message, record, dayIn(time_zone, now), dayIn(time_zone, leavesAt));
    if (reason === undefined || message.recipients.some(hasIt)) continue;
    const values = { settledAt: now, attempt: { at: now, text: reason } };
    const cancelled = await moveMessage(unit, message, { move: 'cancel', facts: { now }, values });
    if (!cancelled) continue;
    if (cancelled.reminder) await freeStep(unit, cancelled);
    if (last?.message_id.equals(cancelled._id)) {
      shown = { delivery: { ...last, state: deliveryStateOf(cancelled), at: cancelled.updated_at } };
    }
  }
  return shown;
}
