// Withdraws a message whose document changed before the mail left. A reminder of another sum is planned anew.
import { dayIn } from '../../day.ts';
import type { RecordOfKind } from '../../documents/printed-content.ts';
import { AppError } from '../../errors.ts';
import { readAccount } from '../../models/accounts/account.ts';
import { Client, type ClientRecord } from '../../models/accounts/client.ts';
import { CreditNote } from '../../models/billing/credit-note.ts';
import { Invoice, type InvoiceRecord, isOpen } from '../../models/billing/invoice.ts';
import { Payment } from '../../models/billing/payment.ts';
import { Quote } from '../../models/billing/quote.ts';
import { Message, type MessageRecord } from '../../models/messages/message.ts';
import { driverOf, findOwn } from '../../models/records.ts';
import type { Id } from '../../models/tenant.ts';
import type { Session } from '../../mongo/connection.ts';
import type { NumberKind } from '../../rules/documents/number-kinds.ts';
import { dueOf } from '../../rules/money/balance.ts';
import { type ReminderStop, stopOf } from '../../rules/reminders/reminder-steps.ts';
import { rulesOf, setReminderMark } from '../reminders/plan-reminder.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { moveMessage } from './move-message.ts';
import { planMessage } from './plan-message.ts';

const RECORDS = { invoice: Invoice, quote: Quote, payment: Payment, credit_note: CreditNote } as const;

/** Returns the document that the message is about, or null when it was deleted. */
export function mailedRecord(
  accountId: Id,
  { document: { type, id } }: Pick<MessageRecord, 'document'>,
  session?: Session,
): Promise<RecordOfKind[NumberKind] | null> {
  return findOwn(RECORDS[type] as never, accountId, id, session) as Promise<RecordOfKind[NumberKind] | null>;
}

/** Returns why a mail about this document must not leave. The caller has read the document. */
export function staleness(message: MessageRecord, record: RecordOfKind[NumberKind] | null): string | undefined {
  if (!record) return 'The document was deleted';
  // A quote that was a draft again may have another one.
  if (!record.client_id.equals(message.client_id)) return 'The document has another client now';
  const status = 'status' in record ? record.status : undefined;
  if (status === 'Cancelled' || status === 'Voided') return `The document is ${status}`;
  if (!message.reminder) return undefined;
  const invoice = record as InvoiceRecord;
  if (!isOpen(invoice)) return 'Nothing is due of the invoice any more';
  if (dueOf(invoice) !== message.reminder.amount_due) return 'The sum that is due has changed';
  return undefined;
}

const STOPS: Readonly<Record<ReminderStop, string>> = {
  'nothing due': 'Nothing is due of the invoice any more',
  off: 'Reminders were switched off',
  paused: 'Reminders are paused',
  promise: 'The client promised a day of payment',
  question: 'The client asked a question',
};

/** Returns why the message must not leave as things are in this transaction. Its last step before the contents asks. */
export async function reasonToWithdraw(
  { session, accountId }: Pick<UnitOfWork, 'session' | 'accountId'>,
  message: MessageRecord,
): Promise<string | undefined> {
  const record = await mailedRecord(accountId, message, session);
  return staleness(message, record) ?? (await stopReason({ session, accountId }, message, record));
}

/** Returns what stops a reminder that no caller asked for. */
async function stopReason(
  { session, accountId }: Pick<UnitOfWork, 'session' | 'accountId'>,
  { reminder }: Pick<MessageRecord, 'reminder'>,
  record: RecordOfKind[NumberKind] | null,
): Promise<string | undefined> {
  if (reminder?.days === undefined) return undefined;
  const invoice = record as InvoiceRecord;
  const client: ClientRecord | null = await findOwn(Client, accountId, invoice.client_id, session);
  const today = dayIn((await readAccount(accountId, session)).time_zone);
  const { reminder_rest } = invoice;
  const stop = stopOf({ isOpen: isOpen(invoice), rules: rulesOf(invoice, client), reminder_rest }, today);
  return stop && STOPS[stop];
}

/**
 * Cancels a message that a worker has a lease of. The step of a reminder is free again: it is planned anew at once when
 * another sum is due, and at the next look of the scheduler when something else stopped it.
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
  if (!withdrawn?.reminder || withdrawn.unknown_at) return withdrawn;
  const { _id, account_id, once, document } = withdrawn;
  if (once) {
    await driverOf(Message).updateOne(
      { _id, account_id } as object,
      { $unset: { once: 1 } },
      { session: unit.session },
    );
  }
  const invoice: InvoiceRecord | null = await findOwn(Invoice, unit.accountId, document.id, unit.session);
  if (!invoice || !isOpen(invoice)) return withdrawn;
  const isStopped = (await stopReason(unit, withdrawn, invoice)) !== undefined;
  const isPlanned = !isStopped && (await planAnew(unit, withdrawn, invoice));
  if (!isPlanned && once) await setReminderMark(unit, invoice._id, now);
  return withdrawn;
}

/** Plans the reminder with the present sum, to the same recipients and in the same words. @returns whether it could. */
async function planAnew(unit: UnitOfWork, message: MessageRecord, invoice: InvoiceRecord): Promise<boolean> {
  const inRole = (wanted: string) =>
    message.recipients.filter(({ role }) => role === wanted).map(({ address }) => address);
  const { kind, once, reminder, link, request_id, subject_template, body_template, attach_pdf } = message;
  const wanted = {
    to: inRole('to'),
    cc: inRole('cc'),
    bcc: inRole('bcc'),
    subject: subject_template,
    message: body_template,
    attach_pdf,
  };
  try {
    await planMessage(unit, {
      ...{ kind, type: 'invoice', record: invoice, wanted, link, requestId: request_id, by: message.by },
      ...(once ? { once } : {}),
      ...(reminder?.days === undefined ? {} : { days: reminder.days }),
    });
    return true;
  } catch (error) {
    // planMessage throws these before it writes.
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    return false;
  }
}
