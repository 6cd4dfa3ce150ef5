// PATCH of an invoice: what it changes is computed, checked, stored and announced.

import { omit } from 'es-toolkit/object/omit';
import { changedTaxTerms, isTaxed, requireTaxpayers } from '#libs/billing/documents/changed-tax-terms.ts';
import { correctionOf } from '#libs/billing/documents/corrected-invoice.ts';
import { issuedFields } from '#libs/billing/documents/issue-document.ts';
import { requirePrintableContent } from '#libs/billing/documents/printable-size.ts';
import { requireReferences } from '#libs/billing/documents/project-of-client.ts';
import { endMail } from '#libs/billing/messages/end-mail.ts';
import { announceBooked, bookPayment } from '#libs/billing/payments/book-payment.ts';
import { announceQuotes } from '#libs/billing/quotes/announce-quotes.ts';
import { recalculatedFinal, requireDeductionsKept } from '#libs/billing/quotes/final-invoice.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { relinked } from '#libs/billing/work/given-texts.ts';
import { issueWork } from '#libs/billing/work/issue-work.ts';
import { NOTHING_BILLED, releaseBilled } from '#libs/billing/work/release-billed.ts';
import { dayIn } from '#libs/day.ts';
import { fieldProblem } from '#libs/errors.ts';
import { documentSearch } from '#libs/models/billing/document-search.ts';
import { isDayToWatch, isUnannounced, statusToStore } from '#libs/models/billing/expiry.ts';
import { Invoice, type InvoiceRecord, invoiceMarks } from '#libs/models/billing/invoice.ts';
import { changedFields, changeOwn, isUnchanged } from '#libs/models/records.ts';
import type { EventType } from '#libs/models/webhooks/event-types.ts';
import { effectiveInvoiceStatus, type InvoiceStatus, requireMove } from '#libs/rules/documents/invoice-states.ts';
import { dueOf } from '#libs/rules/money/balance.ts';
import { givenReminders } from '../fields/reminder-input.ts';
import { isPrintedTextIn } from '../fields/texts-input.ts';
import { updated } from '../http/response.ts';
import type { Context } from '../http/route.ts';
import { cancelWithCreditNote, freeMoney } from './cancel-invoice.ts';
import { changedContent, requireChangeable } from './change-invoice.ts';
import type { InvoiceChanges } from './input.ts';
import { viewOf } from './view.ts';

/** The event type of a change to each status. */
const EVENT_OF: Partial<Record<InvoiceStatus, EventType>> = {
  Sent: 'invoice.sent',
  Paid: 'invoice.paid',
  Overdue: 'invoice.overdue',
  Cancelled: 'invoice.cancelled',
};

export async function updateInvoice({ caller, body: given, commit, requireRecord }: Context<InvoiceChanges>) {
  return commit(async (unit) =>
    changeInvoice(unit, { invoice: await requireRecord(Invoice, unit.session), given, caller }),
  );
}

/** Makes the changes of a caller, also for an operation that issues the invoice by the way. */
export async function changeInvoice(
  unit: UnitOfWork,
  { invoice, given, caller }: { invoice: InvoiceRecord; given: InvoiceChanges; caller: Context['caller'] },
) {
  const { session, announce } = unit;
  const today = dayIn(caller.account.time_zone);
  const before = effectiveInvoiceStatus(invoice, today);
  const again = given.recalculate ? await recalculated(unit, invoice, given) : undefined;
  const body = withAmount(invoice, again ? { ...given, line_items: again.line_items } : given);
  const isMoved =
    body.status !== undefined && (body.status !== before || isUnannounced(invoice, body.status, 'Overdue'));
  if (body.status) requireMove(invoice, before, body.status);
  const changes = await changesOf(invoice, body, { isMoved, before, today }, unit);
  if (again) changes.quote_deducted = again.quote_deducted;
  if (before === 'Draft' && body.status === 'Sent') await requireDeductionsKept(unit, { ...invoice, ...changes });
  changes.search = documentSearch({ ...invoice, ...changes });
  if (!isMoved && isUnchanged(invoice, changes)) return updated(await viewOf(invoice, caller, { session }));
  const isBooked = body.status === 'Paid' && isMoved && dueOf(invoice) > 0;
  if (isBooked) return markPaid(unit, { invoice, changes, caller });
  if (body.status === 'Cancelled' && invoice.amount_paid > 0) await freeMoney(unit, invoice);
  const credited = changes.cancelled_on && (await cancelWithCreditNote(unit, invoice, changes));
  if (credited) {
    const view = await viewOf(credited.cancelled, caller, { session });
    await announce('invoice.updated', view);
    await credited.announce();
    return updated(view);
  }
  if (isMoved) Object.assign(changes, await endMail(unit, 'invoice', { ...invoice, ...changes }));
  const changed = await changeOwn(Invoice, invoice, changes, session);
  // The response shows the status that was set, even when the due date has passed already; the next read says Overdue.
  const view = await viewOf(changed, caller, { session, status: body.status });
  await announce('invoice.updated', view);
  const event = isMoved && body.status && EVENT_OF[body.status];
  if (event) await announce(event, view);
  if (changes.parties) await issueWork(unit, changed);
  if (changed.status === 'Cancelled') await releaseBilled(unit, invoice);
  await announceQuotes(unit, [{ before: invoice, after: changed }]);
  return updated(view);
}

