// Withdraws a message whose document changed before the mail left. What is still to be sent is planned anew.
import { agreedDate } from '../../clock.ts';
import { addDays, dayIn } from '../../day.ts';
import { printedContent, type RecordOfKind } from '../../documents/printed-content.ts';
import { AppError } from '../../errors.ts';
import type { MailedRecords } from '../../mail/mailed-records.ts';
import { readAccount, stepsOf } from '../../models/accounts/account.ts';
import { Client, type ClientRecord } from '../../models/accounts/client.ts';
import { CreditNote } from '../../models/billing/credit-note.ts';
import { Invoice, type InvoiceRecord, isOpen } from '../../models/billing/invoice.ts';
import { Payment } from '../../models/billing/payment.ts';
import { effectiveQuoteStatus, Quote, type QuoteRecord } from '../../models/billing/quote.ts';
import { findMailServer } from '../../models/messages/mail-server.ts';
import { type MailedKind, Message, type MessageRecord, type Recipient } from '../../models/messages/message.ts';
import { isAboutMore, showsDocument } from '../../models/messages/message-kinds.ts';
import { DocumentLink } from '../../models/portal/document-link.ts';
import { driverOf, findOwn } from '../../models/records.ts';
import type { Id } from '../../models/tenant.ts';
import type { Session } from '../../mongo/connection.ts';
import type { NumberKind } from '../../rules/documents/number-kinds.ts';
import { dueOf } from '../../rules/money/balance.ts';
import { type ReminderStop, stopOf } from '../../rules/reminders/reminder-steps.ts';
import { quietUntil, rulesOf, setReminderMark } from '../reminders/plan-reminder.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { moveMessage } from './move-message.ts';
import { planMessage } from './plan-message.ts';
import { repeatedReason } from './repeat-failed.ts';
import { repeatedRecipients } from './repeated-recipients.ts';

const RECORDS = { invoice: Invoice, quote: Quote, payment: Payment, credit_note: CreditNote } as const;

/** Returns the document that the message is about, or null when it, or the client of a statement, was deleted. */
export async function mailedRecord(
  accountId: Id,
  { document: { type, id }, period }: Pick<MessageRecord, 'document' | 'period'>,
  session?: Session,
): Promise<MailedRecords[MailedKind] | null> {
  if (type === 'statement') {
    const client = await findOwn(Client, accountId, id, session);
    return client && period ? { _id: client._id, client_id: client._id, period } : null;
  }
  return findOwn(RECORDS[type] as never, accountId, id, session) as Promise<RecordOfKind[NumberKind] | null>;
}

/**
 * Returns the fingerprint of the document as a mail of this message shows it: what is printed, what is due of an
 * invoice, and whether a quote was accepted. Undefined for a mail that shows nothing of it.
 */
export function mailedVersion<Kind extends MailedKind>(
  { kind }: Pick<MessageRecord, 'kind'>,
  type: Kind,
  record: MailedRecords[Kind],
): string | undefined {
  if (!showsDocument(kind) || type === 'statement') return undefined;
  const content = printedContent(type as NumberKind, record as RecordOfKind[NumberKind]);
  if (type === 'invoice') return `${content} ${dueOf(record as InvoiceRecord)}`;
  // The words about a quote that was accepted ask for nothing.
  return kind === 'quote' && (record as QuoteRecord).status === 'Accepted' ? `${content} accepted` : content;
}

/** The version in a mail whose headers have a former address of the client. */
export const READDRESSED = '';

const DUE_DATE_MOVED = 'The due date was moved';

/**
 * Returns why a mail about this document must not leave. The caller has read the document.
 * @param today the calendar day of the account.
 * @param leavesOn the day on which the mail is to leave.
 */
export function staleness(
  message: Pick<MessageRecord, 'kind' | 'client_id' | 'reminder' | 'of_accepted' | 'send_at' | 'link'>,
  record: MailedRecords[MailedKind] | null,
  today: string,
  leavesOn = today,
): string | undefined {
  if (!record) return 'The document was deleted';
  // A quote that was a draft again may have another one.
  if (!record.client_id.equals(message.client_id)) return 'The document has another client now';
  if (isAboutMore(message)) return undefined;
  const status = 'status' in record ? record.status : undefined;
  // These mails would bring what their sender has taken back.
  if (status === 'Cancelled' || status === 'Voided') return `The document is ${status}`;
  if (status === 'Draft') return 'The document is a draft';
  if (message.kind === 'quote') return answerOf(record as QuoteRecord, message, { today, leavesOn });
  if (!message.reminder) return undefined;
  const invoice = record as InvoiceRecord;
  if (!isOpen(invoice)) return 'Nothing is due of the invoice any more';
  const { days, early } = message.reminder;
  // The day of a step is looked at with all that stops it.
  if (days === undefined && !early && today < invoice.due_date) return DUE_DATE_MOVED;
  if (dueOf(invoice) !== message.reminder.amount_due) return 'The sum that is due has changed';
  return undefined;
}

