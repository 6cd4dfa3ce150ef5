// What payments and credit notes have in common: parts that are on invoices, and money that went back.
import { PAYMENT_METHODS, type PaymentMethod } from '../../rules/money/payment-methods.ts';
import { requiredIdField, type StoredId } from '../tenant.ts';

/** A part that is on an invoice. It is never edited. */
export interface CreditAllocation {
  _id: StoredId;
  invoice_id: StoredId;
  /** As it is printed on the invoice. */
  invoice_number: string;
  amount: number;
  /** `YYYY-MM-DD`. */
  date: string;
  /** When it became credit again; the invoice counts it no more. */
  released_on?: string | undefined;
}

/** Money that went back. */
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

/** @param major makes major units of an amount. */
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
