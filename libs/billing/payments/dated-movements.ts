// Reads the movements of a client with their days from its invoices, payments and credit notes, for as-of.ts.
import { dayIn } from '../../day.ts';
import { appError } from '../../errors.ts';
import type { CreditAllocation, CreditRefund } from '../../models/billing/allocation.ts';
import { CreditNote, type CreditNoteRecord } from '../../models/billing/credit-note.ts';
import { Invoice, type InvoiceRecord } from '../../models/billing/invoice.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import { Payment, type PaymentRecord } from '../../models/billing/payment.ts';
import { readOwnAtOnce } from '../../models/own-snapshot.ts';
import type { Id, StoredId } from '../../models/tenant.ts';
import { totalOf } from '../../rules/money/balance.ts';
import { isDiscount } from '../../rules/money/early-payment.ts';
import type {
  CreditSource,
  DatedAmount,
  DatedCredit,
  DatedInvoice,
  DatedMovements,
  DatedPart,
  DatedRefund,
  DatedWriteOff,
} from './as-of.ts';

const MOVEMENTS_LIMIT_MS = 5_000;

/**
 * The most invoices, credits and parts of a balance of a past day. All of them are in memory, because their order
 * counts.
 */
const MOVEMENTS_MAX = 20_000;
/** The number of records that are read at a time. A payment has up to 500 parts. */
const BATCH = 10;

const PART_FIELDS = {
  'allocations._id': 1,
  'allocations.invoice_id': 1,
  'allocations.amount': 1,
  'allocations.date': 1,
  'allocations.released_on': 1,
  'refunds.amount': 1,
  'refunds.date': 1,
} as const;
const CREDIT_FIELDS = { number: 1, number_text: 1, currency: 1, amount: 1, ...PART_FIELDS } as const;
/**
 * The fields that a statement shows besides: the references that a client knows movements by, and what tells a discount
 * from another write-off. They are longer than all others together.
 */
const STATEMENT_FIELDS = {
  order_reference: 1,
  reference: 1,
  'refunds.reference': 1,
  invoice_number: 1,
  'write_offs.reason': 1,
  'write_offs.payment_id': 1,
} as const;
const INVOICE_FIELDS = {
  number: 1,
  number_text: 1,
  currency: 1,
  amount: 1,
  tax_amount: 1,
  rounding_amount: 1,
  issue_date: 1,
  created_at: 1,
  due_date: 1,
  status: 1,
  cancelled_on: 1,
  'write_offs.amount': 1,
  'write_offs.date': 1,
  'write_offs.reversed_on': 1,
} as const;

export interface MovementsRead {
  /** The time zone of the account, for invoices without an issue date. */
  timeZone: string;
  /** True to read what a statement shows, too. Without it no write-off counts as a discount. */
  isForStatement?: boolean;
  /** The most movements. MOVEMENTS_MAX unless given. */
  max?: number | undefined;
}

/**
 * Reads the fields of all movements that are added up.
 * @throws AppError 422 when there are more than may be read.
 */
export async function datedMovements(
  accountId: Id,
  client_id: StoredId,
  { timeZone, isForStatement = false, max = MOVEMENTS_MAX }: MovementsRead,
): Promise<DatedMovements> {
  const movements = { invoices: [] as DatedInvoice[], credits: [] as DatedCredit[], parts: [] as IdentifiedPart[] };
  let count = 0;
  const add = (more: number) => {
    count += 1 + more;
    if (count > max) throw appError('too_many_movements', { limit: max });
  };
  // All reads are at one instant.
  await readOwnAtOnce(accountId, MOVEMENTS_LIMIT_MS, async (reader) => {
    const each = <Stored>(records: Parameters<typeof reader.each>[0], projection: object, filter: object = {}) =>
      reader.each<Stored>(
        records,
        { client_id, ...filter },
        { projection: { ...projection, ...(isForStatement ? STATEMENT_FIELDS : {}) }, batchSize: BATCH },
      );
    // Drafts that were cancelled are left out.
    const issued = { status: { $ne: 'Draft' }, parties: { $exists: true } };
    for await (const invoice of each<InvoiceRecord>(Invoice, INVOICE_FIELDS, issued)) {
      add(invoice.write_offs?.length ?? 0);
      movements.invoices.push(datedInvoice(invoice, timeZone));
    }
    const ofPayment = { ...CREDIT_FIELDS, date: 1, status: 1, voided_on: 1, 'refunds.taken': 1 } as const;
    for await (const payment of each<PaymentRecord>(Payment, ofPayment)) {
      add(payment.allocations.length + payment.refunds.length);
      movements.credits.push(datedPayment(payment));
      movements.parts.push(...partsOfPayment(payment));
    }
    const ofNote = { ...CREDIT_FIELDS, tax_amount: 1, rounding_amount: 1, issued_on: 1 } as const;
    for await (const note of each<CreditNoteRecord>(CreditNote, ofNote)) {
      add(note.allocations.length + note.refunds.length);
      movements.credits.push(datedNote(note));
      movements.parts.push(...partsOfNote(note));
    }
  });
  // Ids ascend in the order in which they are made.
  return { ...movements, parts: movements.parts.toSorted((one, other) => (one.id < other.id ? -1 : 1)) };
}

function datedInvoice(invoice: InvoiceRecord, timeZone: string): DatedInvoice {
  const issued_on = invoice.issue_date ?? dayIn(timeZone, invoice.created_at);
  return {
    id: String(invoice._id),
    number: printedNumber('invoice', invoice),
    reference: invoice.order_reference ?? undefined,
    currency: invoice.currency,
    total: totalOf(invoice),
    issued_on,
    due_date: invoice.due_date,
    cancelled_on: invoice.status === 'Cancelled' ? (invoice.cancelled_on ?? issued_on) : undefined,
    writtenOff: writeOffsOf(invoice),
  };
}

function datedPayment(payment: PaymentRecord): DatedCredit {
  const { _id, currency, amount, date, status, voided_on, refunds } = payment;
  const ended_on = status === 'Voided' ? (voided_on ?? date) : undefined;
  const refunded = refunds.map(datedRefund);
  const reference = payment.reference ?? undefined;
  return { id: String(_id), currency, amount, date, ended_on, refunded, reference, source: paymentSource(payment) };
}

function datedNote(note: CreditNoteRecord): DatedCredit {
  const { _id, currency, issued_on: date, refunds, invoice_number: reference } = note;
  const refunded = refunds.map(datedRefund);
  return { id: String(_id), currency, amount: totalOf(note), date, refunded, reference, source: noteSource(note) };
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
      taken.filter(({ allocation_id }) => allocation_id.equals(part._id)).map(({ amount }) => ({ amount, from: date })),
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

function writeOffsOf({ write_offs = [] }: InvoiceRecord): DatedWriteOff[] {
  return write_offs.map((one) => {
    const { amount, date, reversed_on } = one;
    return { amount, from: date, until: reversed_on, isDiscount: isDiscount(one) };
  });
}

function datedRefund({ amount, date, reference }: Pick<CreditRefund, 'amount' | 'date' | 'reference'>): DatedRefund {
  return { amount, from: date, reference: reference ?? undefined };
}