/**
 * Returns why a quote is not mailed. One that was accepted is mailed as a copy, unless its mail was planned for a later
 * time while it was an offer.
 */
function answerOf(
  quote: QuoteRecord,
  { of_accepted, send_at }: Pick<MessageRecord, 'of_accepted' | 'send_at'>,
  { today, leavesOn }: { today: string; leavesOn: string },
): string | undefined {
  const status = effectiveQuoteStatus(quote, today);
  if (status === 'Accepted') return of_accepted || !send_at ? undefined : 'The quote was accepted';
  if (status === 'Declined') return 'The quote was declined';
  if (status === 'Expired') return 'The quote has expired';
  const isLate = effectiveQuoteStatus(quote, leavesOn) === 'Expired';
  return isLate ? `The quote is valid until ${quote.expires_at}, and its mail was to leave later` : undefined;
}

const STOPS: Readonly<Record<ReminderStop, string>> = {
  'nothing due': 'Nothing is due of the invoice any more',
  off: 'Reminders were switched off',
  paused: 'Reminders are paused',
  promise: 'The client promised a day of payment',
  question: 'The client asked a question',
};

export const SENDER_GONE = 'The mail server of the account was deleted';

/** The reasons for which a mail is planned anew, with the document and the sender as they are now. */
const CHANGED = {
  document: 'The document was changed after the mail was made',
  address: 'The client has another address now',
  sender: 'The account sends from another address now',
  server: SENDER_GONE,
} as const;

/**
 * Returns why the message must not leave as things are in this transaction. Its last step before the contents asks.
 * @param shown see mailedVersion: the version in a mail that was just made, in place of the one in the kept mail.
 */
export async function reasonToWithdraw(
  { session, accountId }: Pick<UnitOfWork, 'session' | 'accountId'>,
  message: MessageRecord,
  shown: string | undefined = message.shown,
): Promise<string | undefined> {
  const record = await mailedRecord(accountId, message, session);
  const today = dayIn((await readAccount(accountId, session)).time_zone);
  const stop =
    staleness(message, record, today) ??
    (await stopReason({ session, accountId }, message, record)) ??
    (await revokedReason({ session, accountId }, message)) ??
    (await repeatedReason({ session, accountId }, message));
  if (stop !== undefined || !record) return stop;
  // A mail that may have arrived stays as it is: its recipients must not get two that differ.
  if (message.unknown_at || message.recipients.some(hasIt)) return undefined;
  if (shown === READDRESSED) return CHANGED.address;
  if (shown !== undefined && mailedVersion(message, message.document.type, record) !== shown) return CHANGED.document;
  // A server takes mail of its own sender.
  const server = message.sender === undefined ? undefined : await findMailServer(accountId, session);
  return server && server.from !== message.sender ? CHANGED.sender : undefined;
}

/** Returns why a link is not mailed again: its account has revoked the one in whose place it comes. */
async function revokedReason(
  { session, accountId }: Pick<UnitOfWork, 'session' | 'accountId'>,
  { link }: Pick<MessageRecord, 'link'>,
): Promise<string | undefined> {
  if (!link?.renews) return undefined;
  const renewed = await findOwn(DocumentLink, accountId, link.renews, session);
  return renewed && !renewed.revoked_at ? undefined : 'The link was revoked';
}

/** True of a recipient for which an earlier attempt was taken. */
export function hasIt({ state }: Recipient): boolean {
  return state === 'accepted' || state === 'bounced' || state === 'complained';
}

/** Returns what stops a reminder that no caller asked for. */
async function stopReason(
  { session, accountId }: Pick<UnitOfWork, 'session' | 'accountId'>,
  { _id, reminder, resend_of, unknown_at }: Pick<MessageRecord, '_id' | 'reminder' | 'resend_of' | 'unknown_at'>,
  record: MailedRecords[MailedKind] | null,
): Promise<string | undefined> {
  if (reminder?.days === undefined) return undefined;
  const invoice = record as InvoiceRecord;
  const client: ClientRecord | null = await findOwn(Client, accountId, invoice.client_id, session);
  const account = await readAccount(accountId, session);
  const today = dayIn(account.time_zone);
  const { reminder_rest } = invoice;
  const stop = stopOf({ isOpen: isOpen(invoice), rules: rulesOf(invoice, client), reminder_rest }, today);
  if (stop) return STOPS[stop];
  if (today < addDays(invoice.due_date, reminder.days)) return DUE_DATE_MOVED;
  if (!stepsOf(account).some(({ days }) => days === reminder.days)) return 'The account removed the step';
  if (client?.auto_collect && reminder.days < 0) return 'The account collects the money of the client';
  // The second copy of one that may have arrived is no other mail.
  if (unknown_at) return undefined;
  const now = agreedDate();
  const except = resend_of ? [_id, resend_of] : [_id];
  const quiet = await quietUntil({ session }, invoice, { at: now, except });
  return quiet && quiet > now ? 'Another mail about the invoice leaves or has just left' : undefined;
}

