// Draws a credit note over an issued invoice. It takes off what is due, and the paid amount becomes credit of the
// client or is refunded.

import { dayIn } from '../../day.ts';
import { appError } from '../../errors.ts';
import { type AccountRecord, readAccount } from '../../models/accounts/account.ts';
import type { CreditRefund } from '../../models/billing/allocation.ts';
import { CreditNote, type CreditNoteRecord, creditNoteView } from '../../models/billing/credit-note.ts';
import { Invoice, type InvoiceRecord } from '../../models/billing/invoice.ts';
import { referencesOf } from '../../models/billing/invoice-references.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import type { Parties } from '../../models/billing/parties.ts';
import { findOwn, insertOwn } from '../../models/records.ts';
import { type Id, newId, newRecord, storedId } from '../../models/tenant.ts';
import { type CreditReason, REVERSING } from '../../rules/credits/credit-reasons.ts';
import { sequenceOf } from '../../rules/documents/number-format.ts';
import { dueOf, totalOf } from '../../rules/money/balance.ts';
import { creditableOn } from '../../rules/money/early-payment.ts';
import { issueDateOf } from '../documents/issue-document.ts';
import { requirePrintableContent } from '../documents/printable-size.ts';
import { creditAllocation } from '../payments/allocations.ts';
import { dayOf } from '../payments/book-payment.ts';
import { withExternalId } from '../payments/known-refund.ts';
import { announceMoved, type Moved, moveBalance } from '../payments/settle-invoices.ts';
import { correctedPart, correctFixedPart } from '../quotes/fixed-amount.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { NOTHING_BILLED, releaseBilled } from '../work/release-billed.ts';
import { creditNotesOf, creditOf, type Earlier, type NewCreditNote, type RefundDetails } from './credit-content.ts';
import type { ChargedLines } from './credit-lines.ts';
import { type CreditedWork, chargedTime, creditedWork, releaseCreditedWork } from './named-work.ts';

export interface DrawnCreditNote {
  note: CreditNoteRecord;
  moved: Moved;
  account: AccountRecord;
  /** The credited work. Undefined when no work is named. */
  work: CreditedWork | undefined;
}

/**
 * Draws a credit note.
 * @throws AppError 404 for an invoice that is not the account's, 409 when it cannot be credited or less is left, 400,
 * 422.
 */
export async function drawCreditNote(unit: UnitOfWork, id: Id, given: NewCreditNote): Promise<DrawnCreditNote> {
  const { session, accountId } = unit;
  const base = newRecord(accountId);
  const account = await readAccount(accountId); // This is outside of the transaction, whose first step has to be drawing the number.
  const day = dayIn(account.time_zone);
  const drawn = await unit.drawNumber('credit_note', base._id, { formats: account.number_formats, day });
  const invoice = await findOwn(Invoice, accountId, id, session);
  if (!invoice) throw appError('invoice_not_found');
  requireCreditable(invoice, given.reason);
  const earlier = await creditNotesOf(unit, invoice._id);
  const { work, charged } = await workOf(unit, invoice, { earlier, given, locale: account.locale });
  const { money, content } = creditOf(invoice, earlier, { given, charged, work, locale: account.locale });
  requirePrintableContent(content);
  const total = totalOf(money);
  if (total === 0) requireReversing(invoice, given.reason);
  const applied = creditableOn(invoice, dueOf(invoice), total);
  const rest = total - applied;
  const sequence = sequenceOf('credit_note', drawn.number_period ?? '');
  const issued_on = (await issueDateOf(undefined, { session, accountId, account, sequence, isIssued: true })) ?? day;
  const back = { ...given.refund, earliest: issued_on, field: 'refund.date' };
  const refunds = given.settle === 'refund' && rest > 0 ? [refundOf(rest, account, back)] : [];
  const note: CreditNoteRecord = {
    ...base,
    ...drawn,
    client_id: invoice.client_id,
    invoice_id: invoice._id,
    invoice_number: printedNumber('invoice', invoice),
    invoice_issued_on: invoice.issue_date ?? dayIn(account.time_zone, invoice.created_at),
    ...referencesOf(invoice),
    ...money,
    ...content,
    ...work?.kept,
    reason: given.reason,
    settle: given.settle,
    applied_at_issue: applied,
    unallocated: refunds.length > 0 ? 0 : rest,
    allocations: applied > 0 ? [creditAllocation({ invoice, amount: applied }, day)] : [],
    refunds,
    // The id is kept even when there is nothing to refund, because a repeated request must find this credit note.
    refund_external_ids: given.settle === 'refund' ? withExternalId(undefined, given.refund?.external_id) : undefined,
    issued_on,
    parties: invoice.parties as Parties, // The parties were frozen when the invoice was issued.
  };
  await insertOwn(CreditNote, note, session);
  const reversed = isReversedBy(invoice, earlier, { ...given, total, work }) ? NOTHING_BILLED : undefined;
  const corrected = reversed ? undefined : { ...correctedPart(invoice, [...earlier, note]), ...work?.without };
  const moved = await moveBalance(unit, invoice, { paid: 0, day, credited: { total, applied, reversed, corrected } });
  return { note, moved, account, work };
}

