// Bounds the refunds of a record, and finds one by its external id, so that money goes back once. It looks in payments
// and credit notes.
import { appError } from '../../errors.ts';
import { CreditNote, type CreditNoteRecord } from '../../models/billing/credit-note.ts';
import { Payment, type PaymentRecord, type Refund } from '../../models/billing/payment.ts';
import { driverOf } from '../../models/records.ts';
import { type StoredId, storedId } from '../../models/tenant.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/** The most refunds. A payment is read and written as a whole, and so is a credit note. */
const REFUNDS_MAX = 500;

/**
 * Checks the number of refunds.
 * @throws AppError 409 when the payment or the credit note has as many as it can have.
 */
export function requireRoomForRefund({ length }: readonly unknown[], noun: 'payment' | 'credit_note'): void {
  if (length >= REFUNDS_MAX) throw appError('refund_limit_reached', { record: noun, limit: REFUNDS_MAX });
}

export interface KnownRefund {
  /** The payment or the credit note. */
  of: StoredId;
  /** The amount. 0 when it was booked with a credit note that left nothing to refund. */
  amount: number;
  /** The invoice that it was taken from. */
  invoice_id?: StoredId | undefined;
}

/**
 * Finds a refund. Writing transactions of an account follow each other, so of two with one id the second finds the
 * first.
 */
export async function findRefund(
  { accountId, session }: UnitOfWork,
  external_id: string,
): Promise<KnownRefund | undefined> {
  const wanted = { account_id: storedId(accountId), refund_external_ids: external_id } as object;
  const paid = await driverOf(Payment).findOne(wanted, { session });
  const known = (paid ?? (await driverOf(CreditNote).findOne(wanted, { session }))) as
    | PaymentRecord
    | CreditNoteRecord
    | null;
  const refund = known?.refunds.find((one) => one.external_id === external_id);
  if (!known) return undefined;
  const { amount = 0, invoice_id }: Partial<Refund> = refund ?? {}; // The refund of a credit note has no invoice.
  return { of: known._id, amount, invoice_id };
}

/**
 * Returns the external ids of the refunds of a payment or a credit note, for its unique index. Undefined when none has
 * one.
 */
export function withExternalId(known: string[] | undefined, external_id: string | null | undefined) {
  return external_id ? [...(known ?? []), external_id] : known;
}
