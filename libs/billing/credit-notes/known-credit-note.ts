// Finds the credit note of a repeated request: same external id of the refund, same content.
import { isEqual } from 'es-toolkit/predicate/isEqual';
import { appError } from '../../errors.ts';
import { CreditNote, type CreditNoteRecord } from '../../models/billing/credit-note.ts';
import { findOwn } from '../../models/records.ts';
import type { Id } from '../../models/tenant.ts';
import type { LineItem } from '../../rules/documents/line-item.ts';
import { toMinor } from '../../rules/money/money.ts';
import { findRefund } from '../payments/known-refund.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import type { NewCreditNote } from './credit-content.ts';

const WORK = ['time_entry_ids', 'expense_ids'] as const;

/**
 * Finds the credit note.
 * @param id of the invoice.
 * @throws AppError 422 when the external id is that of another refund.
 */
export async function findKnownCreditNote(
  unit: UnitOfWork,
  id: Id,
  {
    amount,
    line_items,
    shipping_amount,
    reason,
    refund,
    ...named
  }: Omit<NewCreditNote, 'description' | 'settle' | 'isCancelling'>,
): Promise<CreditNoteRecord | undefined> {
  const known = refund?.external_id ? await findRefund(unit, refund.external_id) : undefined;
  if (!known) return undefined;
  const note = await findOwn(CreditNote, unit.accountId, known.of, unit.session);
  const isSame =
    note !== null &&
    String(note.invoice_id) === id &&
    note.reason === reason &&
    (amount === undefined || toMinor(amount, note.currency) === note.amount) &&
    (shipping_amount == null || toMinor(shipping_amount, note.currency) === (note.shipping_amount ?? 0)) &&
    (!line_items || holds(note.line_items ?? [], line_items)) &&
    WORK.every((name) => isEqual((note[name] ?? []).map(String).toSorted(), [...new Set(named[name])].toSorted()));
  if (isSame) return note;
  throw appError('external_id_reused', { record: 'refund' });
}

/**
 * True when the stored lines begin with the given ones. Stored lines also have the tax, and a difference of rounding
 * after them.
 */
function holds(stored: readonly LineItem[], given: readonly LineItem[]): boolean {
  return given.every((line, index) => isEqual({ ...stored[index], ...line }, stored[index]));
}