/**
 * Cancels a message that a worker has a lease of.
 * - A mail that shows a former version of its document, or a former sender, is planned anew, unless a later one about it was.
 * - The step of a reminder is free again. It is planned anew at once when another sum is due, and at the next look of the
 *   scheduler when something else stopped it.
 * @returns undefined when the lease is lost.
 */
export async function withdrawMessage(
  unit: UnitOfWork,
  message: MessageRecord,
  { leaseId, reason, now }: { leaseId: string; reason: string; now: Date },
): Promise<MessageRecord | undefined> {
  const values = { settledAt: now, attempt: { at: now, text: reason } };
  const withdrawn = await moveMessage(unit, message, { move: 'withdraw', facts: { leaseId }, values });
  // The client may have got one whose outcome is unknown.
  if (!withdrawn || withdrawn.unknown_at) return withdrawn;
  const isChanged = (Object.values(CHANGED) as string[]).includes(reason);
  if (!withdrawn.reminder && !isChanged) return withdrawn;
  const { once } = withdrawn;
  await freeStep(unit, withdrawn);
  const record = await mailedRecord(unit.accountId, withdrawn, unit.session);
  if (!record) return withdrawn;
  if (!withdrawn.reminder) {
    const today = dayIn((await readAccount(unit.accountId, unit.session)).time_zone);
    const isStale = staleness(withdrawn, record, today) !== undefined;
    if (!isStale && !(await hasLater(unit, withdrawn))) await planAnew(unit, withdrawn, record);
    return withdrawn;
  }
  const invoice = record as InvoiceRecord;
  if (!isOpen(invoice)) return withdrawn;
  const isStopped = (await stopReason(unit, withdrawn, invoice)) !== undefined;
  const isPlanned = !isStopped && (await planAnew(unit, withdrawn, invoice));
  if (!isPlanned && once) await setReminderMark(unit, invoice._id, now);
  return withdrawn;
}

/** Lets another message go out for the reason for which this one was to go out once. */
export async function freeStep(
  { session }: Pick<UnitOfWork, 'session'>,
  { _id, account_id, once }: Pick<MessageRecord, '_id' | 'account_id' | 'once'>,
): Promise<void> {
  if (once) await driverOf(Message).updateOne({ _id, account_id } as object, { $unset: { once: 1 } }, { session });
}

/** True when a later message of the same kind brings the document to the same recipients. */
async function hasLater(
  { session }: Pick<UnitOfWork, 'session'>,
  { _id, account_id, document, kind, recipients }: MessageRecord,
): Promise<boolean> {
  const later = { account_id, 'document.id': document.id, _id: { $gt: _id }, kind };
  const isOnItsWay = { state: { $nin: ['planned', 'failed', 'cancelled'] } };
  // The archive of the account may be another one since.
  const named = waitingOf({ recipients }).filter(({ archive }) => !archive);
  const toThem = { 'recipients.address': { $all: named.map(({ address }) => address) } };
  const wanted = { ...later, ...isOnItsWay, ...toThem } as object;
  return (await driverOf(Message).countDocuments(wanted, { session, limit: 1 })) > 0;
}

/** Returns the recipients of a withdrawn message for whom it was withdrawn. The mail server rejected the others for good. */
function waitingOf({ recipients }: Pick<MessageRecord, 'recipients'>): Recipient[] {
  return recipients.filter(({ state }) => state === 'cancelled');
}

/** Plans the mail with the document as it is now, to the same recipients and in the same words. @returns whether it could. */
async function planAnew(unit: UnitOfWork, message: MessageRecord, record: MailedRecords[MailedKind]): Promise<boolean> {
  const { kind, document, once, reminder, texts, link, request_id, by, resend_of } = message;
  const { subject_template, body_template, attach_pdf } = message;
  const recipients = await repeatedRecipients(unit, waitingOf(message));
  if (recipients.length === 0) return false;
  const wanted = { subject: subject_template, message: body_template, attach_pdf };
  try {
    await planMessage(unit, {
      ...{ kind, type: document.type, record, wanted, recipients, texts, link, requestId: request_id, by },
      ...(once ? { once } : {}),
      ...(resend_of ? { resendOf: resend_of } : {}),
      ...(reminder?.days === undefined ? {} : { days: reminder.days }),
      early: reminder?.early,
    });
    return true;
  } catch (error) {
    // planMessage throws these before it writes.
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    return false;
  }
}
