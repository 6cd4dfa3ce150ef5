// The movements of a client with their days, from its invoices, payments and credit notes: what as-of.ts sums.
import { dayIn } from '../day.ts';
import { CreditNote, type CreditNoteRecord } from '../models/billing/credit-note.ts';
import { Invoice, type InvoiceRecord } from '../models/billing/invoice.ts';
import { printedNumber } from '../models/billing/number-ledger.ts';
import { Payment, type PaymentRecord } from '../models/billing/payment.ts';
import { driverOf } from '../models/records.ts';
import { type Id, type StoredId, storedId } from '../models/tenant.ts';
import type { CreditSource, DatedAmount, DatedCredit, DatedInvoice } from './as-of.ts';
import { totalOf } from './balance.ts';

const MOVEMENTS_LIMIT_MS = 5_000;

/** @param timeZone of the account, for invoices without an issue date. */
export async function datedMovements(accountId: Id, client_id: StoredId, timeZone: string) {
  const read = <Stored>(records: Parameters<typeof driverOf>[0], filter: object = {}) =>
    driverOf(records)
      .find({ account_id: storedId(accountId), client_id, ...filter } as object, {
        maxTimeMS: MOVEMENTS_LIMIT_MS,
        projection: { parties: 0, line_items: 0, search: 0 },
      })
      .toArray() as Promise<unknown> as Promise<Stored[]>;
  const [invoices, payments, notes] = await Promise.all([
    read<InvoiceRecord>(Invoice, { status: { $ne: 'Draft' }, parties: { $exists: true } }), // Without drafts that were cancelled.
    read<PaymentRecord>(Payment),
    read<CreditNoteRecord>(CreditNote),
  ]);
  const issued = new Map(invoices.map((one) => [String(one._id), one.issue_date ?? dayIn(timeZone, one.created_at)]));
  const parts = [...payments.flatMap(partsOfPayment), ...notes.flatMap(partsOfNote)].map((part) => {
    // What was put on an invoice before it was issued was credit until then.
    const from = latest(part.from, issued.get(part.invoice) ?? part.from);
    return { ...part, from };
  });
  const onInvoice = Map.groupBy(parts, ({ invoice }) => invoice);
  const ofSource = Map.groupBy(parts, ({ source }) => source);
  return {
    invoices: invoices.map((invoice): DatedInvoice => {
      const id = String(invoice._id);
      const issued_on = issued.get(id) as string;
      return {
        currency: invoice.currency,
        total: totalOf(invoice),
        issued_on,
        due_date: invoice.due_date,
        cancelled_on: invoice.status === 'Cancelled' ? (invoice.cancelled_on ?? issued_on) : undefined,
        settled: [...(onInvoice.get(id) ?? []), ...writeOffsOf(invoice)],
      };
    }),
    credits: [
      ...payments.map((payment): DatedCredit => {
        const { currency, amount, date, status, voided_on, refunds } = payment;
        const ended_on = status === 'Voided' ? (voided_on ?? date) : undefined;
        const used = [...(ofSource.get(String(payment._id)) ?? []), ...refunds.map(datedRefund)];
        return { currency, amount, date, ended_on, used, source: paymentSource(payment) };
      }),
      ...notes.map((note): DatedCredit => {
        const used = [...(ofSource.get(String(note._id)) ?? []), ...note.refunds.map(datedRefund)];
        const { currency, issued_on: date } = note;
        return { currency, amount: totalOf(note), date, used, source: noteSource(note) };
      }),
    ],
  };
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

interface Part extends DatedAmount {
  invoice: Id;
  source: Id;
}

/** A refund of an invoice takes from its allocations on its own day. */
function partsOfPayment({ _id, allocations, refunds }: PaymentRecord): Part[] {
  return allocations.flatMap((part) => {
    const of = { invoice: String(part.invoice_id), source: String(_id), until: part.released_on };
    const taken = refunds.flatMap(({ date, taken = [] }) =>
      taken.filter(({ allocation_id }) => allocation_id.equals(part._id)).map(({ amount }) => ({ date, amount })),
    );
    return [
      { ...of, amount: part.amount, from: part.date },
      ...taken.map(({ date, amount }) => ({ ...of, amount: -amount, from: latest(date, part.date) })),
    ];
  });
}

function partsOfNote({ _id, allocations }: CreditNoteRecord): Part[] {
  return allocations.map(({ invoice_id, amount, date, released_on }) => {
    return { invoice: String(invoice_id), source: String(_id), amount, from: date, until: released_on };
  });
}

function writeOffsOf({ write_offs = [] }: InvoiceRecord): DatedAmount[] {
  return write_offs.map(({ amount, date, reversed_on }) => ({ amount, from: date, until: reversed_on }));
}

function datedRefund({ amount, date }: { amount: number; date: string }): DatedAmount {
  return { amount, from: date };
}

function latest(one: string, other: string): string {
  return one > other ? one : other;
}
