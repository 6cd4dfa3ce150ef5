// A page of Stripe on which a client pays what is due of an invoice. The record is there before Stripe is asked, so that an answer
// that was lost is asked for again under the same key.
import type { Session } from '../../mongo/connection.ts';
import { recordSchema } from '../record-schema.ts';
import { driverOf, recordsOf, type Stamped } from '../records.ts';
import { type Id, requiredIdField, type StoredId, storedId } from '../tenant.ts';

export interface StripeCheckoutRecord extends Stamped {
  invoice_id: StoredId;
  /** The sum that was due, in the smallest unit. */
  amount: number;
  currency: string;
  /**
   * The address to which the client returns, sealed, because it has the token of the link. It is part of what Stripe was
   * asked.
   */
  return_to: string;
  expires_at: Date;
  /** `updated_at` of the settings that it was made with. Absent on pages of an earlier release. */
  settings_at?: Date | undefined;
  /** True until the page is paid, expired or replaced by another one. */
  is_live?: true | undefined;
  /** The id of the page. Absent until Stripe has answered. */
  session_id?: string | undefined;
  url?: string | undefined;
}

const checkoutSchema = recordSchema<StripeCheckoutRecord>(
  'stripe_checkouts',
  {
    invoice_id: requiredIdField,
    amount: { type: Number, required: true },
    currency: { type: String, required: true },
    return_to: { type: String, required: true },
    expires_at: { type: Date, required: true },
    settings_at: Date,
    is_live: Boolean,
    session_id: String,
    url: String,
  },
  { filters: [], orders: {}, standard: '' },
);
// An invoice has one page at a time, so that it is not paid twice.
checkoutSchema.index({ account_id: 1, invoice_id: 1 }, { unique: true, partialFilterExpression: { is_live: true } });
// The database removes them long after Stripe has forgotten their keys.
checkoutSchema.index({ expires_at: 1 }, { expireAfterSeconds: 40 * 24 * 3_600 });

export const StripeCheckout = recordsOf<StripeCheckoutRecord>('StripeCheckout', checkoutSchema);

/** Returns the page on which the invoice can be paid now. */
export async function findLiveCheckout(
  accountId: Id,
  invoice_id: StoredId,
  session?: Session,
): Promise<StripeCheckoutRecord | undefined> {
  const live = { account_id: storedId(accountId), invoice_id, is_live: true } as object;
  const found = await driverOf(StripeCheckout).findOne(live, session ? { session } : {});
  return (found as StripeCheckoutRecord | null) ?? undefined;
}

/** Records what Stripe answered. */
export async function openCheckout(
  { _id, account_id }: StripeCheckoutRecord,
  { session_id, url }: { session_id: string; url: string },
): Promise<void> {
  await driverOf(StripeCheckout).updateOne(
    { _id, account_id },
    { $set: { session_id, url, updated_at: new Date() } as never },
  );
}

/** Records that nothing can be paid on the page any more. */
export async function endCheckout(
  { _id, account_id }: Pick<StripeCheckoutRecord, '_id' | 'account_id'>,
  session?: Session,
): Promise<void> {
  const change = { $unset: { is_live: 1 } as never, $set: { updated_at: new Date() } as never };
  await driverOf(StripeCheckout).updateOne({ _id, account_id }, change, session ? { session } : {});
}
