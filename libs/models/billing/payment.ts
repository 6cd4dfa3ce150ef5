// A payment of a client: its allocations to invoices, its refunds, and the credit that is left.
import { fromMinor } from '../../rules/money/money.ts';
import { PAYMENT_METHODS, type PaymentMethod } from '../../rules/money/payment-methods.ts';
import { type ClientDetails, embeddedClient } from '../accounts/client.ts';
import type { ListingOf } from '../list-indexes.ts';
import { COUNTED_TOGETHER } from '../record-counts.ts';
import { recordSchema } from '../record-schema.ts';
import { recordsOf, type Stamped } from '../records.ts';
import { idField, requiredIdField, type StoredId } from '../tenant.ts';
import {
  ALLOCATION_FIELDS,
  type CreditAllocation,
  type CreditRefund,
  REFUND_FIELDS,
  refundView,
} from './allocation.ts';
import { printedNumber } from './number-ledger.ts';
import { frozenClient, type Parties, partiesField } from './parties.ts';

/**
 * The origin of the booking: a caller, a change of an invoice to Paid, the hosted page, a payment provider, or an
 * import.
 */
export const PAYMENT_SOURCES = ['api', 'marked_paid', 'page', 'provider', 'import'] as const;

export type PaymentSource = (typeof PAYMENT_SOURCES)[number];

export const PAYMENT_STATUSES = ['Received', 'Voided'] as const;

type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** An allocation of a payment to an invoice. It is never edited: it is released, or a refund takes from it. */
export interface Allocation extends CreditAllocation {
  /** The part of `amount` that was refunded to the client. */
  refunded: number;
}

/** A refund from the credit, or from what was paid on an invoice. */
export interface Refund extends CreditRefund {
  invoice_id?: StoredId | undefined;
  invoice_number?: string | undefined;
  /** The amounts that the refund took from the allocations to that invoice. */
  taken?: { allocation_id: StoredId; amount: number }[] | undefined;
}

/** A stored payment. Amounts are in the currency's smallest unit. */
export interface PaymentRecord extends Stamped {
  /** The number in the account's sequence. 0 in a dry run, which draws none. */
  number: number;
  number_text?: string | undefined;
  number_period?: string | undefined;
  client_id: StoredId;
  currency: string;
  amount: number;
  /** The amount that no invoice and no refund has. */
  unallocated: number;
  /** The day on which the money came, `YYYY-MM-DD`. */
  date: string;
  method: PaymentMethod;
  reference: string | null;
  external_id?: string | undefined;
  note: string | null;
  source: PaymentSource;
  status: PaymentStatus;
  void_reason?: string | undefined;
  /** `YYYY-MM-DD`. */
  voided_on?: string | undefined;
  allocations: Allocation[];
  /**
   * The number of `allocations` at the booking, for a payment with an `external_id`. A repeated request must name the
   * same ones.
   */
  allocated_at_booking?: number | undefined;
  /** The one invoice that a payment with an `external_id` was booked for, even where nothing was due of it. */
  booked_for?: StoredId | undefined;
  refunds: Refund[];
  /** The external ids of `refunds`, for the unique index. */
  refund_external_ids?: string[] | undefined;
  /** The parties at the time of the payment: a receipt does not change with the profile. */
  parties: Parties;
}

const allocation = { ...ALLOCATION_FIELDS, refunded: { type: Number, required: true } };

const refund = {
  ...REFUND_FIELDS,
  invoice_id: idField,
  invoice_number: String,
  taken: {
    type: [{ _id: false, allocation_id: requiredIdField, amount: { type: Number, required: true } }],
    default: undefined,
  },
};

export const paymentListing: ListingOf<PaymentRecord, 'created_at' | 'updated_at' | 'date'> = {
  filters: ['client_id', 'allocations.invoice_id'],
  orders: { created_at: '_id', updated_at: 'updated_at', date: 'date' },
  standard: '-created_at',
  ranges: ['date'],
  // The issuer may contain an inlined logo.
  omitted: ['parties.issuer'],
};

