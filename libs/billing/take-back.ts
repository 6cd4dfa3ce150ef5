// Takes money back from invoices that it was paid on: they are due again.
import type { Id, StoredId } from '../models/tenant.ts';
import { findInvoices } from './payable-invoices.ts';
import { type Moved, moveBalance } from './settle-invoices.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** Takes what was paid back from the invoices, each written once however many allocations it had, in the order of ids. */
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
    moved.push(await moveBalance(unit, invoice, { paid, day, reversed }));
  }
  return moved;
}
