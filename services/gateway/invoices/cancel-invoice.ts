// Side effects of cancelling an issued invoice: payments become credit, and the account may want a credit note.

import { omit } from 'es-toolkit/object/omit';
import { announceCredited, drawCreditNote, isCreditable } from '#libs/billing/credit-notes/draw-credit-note.ts';
import { releaseInvoice } from '#libs/billing/payments/change-payment.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { NOTHING_BILLED } from '#libs/billing/work/release-billed.ts';
import { readAccount } from '#libs/models/accounts/account.ts';
import { Invoice, type InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { changeOwn, isUnchanged } from '#libs/models/records.ts';

/** Turns the money that was paid for a cancelled invoice into credit of its client. */
export async function freeMoney(unit: UnitOfWork, invoice: InvoiceRecord): Promise<void> {
  const { accountId, session } = unit;
  const moved = await releaseInvoice(unit, invoice._id, await readAccount(accountId, session));
  const after = moved.at(-1)?.after;
  if (after) Object.assign(invoice, after);
}

/**
 * Cancels the invoice with a credit note over what is left of it. The other changes are stored first, the status follows.
 * @returns undefined, and nothing is done, unless the account wants it and something can be credited.
 */
export async function cancelWithCreditNote(
  unit: UnitOfWork,
  invoice: InvoiceRecord,
  changes: Partial<InvoiceRecord>,
): Promise<{ cancelled: InvoiceRecord; announce: () => Promise<void> } | undefined> {
  if (invoice.status === 'Draft' || !isCreditable(invoice)) return undefined;
  const account = await readAccount(unit.accountId, unit.session);
  if (!account.cancel_with_credit_note) return undefined;
  const billed = Object.keys(NOTHING_BILLED) as (keyof typeof NOTHING_BILLED)[];
  const others = omit(changes, ['status', 'expires_on', 'reminder_due_at', 'cancelled_on', ...billed]);
  if (!isUnchanged(invoice, others)) await changeOwn(Invoice, invoice, others, unit.session);
  const reason = 'cancellation';
  const drawn = await drawCreditNote(unit, String(invoice._id), { reason, settle: 'credit', isCancelling: true });
  return { cancelled: drawn.moved.after, announce: () => announceCredited(unit, drawn) };
}
