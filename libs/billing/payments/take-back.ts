// Reverses allocations to invoices. If an invoice is due again, unallocated credit of its own credit notes is applied to it first.
import { CreditNote, type CreditNoteRecord, creditNoteView } from '../../models/billing/credit-note.ts';
import { readWithin } from '../../models/read-within.ts';
import { changeOwn, driverOf } from '../../models/records.ts';
import { type Id, type StoredId, storedId } from '../../models/tenant.ts';
import { dueOf } from '../../rules/money/balance.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { creditAllocation } from './allocations.ts';
import { findInvoices } from './payable-invoices.ts';
import { type Moved, moveBalance } from './settle-invoices.ts';

/** The credit notes of one response of the database, which is decoded in one turn of the event loop. One may have 700 KB. */
const BATCH = 4;

/**
 * Takes allocations back. It writes each invoice once, in the order of ids.
 * @param reversed the payment or credit note.
 */
export async function takeBack(
  unit: UnitOfWork,
  reversed: StoredId,
  { amounts, day }: { amounts: readonly { invoice_id: StoredId; amount: number }[]; day: string },
): Promise<Moved[]> {
  const sums = new Map<Id, number>();
  for (const { invoice_id, amount } of amounts) {
    sums.set(String(invoice_id), (sums.get(String(invoice_id)) ?? 0) + amount);
  }
  const moved: Moved[] = [];
  for (const invoice of await findInvoices(unit, [...sums.keys()].toSorted())) {
    const paid = -(sums.get(String(invoice._id)) ?? 0);
    moved.push(await applyOwnCredit(unit, await moveBalance(unit, invoice, { paid, day, reversed }), day));
  }
  return moved;
}

/**
 * Applies unallocated credit of an invoice's own credit notes when something is due again: a credit note takes off what
 * is due of its invoice before it is credit. Nothing is due of a cancelled invoice, whatever its sums leave.
 */
export async function applyOwnCredit(unit: UnitOfWork, { before, after }: Moved, day: string): Promise<Moved> {
  let invoice = after;
  if (!invoice.total_credited || invoice.status === 'Cancelled' || dueOf(invoice) === 0) return { before, after };
  for (const note of await ownCredit(unit, invoice._id)) {
    const amount = Math.min(dueOf(invoice), note.unallocated);
    if (amount === 0) break;
    const allocations = [...note.allocations, creditAllocation({ invoice, amount }, day)];
    const changes = { unallocated: note.unallocated - amount, allocations };
    const changed = await changeOwn(CreditNote, note, changes, unit.session);
    await unit.announce('credit_note.allocated', creditNoteView(changed));
    invoice = (await moveBalance(unit, invoice, { paid: 0, day, credited: { total: 0, applied: amount } })).after;
  }
  return { before, after: invoice };
}

async function ownCredit({ accountId, session }: UnitOfWork, invoice_id: StoredId): Promise<CreditNoteRecord[]> {
  const left = { account_id: storedId(accountId), invoice_id, unallocated: { $gt: 0 } } as object;
  return readWithin(driverOf(CreditNote).find(left, { session, sort: { _id: 1 }, batchSize: BATCH }), 'credit notes');
}
