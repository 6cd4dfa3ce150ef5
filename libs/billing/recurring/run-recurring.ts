// Makes the invoice of the next occurrence of a recurring invoice once: the transaction that makes the invoice also
// moves the record on.
import { addDays, dayIn } from '../../day.ts';
import { appError } from '../../errors.ts';
import { readAccount } from '../../models/accounts/account.ts';
import {
  RecurringInvoice,
  type RecurringInvoiceRecord,
  type RunFailure,
  recurringInvoiceView,
} from '../../models/billing/recurring-invoice.ts';
import { changeOwn, findOwn } from '../../models/records.ts';
import type { Id, StoredId } from '../../models/tenant.ts';
import { createInvoice, type MadeInvoice } from '../documents/create-invoice.ts';
import { drawDocument } from '../documents/new-document.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { dueNow, NotDue, type RunWanted } from './due-occurrence.ts';
import { linkAgain, moveOn } from './move-on.ts';
import { contentOf } from './occurrence-content.ts';
import { recurringView } from './recurring-view.ts';
import { workToTakeAlong } from './work-of-occurrence.ts';

/**
 * Makes the next invoice.
 * @throws NotDue, NothingToBill, and AppError as createInvoice and selectTime do. Nothing is stored then.
 */
export async function runRecurring(
  unit: UnitOfWork,
  id: Id | StoredId,
  running: RunWanted,
): Promise<{ view: MadeInvoice['view']; next: RecurringInvoiceRecord }> {
  const drawn = await drawDocument(unit, 'invoice', undefined);
  const due = await dueNow(unit, id, { account: drawn.account, ...running });
  const { work, isCut } = await workToTakeAlong(unit, due);
  const made = await createInvoice(unit, drawn, contentOf(due, work));
  await work?.claim(made.invoice);
  const next = await (due.leftOut ? linkAgain(unit, due, due.leftOut, made) : moveOn(unit, due, made));
  if (isCut) await unit.announce('recurring_invoice.time_left', recurringInvoiceView(next, made));
  return { view: made.view, next };
}

/**
 * Moves on to the next occurrence when the due one had nothing to bill.
 * @throws NotDue, also when another one is due by now.
 */
export async function skipOccurrence(
  unit: UnitOfWork,
  { _id, next_index }: Pick<RecurringInvoiceRecord, '_id' | 'next_index'>,
  at: Date,
): Promise<RecurringInvoiceRecord> {
  const account = await readAccount(unit.accountId, unit.session);
  const due = await dueNow(unit, _id, { account, at, isByHand: false });
  if (due.now.index !== next_index) throw new NotDue();
  return moveOn(unit, due, undefined);
}

/**
 * Skips the next occurrence on purpose.
 * @param on its day, so that a repeated request skips no other.
 * @throws AppError 409 for another day.
 */
export async function skipNext(
  unit: UnitOfWork,
  id: Id | StoredId,
  { at, on, missing }: Omit<RunWanted, 'isByHand'> & { on: string },
): Promise<RecurringInvoiceRecord> {
  const account = await readAccount(unit.accountId, unit.session);
  const due = await dueNow(unit, id, { account, at, on, missing, isByHand: true });
  if (due.leftOut) throw appError('recurring_day_left_out', { day: on });
  return moveOn(unit, due, undefined);
}

/** Records the reason why the due occurrence could not be made. The scheduler tries again on the next day. */
export async function recordFailure(
  { accountId, session, announce }: UnitOfWork,
  failed: Pick<RecurringInvoiceRecord, '_id' | 'next_index'>,
  failure: RunFailure,
): Promise<void> {
  const recurring = await findOwn(RecurringInvoice, accountId, failed._id, session);
  if (recurring?.status !== 'Active' || recurring.next_index !== failed.next_index) return;
  const { time_zone } = await readAccount(accountId, session);
  const changes = { last_error: failure, retry_on: addDays(dayIn(time_zone, failure.at), 1) };
  const changed = await changeOwn(RecurringInvoice, recurring, changes, session);
  await announce('recurring_invoice.failed', await recurringView(changed, accountId, session));
}
