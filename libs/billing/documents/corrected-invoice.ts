// The invoice that a corrected one takes the place of.
import { appError, fieldProblem } from '../../errors.ts';
import { Invoice, type InvoiceRecord } from '../../models/billing/invoice.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import { findOwn } from '../../models/records.ts';
import type { Id, StoredId } from '../../models/tenant.ts';
import { dueOf } from '../../rules/money/balance.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

type Correction = Pick<InvoiceRecord, 'corrects' | 'corrects_number' | 'corrects_issued_on'>;

/**
 * Returns the fields of an invoice that corrects another one, or their removal. Only an invoice that was cancelled or
 * credited in whole can be corrected: otherwise both would be due.
 * @throws AppError 404 when it is not the account's, 400 when it is another client's, was never issued, or still stands.
 */
export async function correctionOf(
  { accountId, session }: Pick<UnitOfWork, 'accountId' | 'session'>,
  id: Id | StoredId | null,
  clientId: StoredId,
): Promise<Correction> {
  if (id === null) return { corrects: undefined, corrects_number: undefined, corrects_issued_on: undefined };
  const corrected = await findOwn(Invoice, accountId, id, session);
  if (!corrected) throw appError('invoice_not_found');
  if (!corrected.client_id.equals(clientId)) {
    throw fieldProblem('corrects', 'of_other_client', { records: 'an_invoice' });
  }
  const { status, is_reversed, issue_date, amount_written_off = 0 } = corrected;
  const number = printedNumber('invoice', corrected);
  // A write-off corrects nothing, and when it is taken back, the invoice is due again.
  const isWrittenOff = amount_written_off > 0 && dueOf(corrected) === 0;
  const isOver = is_reversed === true || (status === 'Cancelled' && !isWrittenOff);
  // A draft that was cancelled was never issued.
  if (!isOver || issue_date === undefined || !corrected.parties) {
    throw fieldProblem('corrects', 'invoice_still_stands', { number });
  }
  return { corrects: corrected._id, corrects_number: number, corrects_issued_on: issue_date };
}
