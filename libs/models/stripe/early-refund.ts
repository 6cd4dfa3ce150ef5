// A refund that Stripe reported before the payment that it is of. It is booked with the payment.
import type { Session } from '../../mongo/connection.ts';
import { recordSchema } from '../record-schema.ts';
import { driverOf, insertOwn, recordsOf, type Stamped } from '../records.ts';
import { type Id, newRecord, storedId } from '../tenant.ts';

export interface EarlyRefundRecord extends Stamped {
  /** The id of the payment at Stripe. */
  payment_intent: string;
  external_id: string;
  /** In the smallest unit. */
  amount: number;
  /** Absent on one of an older version. */
  currency?: string | undefined;
  day: string;
}

const earlyRefundSchema = recordSchema<EarlyRefundRecord>(
  'stripe_early_refunds',
  {
    payment_intent: { type: String, required: true },
    external_id: { type: String, required: true },
    amount: { type: Number, required: true },
    currency: String,
    day: { type: String, required: true },
  },
  { filters: [], orders: {}, standard: '' },
);
earlyRefundSchema.index({ account_id: 1, external_id: 1 }, { unique: true });
earlyRefundSchema.index({ account_id: 1, payment_intent: 1 });
// Most are of payments that have nothing to do with Billhook. Stripe repeats an event for three days.
earlyRefundSchema.index({ created_at: 1 }, { expireAfterSeconds: 40 * 24 * 3_600 });

export const EarlyRefund = recordsOf<EarlyRefundRecord>('StripeEarlyRefund', earlyRefundSchema);

/** The most refunds of one payment that are kept, as many as a payment has. */
const KEPT_MAX = 500;

/** Keeps a refund, once. */
export async function keepEarlyRefund(
  accountId: Id,
  refund: Pick<EarlyRefundRecord, 'payment_intent' | 'external_id' | 'amount' | 'currency' | 'day'>,
  session: Session,
): Promise<void> {
  const known = { account_id: storedId(accountId), external_id: refund.external_id } as object;
  if (await driverOf(EarlyRefund).findOne(known, { session })) return;
  await insertOwn(EarlyRefund, { ...newRecord(accountId), ...refund }, session);
}

/** Returns the refunds in the currency of their payment that came before it. */
export async function findEarlyRefunds(
  accountId: Id,
  { payment_intent, currency }: { payment_intent: string; currency: string },
  session: Session,
): Promise<EarlyRefundRecord[]> {
  const own = { account_id: storedId(accountId), payment_intent, currency: { $in: [currency, null] } } as object;
  const found = await driverOf(EarlyRefund)
    .find(own, { session, sort: { _id: 1 }, limit: KEPT_MAX, batchSize: KEPT_MAX + 1 })
    .toArray();
  return found as unknown as EarlyRefundRecord[];
}
