// The fields that payments and credit notes share: allocations to invoices, and refunds.
import { PAYMENT_METHODS, type PaymentMethod } from '../../rules/money/payment-methods.ts';
import { requiredIdField, type StoredId } from '../tenant.ts';

/** An allocation to an invoice. It is never edited. */
export interface CreditAllocation {
  _id: StoredId;
  invoice_id: StoredId;
  /** The number as it is printed on the invoice. */
  invoice_number: string;
  amount: number;
  /** `YYYY-MM-DD`. */
  date: string;
  /** The day on which the amount became credit again. The invoice no longer counts it. */
  released_on?: string | undefined;
}

/** A refund to the client. */
export interface CreditRefund {
  _id: StoredId;
  amount: number;
  /** `YYYY-MM-DD`. */
  date: string;
  method: PaymentMethod;
  reference: string | null;
  external_id?: string | undefined;
}

export const ALLOCATION_FIELDS = {
  _id: requiredIdField,
  invoice_id: requiredIdField,
  invoice_number: { type: String, required: true },
  amount: { type: Number, required: true },
  date: { type: String, required: true },
  released_on: String,
};

export const REFUND_FIELDS = {
  _id: requiredIdField,
  amount: { type: Number, required: true },
  date: { type: String, required: true },
  method: { type: String, enum: PAYMENT_METHODS, required: true },
  reference: String,
  external_id: String,
};

/** Returns the refund in the form of the API. @param major converts an amount to major units. */
export function refundView(refund: CreditRefund, major: (amount: number) => number) {
  return {
    id: String(refund._id),
    amount: major(refund.amount),
    date: refund.date,
    method: refund.method,
    reference: refund.reference ?? null,
    external_id: refund.external_id ?? null,
  };
}
