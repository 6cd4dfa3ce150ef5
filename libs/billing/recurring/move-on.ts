// Enters the run of an occurrence and moves its recurring invoice to the next one.
import { printedNumber } from '../../models/billing/number-ledger.ts';
import {
  RecurringInvoice,
  type RecurringInvoiceRecord,
  recurringInvoiceView,
} from '../../models/billing/recurring-invoice.ts';
import { RecurringRun, type RecurringRunRecord } from '../../models/billing/recurring-run.ts';
import { changeOwn, insertOwn } from '../../models/records.ts';
import { newRecord } from '../../models/tenant.ts';
import { occurrence } from '../../rules/time/recurrence.ts';
import type { MadeInvoice } from '../documents/create-invoice.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import type { Due } from './due-occurrence.ts';
import { recurringView } from './recurring-view.ts';
import { lastInvoice } from './unlink-occurrence.ts';

/** Enters the run and moves the record to the next occurrence. @param made undefined when there was nothing to bill. */
export async function moveOn(
  { accountId, session, announce }: UnitOfWork,
  { recurring, now, period, catchingUpTo }: Due,
  made: MadeInvoice | undefined,
): Promise<RecurringInvoiceRecord> {
  const invoice = made?.invoice;
  const number = invoice && printedNumber('invoice', invoice);
  await insertOwn(
    RecurringRun,
    {
      ...newRecord(accountId),
      recurring_id: recurring._id,
      occurrence: recurring.first_occurrence + now.index,
      due_on: now.on,
      ...(period.from === now.on ? {} : { period_from: period.from }),
      period_to: period.to,
      ...(invoice ? { invoice_id: invoice._id, invoice_number: number } : {}),
    },
    session,
  );
  const next = occurrence(recurring.schedule, now.index + 1);
  const isCaughtUp = catchingUpTo !== undefined && now.index >= catchingUpTo;
  const changed = await changeOwn(
    RecurringInvoice,
    recurring,
    {
      next_index: now.index + 1,
      next_on: next?.on,
      status: next ? recurring.status : 'Ended',
      catching_up_to: isCaughtUp ? undefined : catchingUpTo,
      made: recurring.made + (invoice ? 1 : 0),
      ...(invoice && number ? { last_invoice: { _id: invoice._id, invoice_number: number } } : {}),
      last_period_to: period.to,
      last_error: undefined,
      retry_on: undefined,
    },
    session,
  );
  const view = made ? recurringInvoiceView(changed, made) : await recurringView(changed, accountId, session);
  await announce(invoice ? 'recurring_invoice.ran' : 'recurring_invoice.updated', view);
  if (isCaughtUp) await announce('recurring_invoice.caught_up', view);
  if (!next) await announce('recurring_invoice.ended', view);
  return changed;
}

/** Enters the invoice of an occurrence that had none. */
export async function linkAgain(
  unit: UnitOfWork,
  { recurring }: Due,
  run: RecurringRunRecord,
  made: MadeInvoice,
): Promise<RecurringInvoiceRecord> {
  const { session, announce } = unit;
  const linked = { invoice_id: made.invoice._id, invoice_number: printedNumber('invoice', made.invoice) };
  await changeOwn(RecurringRun, run, linked, session);
  const last_invoice = await lastInvoice(unit, recurring._id);
  const changed = await changeOwn(RecurringInvoice, recurring, { made: recurring.made + 1, last_invoice }, session);
  await announce('recurring_invoice.ran', recurringInvoiceView(changed, made));
  return changed;
}
