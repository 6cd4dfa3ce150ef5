// Finds the day on which an invoice was paid: the latest day of the amounts that settle it.
import { CreditNote } from '../../models/billing/credit-note.ts';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import { Payment } from '../../models/billing/payment.ts';
import { driverOf } from '../../models/records.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/**
 * Returns the day. The last booking does not tell it, because money may be booked later than money that came after it.
 * @param invoice with nothing due. Its allocations are stored.
 */
export async function paidOn({ session }: UnitOfWork, invoice: InvoiceRecord): Promise<string | undefined> {
  const days = (invoice.write_offs ?? []).filter(({ reversed_on }) => !reversed_on).map(({ date }) => date);
  for (const records of [Payment, CreditNote]) {
    const [latest] = await driverOf(records)
      .aggregate<{ day: string }>(latestAllocation(invoice), { session })
      .toArray();
    if (latest) days.push(latest.day);
  }
  return days.toSorted().at(-1);
}

function latestAllocation({ account_id, _id }: InvoiceRecord): object[] {
  const isLive = { $gt: ['$allocations.amount', { $ifNull: ['$allocations.refunded', 0] }] };
  return [
    { $match: { account_id, 'allocations.invoice_id': _id } },
    { $project: { allocations: 1 } },
    { $unwind: '$allocations' },
    { $match: { 'allocations.invoice_id': _id, 'allocations.released_on': { $exists: false }, $expr: isLive } },
    { $group: { _id: null, day: { $max: '$allocations.date' } } },
  ];
}
