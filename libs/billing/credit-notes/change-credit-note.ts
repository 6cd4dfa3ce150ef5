// Uses the rest of a credit note: pays other invoices of the client with it, releases it from them, or refunds it.
import { partition } from 'es-toolkit/array/partition';
import { sumBy } from 'es-toolkit/math/sumBy';
import { dayIn } from '../../day.ts';
import { appError } from '../../errors.ts';
import { type AccountRecord, readAccount } from '../../models/accounts/account.ts';
import type { CreditAllocation } from '../../models/billing/allocation.ts';
import { CreditNote, type CreditNoteRecord, creditNoteView, liveCredit } from '../../models/billing/credit-note.ts';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import { readWithin } from '../../models/read-within.ts';
import { changeOwn, driverOf, findOwn } from '../../models/records.ts';
import { type Id, type StoredId, storedId } from '../../models/tenant.ts';
import { writtenAmount } from '../../rules/money/balance.ts';
import { exactMinor } from '../../rules/money/exact-amount.ts';
import { type Decimal, toMinor } from '../../rules/money/money.ts';
import { creditAllocation, furtherPart, releasable } from '../payments/allocations.ts';
import { findRefund, requireRoomForRefund, withExternalId } from '../payments/known-refund.ts';
import { findInvoices } from '../payments/payable-invoices.ts';
import { payInvoices } from '../payments/payment-parts.ts';
import { announceMoved, type Moved } from '../payments/settle-invoices.ts';
import { applyOwnCredit, takeBack } from '../payments/take-back.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import type { RefundDetails } from './credit-content.ts';
import { refundOf } from './draw-credit-note.ts';

/** The credit notes of one response of the database, which is decoded in one turn of the event loop. One may have 700 KB. */
const BATCH = 4;

/** Pays another invoice of the client from the rest. @throws AppError 404, 400 or 409 as for a payment. */
export async function allocateCreditNote(
  unit: UnitOfWork,
  note: CreditNoteRecord,
  { invoice_id, amount }: { invoice_id: Id; amount?: Decimal | undefined },
): Promise<CreditNoteRecord> {
  const number = printedNumber('credit_note', note);
  const part = await furtherPart(unit, note, { noun: 'credit_note', number, invoice_id, amount });
  const account = await readAccount(unit.accountId, unit.session);
  const day = dayIn(account.time_zone);
  const allocations = [...note.allocations, creditAllocation(part, day)];
  const changes = { unallocated: note.unallocated - part.amount, allocations };
  const changed = await changeOwn(CreditNote, note, changes, unit.session);
  const moved = await payInvoices(unit, { parts: [part], account, source: note, day });
  await unit.announce('credit_note.allocated', creditNoteView(changed));
  await announceMoved(unit, moved, account.time_zone);
  return changed;
}

/**
 * Makes an allocation to another invoice credit again, or all of them.
 * @throws AppError 404 when there is no such allocation, 409 when there is nothing to release.
 */
export async function releaseCreditNote(
  unit: UnitOfWork,
  note: CreditNoteRecord,
  id: Id | undefined,
): Promise<CreditNoteRecord> {
  const others = note.allocations.filter(({ invoice_id }) => !invoice_id.equals(note.invoice_id));
  const released = releasable(others, id, { noun: 'credit_note', worth: liveCredit });
  const account = await readAccount(unit.accountId, unit.session);
  const { changed, moved } = await release(unit, note, { released, account });
  await announceMoved(unit, moved, account.time_zone);
  return changed;
}

/**
 * Releases the credit of other invoices that is on an invoice, so that it can be cancelled. The caller announces the
 * invoice.
 */
export async function releaseCreditOn(
  unit: UnitOfWork,
  invoice_id: StoredId,
  account: AccountRecord,
): Promise<Moved[]> {
  const on = { account_id: storedId(unit.accountId), 'allocations.invoice_id': invoice_id } as object;
  const notes = await readWithin<CreditNoteRecord>(
    driverOf(CreditNote).find(on, { session: unit.session, sort: { _id: 1 }, batchSize: BATCH }),
    'credit notes',
  );
  const moved: Moved[] = [];
  for (const note of notes.filter((one) => !one.invoice_id.equals(invoice_id))) {
    const released = note.allocations.filter((part) => part.invoice_id.equals(invoice_id) && liveCredit(part) > 0);
    if (released.length === 0) continue;
    const all = (await release(unit, note, { released, account })).moved;
    const [own, others] = partition(all, ({ after }) => after._id.equals(invoice_id));
    moved.push(...own);
    await announceMoved(unit, others, account.time_zone);
  }
  return moved;
}

async function release(
  unit: UnitOfWork,
  note: CreditNoteRecord,
  { released, account }: { released: readonly CreditAllocation[]; account: AccountRecord },
) {
  const day = dayIn(account.time_zone);
  const allocations = note.allocations.map((part) => (released.includes(part) ? { ...part, released_on: day } : part));
  const unallocated = note.unallocated + sumBy(released, ({ amount }) => amount);
  const freed = await changeOwn(CreditNote, note, { allocations, unallocated }, unit.session);
  await unit.announce('credit_note.released', creditNoteView(freed), { activity: { parts: released } });
  const moved = await takeBack(unit, note._id, { amounts: released, day });
  const [own] = (await findInvoices(unit, [String(note.invoice_id)])) as [InvoiceRecord];
  const applied = await applyOwnCredit(unit, { before: own, after: own }, day);
  if (applied.after === own) return { changed: freed, moved };
  // The credit note itself has been applied again.
  const changed = await findOwn(CreditNote, unit.accountId, note._id, unit.session);
  if (!changed) throw new Error('a credit note is gone within its own transaction');
  return { changed, moved: [...moved, applied] };
}

/**
 * Books a refund.
 * @returns true when it was already booked under its `external_id`.
 * @throws AppError 409 for more than is left, 422.
 */
export async function refundCreditNote(
  unit: UnitOfWork,
  note: CreditNoteRecord,
  given: RefundDetails & { amount: Decimal },
): Promise<{ note: CreditNoteRecord; isKnown: boolean }> {
  const { currency, unallocated } = note;
  const known = given.external_id ? await findRefund(unit, given.external_id) : undefined;
  if (known) {
    const isSame = known.of.equals(note._id) && known.amount === toMinor(given.amount, currency);
    if (isSame) return { note, isKnown: true };
    throw appError('external_id_reused', { record: 'refund' });
  }
  requireRoomForRefund(note.refunds, 'credit_note');
  const amount = exactMinor(given.amount, currency);
  if (amount > unallocated) {
    const [sum, rest] = [writtenAmount(amount, currency), writtenAmount(unallocated, currency)];
    throw appError('refund_exceeds_credit', { amount: sum, left: rest, number: printedNumber('credit_note', note) });
  }
  const account = await readAccount(unit.accountId, unit.session);
  const refund = refundOf(amount, account, { ...given, earliest: note.issued_on });
  const refunds = [...note.refunds, refund];
  const refund_external_ids = withExternalId(note.refund_external_ids, given.external_id);
  const changes = { refunds, refund_external_ids, unallocated: unallocated - amount };
  const changed = await changeOwn(CreditNote, note, changes, unit.session);
  await unit.announce('credit_note.refunded', creditNoteView(changed));
  return { note: changed, isKnown: false };
}
