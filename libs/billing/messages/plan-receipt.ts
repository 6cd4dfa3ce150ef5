// Plans the receipt that goes out by itself after a payment, once, and finds the page that a receipt links to.
import { AppError, type ErrorCode } from '../../errors.ts';
import type { AccountRecord } from '../../models/accounts/account.ts';
import { liveAmount, type PaymentRecord } from '../../models/billing/payment.ts';
import type { MailedLink } from '../../models/messages/message.ts';
import { storedId } from '../../models/tenant.ts';
import { ACTS_OF } from '../../rules/documents/link-terms.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { planMessage } from './plan-message.ts';

/** Reasons for which no receipt goes out. The payment is booked all the same. */
const WITHOUT_RECEIPT: readonly ErrorCode[] = ['mail_not_set_up', 'client_without_address', 'recipient_suppressed'];

/** The link in receipts that go out by themselves. */
const LINK: MailedLink = { type: 'invoice', allow: ACTS_OF.invoice, show_time: false };

/**
 * Returns the link of a receipt, to the page of the invoice that was paid. Undefined when the money paid no invoice, or
 * several: no page shows just those.
 */
export function receiptLink({ allocations }: PaymentRecord, link: MailedLink = LINK): MailedLink | undefined {
  const paid = new Set(allocations.filter((part) => liveAmount(part) > 0).map(({ invoice_id }) => String(invoice_id)));
  const [only] = paid;
  return only !== undefined && paid.size === 1 ? { ...link, invoice_id: storedId(only) } : undefined;
}

/** Plans the receipt if the account wants one of each payment. Money that an import books came long ago. */
export async function planReceipt(
  unit: UnitOfWork,
  payment: PaymentRecord,
  { receipts }: Pick<AccountRecord, 'receipts'>,
): Promise<void> {
  if (!receipts || payment.source === 'import') return;
  const once = `receipt/${String(payment._id)}`;
  try {
    const link = receiptLink(payment);
    await planMessage(unit, { kind: 'receipt', type: 'payment', record: payment, wanted: {}, link, once });
  } catch (error) {
    // These are thrown before anything is written.
    if (!(error instanceof AppError) || !WITHOUT_RECEIPT.includes(error.code as ErrorCode)) throw error;
  }
}
