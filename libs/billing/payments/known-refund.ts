// Bounds the refunds of a record, and finds one by its external id, whether it was booked with a payment or with a credit note: money goes back once.
import { conflict } from '../../errors.ts';
import { CreditNote, type CreditNoteRecord } from '../../models/billing/credit-note.ts';
import { Payment, type PaymentRecord, type Refund } from '../../models/billing/payment.ts';
import { driverOf } from '../../models/records.ts';
import { type StoredId, storedId } from '../../models/tenant.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/** A payment is read and written whole, and so is a credit note. */
const REFUNDS_MAX = 500;

/** @throws AppError 409 when the payment or the credit note has as many refunds as it can have. */
export function requireRoomForRefund({ length }: readonly unknown[], noun: 'payment' | 'credit note'): void {
  if (length >= REFUNDS_MAX) throw conflict(`A ${noun} can have at most ${REFUNDS_MAX} refunds`);
}

export interface KnownRefund {
  /** The payment or the credit note. */
  of: StoredId;
  /** 0 when it was booked with a credit note that left nothing to refund. */
  amount: number;
  /** The invoice that it was taken from. */
  invoice_id?: StoredId | undefined;
}

/** All transactions of an account that write follow each other, so of two with one id the second finds the first. */
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
  const { amount = 0, invoice_id }: Partial<Refund> = refund ?? {}; // A credit note's has no invoice.
  return { of: known._id, amount, invoice_id };
}

/** The external ids of the refunds of a payment or a credit note, for its unique index; undefined when none has one. */
export function withExternalId(known: string[] | undefined, external_id: string | null | undefined) {
  return external_id ? [...(known ?? []), external_id] : known;
}
