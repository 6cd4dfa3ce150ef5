// Writes off what is due of an invoice, as a whole or in part, and reverses write-offs.
import { dayIn } from '../../day.ts';
import { appError } from '../../errors.ts';
import { readAccount } from '../../models/accounts/account.ts';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import type { Id } from '../../models/tenant.ts';
import { dueOf, writtenAmount } from '../../rules/money/balance.ts';
import { exactMinor } from '../../rules/money/exact-amount.ts';
import type { Decimal } from '../../rules/money/money.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { announceMoved, hasRoomForWriteOff, moveBalance, WRITE_OFFS_MAX } from './settle-invoices.ts';
import { applyOwnCredit } from './take-back.ts';

/**
 * Writes an amount off.
 * @param amount in major units. Defaults to what is due.
 * @throws AppError 409 when less is due, or it was never issued.
 */
export async function writeOff(
  unit: UnitOfWork,
  invoice: InvoiceRecord,
  { amount: given, reason }: { amount?: Decimal | undefined; reason: string },
): Promise<InvoiceRecord> {
  const { status, currency } = invoice;
  if (status === 'Draft') throw appError('write_off_of_draft');
  if (status === 'Cancelled') throw appError('write_off_of_cancelled');
  const due = dueOf(invoice);
  const number = printedNumber('invoice', invoice);
  if (!hasRoomForWriteOff(invoice)) throw appError('write_off_limit_reached', { number, limit: WRITE_OFFS_MAX });
  if (due === 0) throw appError('invoice_nothing_due', { number });
  const amount = given === undefined ? due : exactMinor(given, currency);
  if (amount > due) {
    const [sum, rest] = [writtenAmount(amount, currency), writtenAmount(due, currency)];
    throw appError('write_off_exceeds_due', { amount: sum, number, due: rest });
  }
  const { time_zone } = await readAccount(unit.accountId, unit.session);
  const moved = await moveBalance(unit, invoice, { paid: 0, day: dayIn(time_zone), writtenOff: [{ amount, reason }] });
  await announceMoved(unit, [moved], time_zone);
  return moved.after;
}

/**
 * Reverses write-offs, so that their amount is due again. An invoice that was cancelled by its write-offs alone opens
 * again, too. Each write-off stays, with the day of its reversal.
 * @param id one write-off, or all that are not reversed when absent.
 * @throws AppError 404 for an unknown one, 409 when there is none to reverse and for an invoice that was cancelled in
 * another way.
 */
export async function takeBackWriteOff(
  unit: UnitOfWork,
  invoice: InvoiceRecord,
  id: Id | undefined,
): Promise<InvoiceRecord> {
  const named = (invoice.write_offs ?? []).filter(({ _id }) => id === undefined || String(_id) === id);
  if (id !== undefined && named.length === 0) throw appError('write_off_not_found');
  const takenBack = named.filter(({ reversed_on }) => !reversed_on);
  if (takenBack.length === 0) throw appError('nothing_written_off', { number: printedNumber('invoice', invoice) });
  if (invoice.status === 'Cancelled' && dueOf(invoice) > 0) {
    throw appError('write_off_of_cancelled_kept');
  }
  const { time_zone } = await readAccount(unit.accountId, unit.session);
  const day = dayIn(time_zone);
  const moved = await applyOwnCredit(unit, await moveBalance(unit, invoice, { paid: 0, day, takenBack }), day);
  await announceMoved(unit, [moved], time_zone);
  return moved.after;
}
