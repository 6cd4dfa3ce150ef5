// Plans the receipt that goes out by itself after a payment, once.
import { AppError, type ErrorCode } from '../../errors.ts';
import type { AccountRecord } from '../../models/accounts/account.ts';
import type { PaymentRecord } from '../../models/billing/payment.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { planMessage } from './plan-message.ts';

/** Reasons for which no receipt goes out. The payment is booked all the same. */
const WITHOUT_RECEIPT: readonly ErrorCode[] = ['mail_not_set_up', 'client_without_address', 'recipient_suppressed'];

/** Plans the receipt if the account wants one of each payment. Money that an import books came long ago. */
export async function planReceipt(
  unit: UnitOfWork,
  payment: PaymentRecord,
  { receipts }: Pick<AccountRecord, 'receipts'>,
): Promise<void> {
  if (!receipts || payment.source === 'import') return;
  const once = `receipt/${String(payment._id)}`;
  try {
    await planMessage(unit, { kind: 'receipt', type: 'payment', record: payment, wanted: {}, once });
  } catch (error) {
    // These are thrown before anything is written.
    if (!(error instanceof AppError) || !WITHOUT_RECEIPT.includes(error.code as ErrorCode)) throw error;
  }
}
