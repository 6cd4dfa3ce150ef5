// Books what came back after a mail was accepted: the state of its recipient, and the address that is not mailed any more.
import { agreedDate } from '../../clock.ts';
import { asciiAddress } from '../../mail/ascii-address.ts';
import {
  Message,
  type MessageRecord,
  normalAddress,
  REPLY_LONGEST,
  type Recipient,
} from '../../models/messages/message.ts';
import { canMove, recipientNote } from '../../models/messages/message-moves.ts';
import { findSuppression, Suppression, type SuppressionReason } from '../../models/messages/suppression.ts';
import { driverOf, insertOwn } from '../../models/records.ts';
import { isId, newRecord, storedId } from '../../models/tenant.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { moveRecipient } from './move-message.ts';

/** The words of a receiving server about one recipient. */
interface Reason {
  /**
   * - `hard`: the mail came back, and the address is not mailed any more.
   * - `returned`: the mail came back, and another one to the address may arrive.
   * - `soft`: another attempt of the receiving server may succeed.
   */
  kind: 'hard' | 'returned' | 'soft' | 'complaint';
  code?: string | undefined;
  text?: string | undefined;
}

export interface BounceReport extends Reason {
  /** The id of the message, or its `Message-ID`. */
  message_id: string;
  recipient: string;
}

/** A report that was read out of a mail. It may name one message and one recipient in several ways. */
export interface ReadReport {
  /** Ids and `Message-ID` headers, the surest first. */
  messages: readonly string[];
  recipients: readonly {
    addresses: readonly string[];
    outcome: Omit<Reason, 'kind'> & { kind: Reason['kind'] | 'none' };
  }[];
}

type Unknown = 'unknown message' | 'unknown recipient';

/**
 * Books a report. A report that was booked before changes nothing.
 * @returns the message after it, or what of the report is unknown to the account.
 */
export async function reportBounce(
  unit: UnitOfWork,
  { message_id, recipient, ...reason }: BounceReport,
): Promise<MessageRecord | Unknown> {
  const message = await findReported(unit, message_id);
  if (!message) return 'unknown message';
  const index = placeOf(message, [recipient]);
  return index < 0 ? 'unknown recipient' : book(unit, message, index, reason);
}

/** Books all that a report says about the recipients of its message. Recipients that are none of them are passed over. */
export async function bookReport(
  unit: UnitOfWork,
  { messages, recipients }: ReadReport,
): Promise<MessageRecord | Unknown> {
  let message: MessageRecord | undefined;
  for (const name of messages) {
    message = await findReported(unit, name);
    if (message) break;
  }
  if (!message) return 'unknown message';
  const known = recipients.map(({ addresses, outcome }) => ({ index: placeOf(message, addresses), outcome }));
  // The mail of the only recipient may have been forwarded to the address that the report names.
  const [only] = known;
  if (only && known.length === 1 && message.recipients.length === 1 && !message.erased_at) only.index = 0;
  const own = known.filter(({ index }) => index >= 0);
  if (own.length === 0) return 'unknown recipient';
  let after = message;
  for (const { index, outcome } of own) {
    const { kind } = outcome;
    if (kind !== 'none') after = await book(unit, after, index, { ...outcome, kind });
  }
  return after;
}

function placeOf({ recipients }: MessageRecord, addresses: readonly string[]): number {
  const wanted = addresses.map((address) => asciiAddress(normalAddress(address)));
  return recipients.findIndex(({ address }) => wanted.includes(asciiAddress(address)));
}

async function book(
  unit: UnitOfWork,
  message: MessageRecord,
  index: number,
  { kind, code, text }: Reason,
): Promise<MessageRecord> {
  const reported = message.recipients[index] as Recipient;
  const { address } = reported;
  const at = agreedDate();
  const reply = { ...(code ? { code } : {}), ...(text ? { text: text.slice(0, REPLY_LONGEST) } : {}) };
  if (kind === 'soft') {
    if (!canMove(reported, 'bounce')) return message;
    return noted(unit, message, { index, ...reply, at });
  }
  if (kind !== 'returned')
    await suppress(unit, message, { address, reason: kind === 'hard' ? 'bounce' : 'complaint', text });
  const move = kind === 'complaint' ? 'complain' : 'bounce';
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
  { _id: message_id, client_id }: MessageRecord,
  { address, reason, text }: { address: string; reason: SuppressionReason; text: string | undefined },
): Promise<void> {
  if (await findSuppression(accountId, address, session)) return;
  const record = {
    ...newRecord(accountId),
    address,
    reason,
    message_id,
    client_id,
    ...(text ? { text: text.slice(0, REPLY_LONGEST) } : {}),
  };
  await insertOwn(Suppression, record, session);
}
