// Books what came back after a mail was accepted: the state of its recipient, and the address that is not mailed any more.
import { agreedDate } from '../../clock.ts';
import { Message, type MessageRecord, normalAddress, REPLY_LONGEST } from '../../models/messages/message.ts';
import { canMove, recipientNote } from '../../models/messages/message-moves.ts';
import { findSuppression, Suppression, type SuppressionReason } from '../../models/messages/suppression.ts';
import { driverOf, insertOwn } from '../../models/records.ts';
import { isId, newRecord, storedId } from '../../models/tenant.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { moveRecipient } from './move-message.ts';

export interface BounceReport {
  /** The id of the message, or its `Message-ID`. */
  message_id: string;
  recipient: string;
  /** `soft`: another attempt of the receiving server may succeed. */
  kind: 'hard' | 'soft' | 'complaint';
  code?: string | undefined;
  text?: string | undefined;
}

/**
 * Books a report. A report that was booked before changes nothing.
 * @returns the message after it, or what of the report is unknown to the account.
 */
export async function reportBounce(
  unit: UnitOfWork,
  { message_id, recipient, kind, code, text }: BounceReport,
): Promise<MessageRecord | 'unknown message' | 'unknown recipient'> {
  const message = await findReported(unit, message_id);
  if (!message) return 'unknown message';
  const address = normalAddress(recipient);
  const index = message.recipients.findIndex((one) => one.address === address);
  const reported = message.recipients[index];
  if (!reported) return 'unknown recipient';
  const at = agreedDate();
  const reply = { ...(code ? { code } : {}), ...(text ? { text: text.slice(0, REPLY_LONGEST) } : {}) };
  if (kind === 'soft') {
    if (!canMove(reported, 'bounce')) return message;
    return noted(unit, message, { index, ...reply, at });
  }
  const move = kind === 'hard' ? 'bounce' : 'complain';
  await suppress(unit, message, { address, reason: kind === 'hard' ? 'bounce' : 'complaint', text });
  if (!canMove(reported, move)) return message;
  return (await moveRecipient(unit, message, { index, move, ...reply, at })) ?? message;
}

async function findReported({ session, accountId }: UnitOfWork, given: string): Promise<MessageRecord | undefined> {
  const account_id = storedId(accountId);
  const bare = given.replace(/^<|>$/g, '');
  const named = isId(given) ? { _id: storedId(given) } : { message_id: `<${bare}>` };
  const found = await driverOf(Message).findOne({ account_id, ...named } as object, { session });
  return (found as MessageRecord | null) ?? undefined;
}

async function noted(
  { session }: UnitOfWork,
  message: MessageRecord,
  note: Parameters<typeof recipientNote>[0],
): Promise<MessageRecord> {
  const { _id, account_id } = message;
  const changed = await driverOf(Message).findOneAndUpdate({ _id, account_id }, recipientNote(note), {
    session,
    returnDocument: 'after',
  });
  return changed as unknown as MessageRecord;
}

/** The first reason stays: the address is suppressed once. */
async function suppress(
  { session, accountId }: UnitOfWork,
  { _id: message_id }: MessageRecord,
  { address, reason, text }: { address: string; reason: SuppressionReason; text: string | undefined },
): Promise<void> {
  if (await findSuppression(accountId, address, session)) return;
  const record = {
    ...newRecord(accountId),
    address,
    reason,
    message_id,
    ...(text ? { text: text.slice(0, REPLY_LONGEST) } : {}),
  };
  await insertOwn(Suppression, record, session);
}
