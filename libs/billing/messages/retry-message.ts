// Retries a message for an operator: one that waits for its next attempt is due at once, and one that the mail server rejected is sent again
// to the recipients that did not get it.
import { agreedDate } from '../../clock.ts';
import { appError } from '../../errors.ts';
import { Client, type ClientRecord, isOfFormerAddress } from '../../models/accounts/client.ts';
import { Message, type MessageRecord, type Recipient } from '../../models/messages/message.ts';
import { forgetTries } from '../../models/operations/round-try.ts';
import { findOwn } from '../../models/records.ts';
import { type Id, storedId } from '../../models/tenant.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { moveMessage } from './move-message.ts';
import { planMessage } from './plan-message.ts';
import { repeatedRecipients } from './repeated-recipients.ts';
import { mailedRecord } from './withdraw-message.ts';

/** The fields that decide whether a retry does anything. */
export type Retried = Pick<
  MessageRecord,
  'state' | 'recipients' | 'attempts_made' | 'next_at' | 'lease_until' | 'unknown_at' | 'resent_as' | 'erased_at'
>;

/**
 * `hastened`: it is due now. `again`: another message goes to the recipients that failed. `no`: nothing is done, and the sentence says why.
 */
export type RetryOutcome = { hastened: MessageRecord } | { again: MessageRecord } | { no: string };

/**
 * Retries a message. The mail server has rejected it for certain: one that may have arrived is never sent again.
 * @returns undefined when the account has no such message.
 * @throws AppError 409 when its document is not to be sent any more, or lacks something.
 */
export async function retryMessage(unit: UnitOfWork, id: Id): Promise<RetryOutcome | undefined> {
  const message: MessageRecord | null = await findOwn(Message, unit.accountId, storedId(id), unit.session);
  if (!message) return undefined;
  const now = agreedDate();
  const no = whyNoRetry(message, now);
  if (no !== undefined) return { no };
  if (message.state !== 'queued') return sendAgain(unit, message);
  const values = { nextAt: now, dueAt: now };
  // One that is set aside would wait for its day all the same.
  await forgetTries('attempts of mails', { id: message._id, accountId: unit.accountId }, { session: unit.session });
  const hastened = await moveMessage(unit, message, { move: 'hasten', facts: { now }, values });
  return hastened ? { hastened } : { no: IN_ATTEMPT };
}

const IN_ATTEMPT = 'An attempt is being made';
const SUPPRESSED = 'Every recipient that failed is suppressed: its account can free it';

/** Returns why a retry of the message does nothing, or undefined when it does something. */
export function whyNoRetry(message: Retried, now: Date): string | undefined {
  const { state, next_at, lease_until } = message;
  if (state === 'sending' || (lease_until && lease_until > now)) return IN_ATTEMPT;
  if (state === 'queued') return next_at && next_at > now ? undefined : 'It is due already';
  if (state === 'planned') return 'It leaves at the time for which it is planned';
  if (state === 'unknown') return 'It is not known whether the mail server took it, and it is sent once more by itself';
  if (message.erased_at) return 'Its client was anonymised';
  if (message.resent_as) return 'It was sent again already';
  if (message.unknown_at) return 'It may have arrived: the mail server once did not say whether it took it';
  if (state === 'cancelled') return 'It was cancelled';
  return failedOf(message).length > 0 ? undefined : 'No recipient was rejected by the mail server';
}

/** The filters of messages of which whyNoRetry returns undefined: those that failed, and those that wait. */
export const RETRIED_WHEN = {
  failed: () => ({
    state: { $in: ['failed', 'accepted'] },
    'recipients.state': 'failed',
    unknown_at: null,
    resent_as: null,
    erased_at: null,
  }),
  waiting: (now: Date) => ({
    state: 'queued',
    next_at: { $gt: now },
    $or: [{ lease_until: null }, { lease_until: { $lte: now } }],
  }),
} as const;

function failedOf({ recipients }: Pick<MessageRecord, 'recipients'>): Recipient[] {
  return recipients.filter(({ state }) => state === 'failed');
}

/** Plans another message with the same words and the same link, as the account could. The mark on the first one keeps it from being repeated twice. */
async function sendAgain(unit: UnitOfWork, message: MessageRecord): Promise<RetryOutcome> {
  const { session, accountId } = unit;
  const recipients = await repeatedRecipients(unit, failedOf(message));
  if (recipients.length === 0) return { no: SUPPRESSED };
  const record = await mailedRecord(accountId, message, session);
  if (!record) throw appError('document_not_found');
  if (!record.client_id.equals(message.client_id)) return { no: 'Its document has another client now' };
  const client: ClientRecord | null = await findOwn(Client, accountId, message.client_id, session);
  if (isOfFormerAddress(client, message.created_at))
    return { no: 'Its account has changed the address of the client since' };
  const { kind, document, link, texts, reminder, request_id } = message;
  const wanted = {
    subject: message.subject_template,
    message: message.body_template,
    attach_pdf: message.attach_pdf,
  };
  const again = await planMessage(unit, {
    ...{ kind, type: document.type, record, wanted, recipients, link, texts, resendOf: message._id },
    ...(reminder?.days === undefined ? {} : { days: reminder.days }),
    early: reminder?.early,
    requestId: request_id,
  });
  return { again };
}
