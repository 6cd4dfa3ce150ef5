// Reads the payments and credits of an invoice as its client sees them.
import { CreditNote, type CreditNoteRecord } from '#libs/models/billing/credit-note.ts';
import type { InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { Payment, type PaymentRecord } from '#libs/models/billing/payment.ts';
import { driverOf } from '#libs/models/records.ts';

/** The payments, and the credit notes, that are shown. Records with long lists of parts are cut in the database. */
const SHOWN_MAX = 50;
const PARTS_MAX = 50;

export interface Movement {
  kind: 'payment' | 'credit' | 'written_off';
  /** `YYYY-MM-DD`. */
  date: string;
  /** In the smallest unit, less what was refunded. */
  amount: number;
}

/** Returns what was paid, credited and written off and still stands, oldest first. */
export async function movementsOf(invoice: InvoiceRecord): Promise<{ movements: Movement[]; hasMore: boolean }> {
  const { amount_paid, amount_credited = 0 } = invoice;
  if (amount_paid + amount_credited + (invoice.amount_written_off ?? 0) === 0) return { movements: [], hasMore: false };
  // Credit of a payment counts as paid, and credit of a credit note as credited.
  const [paid, credited] = await Promise.all([
    partsOf<PaymentRecord>(Payment, invoice),
    partsOf<CreditNoteRecord>(CreditNote, invoice),
  ]);
  const payments = paid.slice(0, SHOWN_MAX);
  const notes = credited.slice(0, SHOWN_MAX);
  const movements = [
    ...payments.flatMap(({ status, allocations }) =>
      status === 'Voided'
        ? []
        : allocations
            .filter(({ released_on }) => !released_on)
            .map(({ date, amount, refunded }) => ({ kind: 'payment' as const, date, amount: amount - refunded })),
    ),
    ...notes.flatMap(({ allocations }) =>
      allocations
        .filter(({ released_on }) => !released_on)
        .map(({ date, amount }) => ({ kind: 'credit' as const, date, amount })),
    ),
    ...(invoice.write_offs ?? [])
      .filter(({ reversed_on }) => !reversed_on)
      .map(({ date, amount }) => ({ kind: 'written_off' as const, date, amount })),
  ];
  return {
    movements: movements.filter(({ amount }) => amount > 0).toSorted((one, other) => (one.date < other.date ? -1 : 1)),
    hasMore: paid.length > SHOWN_MAX || credited.length > SHOWN_MAX,
  };
}

/** Reads the latest records with parts on the invoice, each with these parts alone, and one more than are shown. */
async function partsOf<Stored>(records: Parameters<typeof driverOf>[0], { _id, account_id }: InvoiceRecord) {
  const own = { $filter: { input: '$allocations', cond: { $eq: ['$$this.invoice_id', _id] } } };
  const found = await driverOf(records)
    .find({ account_id, 'allocations.invoice_id': _id } as object, {
      projection: { status: 1, allocations: { $slice: [own, PARTS_MAX] } },
      sort: { _id: -1 },
      limit: SHOWN_MAX + 1,
    })
    .toArray();
  return found as unknown as Stored[];
}