const paymentSchema = recordSchema<PaymentRecord>(
  'payments',
  {
    number: { type: Number, required: true },
    number_text: String,
    number_period: String,
    client_id: requiredIdField,
    currency: { type: String, required: true },
    amount: { type: Number, required: true },
    unallocated: { type: Number, required: true },
    date: { type: String, required: true },
    method: { type: String, enum: PAYMENT_METHODS, required: true },
    reference: String,
    external_id: String,
    note: String,
    source: { type: String, enum: PAYMENT_SOURCES, required: true },
    status: { type: String, enum: PAYMENT_STATUSES, required: true },
    void_reason: String,
    voided_on: String,
    allocations: [allocation],
    allocated_at_booking: Number,
    booked_for: idField,
    refunds: [refund],
    refund_external_ids: { type: [String], default: undefined },
    parties: partiesField,
  },
  paymentListing,
);
// A payment or refund with an external id is booked once.
paymentSchema.index(
  { account_id: 1, external_id: 1 },
  { unique: true, partialFilterExpression: { external_id: { $exists: true } } },
);
paymentSchema.index(
  { account_id: 1, refund_external_ids: 1 },
  { unique: true, partialFilterExpression: { refund_external_ids: { $exists: true } } },
);
/** The index along which operators see the money of a day over all accounts. It has every field that they read. */
export const DATED_PAYMENTS = { date: 1, status: 1, currency: 1, amount: 1 } as const;
paymentSchema.index(DATED_PAYMENTS);
// The credit of a client is found here: payments with something left of them.
paymentSchema.index(
  { account_id: 1, client_id: 1, unallocated: 1 },
  { partialFilterExpression: { unallocated: { $gt: 0 } } },
);

export const Payment = recordsOf<PaymentRecord>('Payment', paymentSchema, COUNTED_TOGETHER);

/** Returns the amount that an allocation pays of its invoice today. */
export function liveAmount({ amount, refunded, released_on }: Allocation): number {
  return released_on === undefined ? amount - refunded : 0;
}

/** Returns the payment in the form of the API. */
export function paymentView(payment: PaymentRecord, client?: ClientDetails) {
  const { currency } = payment;
  const major = (amount: number) => fromMinor(amount, currency);
  return {
    id: String(payment._id),
    payment_number: payment.number === 0 ? null : printedNumber('payment', payment),
    client: client ? embeddedClient(client) : frozenClient(payment.parties),
    amount: major(payment.amount),
    currency,
    date: payment.date,
    method: payment.method,
    reference: payment.reference ?? null,
    external_id: payment.external_id ?? null,
    note: payment.note ?? null,
    source: payment.source,
    status: payment.status,
    void_reason: payment.void_reason ?? null,
    voided_on: payment.voided_on ?? null,
    allocations: payment.allocations.map((part) => ({
      id: String(part._id),
      invoice: { id: String(part.invoice_id), invoice_number: part.invoice_number },
      amount: major(part.amount),
      refunded: major(part.refunded),
      date: part.date,
      released_on: part.released_on ?? null,
    })),
    refunds: payment.refunds.map((back) => ({
      ...refundView(back, major),
      invoice: back.invoice_id ? { id: String(back.invoice_id), invoice_number: back.invoice_number ?? '' } : null,
    })),
    unallocated: major(payment.unallocated),
    created_at: payment.created_at.toISOString(),
    updated_at: payment.updated_at.toISOString(),
  };
}

/** Returns the paid amount of an invoice, as `payment.recorded` carries it. */
export function recordedView(payment: PaymentRecord, { invoice_id, invoice_number, amount, date }: Allocation) {
  return {
    invoice_id: String(invoice_id),
    invoice_number,
    amount: fromMinor(amount, payment.currency),
    currency: payment.currency,
    date,
    client: frozenClient(payment.parties),
    payment_id: String(payment._id),
    payment_number: payment.number === 0 ? null : printedNumber('payment', payment),
    method: payment.method,
    reference: payment.reference ?? null,
  };
}
