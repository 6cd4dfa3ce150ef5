// The movements of a client with their days, from its invoices, payments and credit notes: what as-of.ts sums.
import { dayIn } from '../day.ts';
import type { CreditAllocation } from '../models/billing/allocation.ts';
import { CreditNote, type CreditNoteRecord } from '../models/billing/credit-note.ts';
import { Invoice, type InvoiceRecord } from '../models/billing/invoice.ts';
import { printedNumber } from '../models/billing/number-ledger.ts';
import { Payment, type PaymentRecord } from '../models/billing/payment.ts';
import { readOwnAtOnce } from '../models/own-snapshot.ts';
import type { Id, StoredId } from '../models/tenant.ts';
import type { CreditSource, DatedAmount, DatedCredit, DatedInvoice, DatedMovements, DatedPart } from './as-of.ts';
import { totalOf } from './balance.ts';

const MOVEMENTS_LIMIT_MS = 5_000;

/** @param timeZone of the account, for invoices without an issue date. */
export async function datedMovements(accountId: Id, client_id: StoredId, timeZone: string): Promise<DatedMovements> {
  const { invoices, payments, notes } = await recordsOf(accountId, client_id);
  const parts = [...payments.flatMap(partsOfPayment), ...notes.flatMap(partsOfNote)];
  return {
    invoices: invoices.map((invoice): DatedInvoice => {
      const issued_on = invoice.issue_date ?? dayIn(timeZone, invoice.created_at);
      return {
        id: String(invoice._id),
        currency: invoice.currency,
        total: totalOf(invoice),
        issued_on,
        due_date: invoice.due_date,
        cancelled_on: invoice.status === 'Cancelled' ? (invoice.cancelled_on ?? issued_on) : undefined,
        writtenOff: writeOffsOf(invoice),
      };
    }),
    credits: [
      ...payments.map((payment): DatedCredit => {
        const { _id, currency, amount, date, status, voided_on, refunds } = payment;
        const ended_on = status === 'Voided' ? (voided_on ?? date) : undefined;
        const refunded = refunds.map(datedRefund);
        return { id: String(_id), currency, amount, date, ended_on, refunded, source: paymentSource(payment) };
      }),
      ...notes.map((note): DatedCredit => {
        const { _id, currency, issued_on: date, refunds } = note;
        const refunded = refunds.map(datedRefund);
        return { id: String(_id), currency, amount: totalOf(note), date, refunded, source: noteSource(note) };
      }),
    ],
    // Ids ascend as they are made.
    parts: parts.toSorted((one, other) => (one.id < other.id ? -1 : 1)),
  };
}

/** All at one instant. */
function recordsOf(accountId: Id, client_id: StoredId) {
  return readOwnAtOnce(accountId, MOVEMENTS_LIMIT_MS, async (reader) => {
    const read = <Stored>(records: Parameters<typeof reader.find>[0], filter: object = {}) =>
      reader.find<Stored>(records, { client_id, ...filter }, { projection: { parties: 0, line_items: 0, search: 0 } });
    return {
      invoices: await read<InvoiceRecord>(Invoice, { status: { $ne: 'Draft' }, parties: { $exists: true } }), // Without drafts that were cancelled.
      payments: await read<PaymentRecord>(Payment),
      notes: await read<CreditNoteRecord>(CreditNote),
    };
  });
}

type Numbered<Stored extends { number: number }> = Pick<Stored, 'number'> & {
  _id: StoredId;
  number_text?: string | undefined;
};

export function paymentSource(payment: Numbered<PaymentRecord>): CreditSource {
  const payment_number = printedNumber('payment', payment);
  return { payment: { id: String(payment._id), payment_number }, credit_note: null };
}

export function noteSource(note: Numbered<CreditNoteRecord>): CreditSource {
  const credit_note_number = printedNumber('credit_note', note);
  return { payment: null, credit_note: { id: String(note._id), credit_note_number } };
}

type IdentifiedPart = DatedPart & { id: Id };

function partsOfPayment({ _id, allocations, refunds }: PaymentRecord): IdentifiedPart[] {
  return allocations.map((part) => {
    const taken = refunds.flatMap(({ date, taken = [] }) =>
      taken
        .filter(({ allocation_id }) => allocation_id.equals(part._id))
        .map(({ amount }) => datedRefund({ amount, date })),
    );
    return datedPart(_id, part, taken);
  });
}

function partsOfNote({ _id, allocations }: CreditNoteRecord): IdentifiedPart[] {
  return allocations.map((part) => datedPart(_id, part, []));
}

function datedPart(
  source: StoredId,
  { _id, invoice_id, amount, date, released_on }: CreditAllocation,
  taken: DatedAmount[],
): IdentifiedPart {
  const ids = { id: String(_id), invoice: String(invoice_id), source: String(source) };
  return { ...ids, amount, from: date, until: released_on, taken };
}

function writeOffsOf({ write_offs = [] }: InvoiceRecord): DatedAmount[] {
  return write_offs.map(({ amount, date, reversed_on }) => ({ amount, from: date, until: reversed_on }));
}

function datedRefund({ amount, date }: { amount: number; date: string }): DatedAmount {
  return { amount, from: date };
}
