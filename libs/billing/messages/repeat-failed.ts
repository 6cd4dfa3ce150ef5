// Mail that no person asked for, a receipt or a step of reminders, is sent once more when it reached no one.
import { agreedTime } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { readAccount } from '../../models/accounts/account.ts';
import { Payment } from '../../models/billing/payment.ts';
import { Message, type MessageRecord } from '../../models/messages/message.ts';
import { findOwn } from '../../models/records.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { planMessage } from './plan-message.ts';
import { receiptLink } from './plan-receipt.ts';

const DAY_MS = 24 * 3_600_000;

/** The end of `once` of a message that repeats another one. The index lets a message be repeated once. */
export const AGAIN = '/again';

/** True of a message that repeats another one by itself. */
export function isAgain({ once }: Pick<MessageRecord, 'once'>): boolean {
  return once?.endsWith(AGAIN) === true;
}

/**
 * True of a mail that goes out once by itself and reached no one, although no mail server rejected it for good: the server
 * could not be reached, or the mail could not be made.
 */
export function mayRepeat(
  message: Pick<MessageRecord, 'once' | 'state' | 'unknown_at' | 'erased_at' | 'recipients'>,
): boolean {
  const { once, state, unknown_at, erased_at, recipients } = message;
  if (state !== 'failed' || unknown_at || erased_at || !once || isAgain(message)) return false;
  return recipients.some(({ role, code }) => role !== 'bcc' && !code?.startsWith('5'));
}

/** Plans a receipt that has failed once more, a day later. Nothing is written where none can be planned any more. */
export async function repeatReceipt(unit: UnitOfWork, message: MessageRecord): Promise<void> {
  if (message.kind !== 'receipt' || !mayRepeat(message)) return;
  const { session, accountId } = unit;
  const { receipts } = await readAccount(accountId, session);
  const payment = receipts && (await findOwn(Payment, accountId, message.document.id, session));
  if (!payment) return;
  try {
    await planMessage(unit, {
      kind: 'receipt',
      type: 'payment',
      record: payment,
      wanted: { send_at: new Date(agreedTime() + DAY_MS) },
      link: receiptLink(payment),
      once: `${message.once}${AGAIN}`,
      resendOf: message._id,
      requestId: message.request_id,
      by: message.by,
    });
  } catch (error) {
    // planMessage throws these before it writes.
    if (!(error instanceof AppError) || error.status >= 500) throw error;
  }
}

/** Returns why a receipt does not go out once more: its account has sent it again itself. */
export async function repeatedReason(
  { session, accountId }: Pick<UnitOfWork, 'session' | 'accountId'>,
  message: Pick<MessageRecord, '_id' | 'kind' | 'once' | 'resend_of'>,
): Promise<string | undefined> {
  if (message.kind !== 'receipt' || !isAgain(message) || !message.resend_of) return undefined;
  const first: MessageRecord | null = await findOwn(Message, accountId, message.resend_of, session);
  return first?.resent_as?.equals(message._id) ? undefined : 'It was sent again already';
}
