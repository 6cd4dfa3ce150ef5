// Lets an invoice show how long its reminders rest, whenever a promise or a question of its client changes.
import { dayIn } from '../../day.ts';
import { PaymentPromise, type PromiseRecord } from '../../models/answers/promise.ts';
import { Question, type QuestionRecord } from '../../models/answers/question.ts';
import { embeddedIn } from '../../models/billing/embedded.ts';
import { Invoice, type InvoiceRecord, invoiceView } from '../../models/billing/invoice.ts';
import { changeOwn, driverOf, isUnchanged, type Owned, type Records } from '../../models/records.ts';
import { effectiveInvoiceStatus } from '../../rules/documents/invoice-states.ts';
import { reminderRest } from '../../rules/reminders/reminder-rest.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/**
 * Stores and announces the rest that follows from the open promise and the oldest open question.
 * @param timeZone of the account.
 * @returns the invoice after it.
 */
export async function updateReminderRest(
  { session, accountId, announce }: UnitOfWork,
  invoice: InvoiceRecord,
  timeZone: string,
): Promise<InvoiceRecord> {
  const { _id, account_id } = invoice;
  const oldestOpen = async <Stored extends Owned>(records: Records<Stored>, about: object) =>
    (await driverOf(records).findOne({ account_id, ...about, status: 'open' } as object, {
      session,
      sort: { _id: 1 },
    })) as Stored | null;
  const promise = await oldestOpen<PromiseRecord>(PaymentPromise, { invoice_id: _id });
  const question = await oldestOpen<QuestionRecord>(Question, { 'document.id': _id });
  const change = {
    reminder_rest: reminderRest({
      promised_for: promise?.promised_for,
      asked_on: question ? dayIn(timeZone, question.created_at) : undefined,
    }),
  };
  if (isUnchanged(invoice, change)) return invoice;
  const changed = await changeOwn(Invoice, invoice, change, session);
  const embedded = await embeddedIn([changed], accountId, session);
  const status = effectiveInvoiceStatus(changed, dayIn(timeZone));
  await announce('invoice.updated', invoiceView(changed, { ...embedded(changed), status }));
  return changed;
}