/** Returns the named work, and the charged part of the hours where some were paid for before. */
async function workOf(
  unit: UnitOfWork,
  invoice: InvoiceRecord,
  { earlier, given, locale }: { earlier: readonly Earlier[]; given: NewCreditNote; locale: string },
): Promise<{ work?: CreditedWork; charged?: ChargedLines | undefined }> {
  const isNamed = given.time_entry_ids !== undefined || given.expense_ids !== undefined;
  const isPaidBefore = invoice.time?.prepaid !== undefined || invoice.time?.included !== undefined;
  if (!isNamed && !(given.line_items && isPaidBefore)) return {};
  const time = await chargedTime(unit, invoice, { earlier, locale });
  const charged = time?.byPlace;
  if (!isNamed) return { charged };
  return { charged, work: creditedWork(invoice, given, { earlier, time, reason: given.reason, locale }) };
}

/** Announces a credit note and its invoice, and releases the work that can be billed again. */
export async function announceCredited(
  unit: UnitOfWork,
  { note, moved, account, work }: DrawnCreditNote,
): Promise<void> {
  const view = creditNoteView(note);
  await unit.announce('credit_note.issued', view);
  if (note.refunds.length > 0) await unit.announce('credit_note.refunded', view);
  await announceMoved(unit, [moved], account.time_zone);
  if (moved.after.is_reversed) return releaseBilled(unit, moved.before);
  await correctFixedPart(unit, moved.before, moved.after);
  if (work?.without) await releaseCreditedWork(unit, moved.before, work, account.locale);
}

/**
 * Returns the refund to book.
 * @param earliest the day of the credit note.
 * @throws AppError 400 for a future day, or one before the credit note.
 */
export function refundOf(
  amount: number,
  account: AccountRecord,
  given: RefundDetails & { earliest: string; field?: string },
): CreditRefund {
  return {
    _id: storedId(newId()),
    amount,
    date: dayOf(given.date, account, given),
    method: given.method ?? 'other',
    reference: given.reference || null,
    external_id: given.external_id || undefined,
  };
}

/** True when something of an issued invoice is not credited yet. */
export function isCreditable(invoice: InvoiceRecord): boolean {
  return totalOf(invoice) > (invoice.total_credited ?? 0);
}

function requireCreditable(invoice: InvoiceRecord, reason: CreditReason): void {
  const { status } = invoice;
  if (status === 'Draft') throw appError('credit_of_draft');
  if (status === 'Cancelled') throw appError('credit_of_cancelled');
  if (totalOf(invoice) === 0) requireReversing(invoice, reason);
}

/** Checks the reason of a credit of 0. @throws AppError 409 for one that does not make work billable again. */
function requireReversing(invoice: InvoiceRecord, reason: CreditReason): void {
  if (REVERSING.includes(reason)) return;
  if (totalOf(invoice) > 0) throw appError('credit_of_nothing');
  throw appError('invoice_worth_nothing', { number: printedNumber('invoice', invoice) });
}

/** True when all of the invoice is credited, and each of its credit notes cancels or corrects it. */
function isReversedBy(
  invoice: InvoiceRecord,
  earlier: readonly Earlier[],
  { reason, total, isCancelling, work }: NewCreditNote & { total: number; work: CreditedWork | undefined },
): boolean {
  // A part of the work on an invoice of 0 is not all of it.
  if (totalOf(invoice) === 0 && work && !work.isAll) return false;
  if ((invoice.total_credited ?? 0) + total < totalOf(invoice)) return false;
  return isCancelling === true || [reason, ...earlier.map((one) => one.reason)].every((one) => REVERSING.includes(one));
}