/** Books what is due as a payment of today. The status follows it; the other changes are stored first. */
async function markPaid(
  unit: UnitOfWork,
  { invoice, changes, caller }: { invoice: InvoiceRecord; changes: Partial<InvoiceRecord>; caller: Context['caller'] },
) {
  const others = omit(changes, ['status', 'expires_on', 'reminder_due_at']);
  if (!isUnchanged(invoice, others)) await changeOwn(Invoice, invoice, others, unit.session);
  const pays = { invoice_id: String(invoice._id) };
  const booked = await bookPayment(unit, { pays, method: 'other', source: 'marked_paid' });
  const paid = booked.moved[0]?.after ?? invoice;
  const view = await viewOf(paid, caller, { session: unit.session });
  await unit.announce('invoice.updated', view);
  await announceBooked(unit, booked);
  return updated(view);
}

/** @throws AppError 400 beside other money, 409 for another invoice than a draft final one. */
async function recalculated(unit: UnitOfWork, invoice: InvoiceRecord, given: InvoiceChanges) {
  const beside = ['line_items', 'amount', 'currency', 'prices_include_tax'].filter((name) => name in given);
  if (beside.length > 0) {
    throw fieldProblem('recalculate', 'not_together', { others: beside });
  }
  return recalculatedFinal(unit, invoice);
}

/** Leaves out an amount of null: the lines decide it. @throws AppError 400 when there are none. */
function withAmount(invoice: InvoiceRecord, given: InvoiceChanges): InvoiceChanges {
  const lines = given.line_items === undefined ? invoice.line_items : given.line_items;
  if (given.amount === null && !lines?.length) throw fieldProblem('amount', 'required');
  const body = { ...given };
  if (body.amount === null) delete body.amount;
  return body;
}

async function changesOf(
  invoice: InvoiceRecord,
  body: InvoiceChanges,
  { isMoved, before, today }: { isMoved: boolean; before: InvoiceStatus; today: string },
  { session, accountId, warnings }: UnitOfWork,
): Promise<Partial<InvoiceRecord>> {
  const due_date = body.due_date ?? invoice.due_date;
  const reminders = givenReminders(body);
  const unit = { session, accountId };
  const content = changedContent(invoice, body, isTaxed(body) ? await changedTaxTerms(unit, invoice, body) : undefined);
  // Another client has other invoices, so that the correction of a draft is checked again.
  const corrects = body.corrects === undefined && content.client_id ? invoice.corrects : body.corrects;
  if (corrects !== undefined) {
    Object.assign(content, await correctionOf(unit, corrects, content.client_id ?? invoice.client_id));
  }
  requireChangeable(invoice, { next: { ...content, due_date, ...reminders }, changes: body, status: before });
  if (isPrintedTextIn(content)) requirePrintableContent({ ...invoice, ...content });
  await requireReferences({ document: invoice, next: content, accountId, session });
  if (isTaxed(body)) await requireTaxpayers(unit, { ...invoice, ...content });
  const { amount } = { ...invoice, ...content };
  const looks = effectiveInvoiceStatus({ status: invoice.status, amount, due_date }, today);
  const status = statusToStore({ stored: invoice.status, looks }, body.status);
  const changes: Partial<InvoiceRecord> = { ...(before === 'Draft' ? content : {}), ...reminders, status, due_date };
  // Otherwise `expires_on` stays as the scheduler left it, so that no event is announced again for another day that has passed.
  const isWatched =
    isMoved || isDayToWatch({ expires_on: invoice.expires_on, lastDay: invoice.due_date }, due_date, today);
  if (isWatched) Object.assign(changes, invoiceMarks({ status: body.status ?? status, amount, due_date }));
  else if (invoice.status !== 'Draft' && !isUnchanged(invoice, { due_date, ...reminders })) {
    const { reminder_due_at } = invoiceMarks({ status, amount, due_date });
    Object.assign(changes, { reminder_due_at });
  }
  if (status === 'Cancelled') Object.assign(changes, NOTHING_BILLED);
  else if (changedFields(invoice, content).includes('line_items')) {
    Object.assign(changes, relinked(invoice, content.line_items ?? null));
  }
  // This status is for an invoice with nothing due. Otherwise a payment makes it Paid.
  if (status === 'Paid' && isMoved) changes.paid_on = today;
  if (status === 'Cancelled' && isMoved) Object.assign(changes, { cancelled_on: today, paid_on: undefined });
  const isIssued = status === 'Sent' && !invoice.parties;
  const issuing = { kind: 'invoice', isIssued, accountId, session, warnings } as const;
  Object.assign(changes, await issuedFields(invoice, content, issuing));
  return changes;
}
