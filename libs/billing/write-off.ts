// Gives up a part of what is due of an invoice, or all of it.
import { dayIn } from '../day.ts';
import { conflict } from '../errors.ts';
import { readAccount } from '../models/accounts/account.ts';
import type { InvoiceRecord } from '../models/billing/invoice.ts';
import { printedNumber } from '../models/billing/number-ledger.ts';
import { dueOf, writtenAmount } from './balance.ts';
import { exactMinor } from './exact-amount.ts';
import type { Decimal } from './money.ts';
import { announceMoved, moveBalance } from './settle-invoices.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** An invoice is read and written whole. */
const WRITE_OFFS_MAX = 100;

/** @param amount in major units; what is due unless given. @throws AppError 409 when less is due, or it was never issued. */
export async function writeOff(
  unit: UnitOfWork,
  invoice: InvoiceRecord,
  { amount: given, reason }: { amount?: Decimal | undefined; reason: string },
): Promise<InvoiceRecord> {
  const { status, currency } = invoice;
  if (status === 'Draft') throw conflict('Cannot write off a draft');
  if (status === 'Cancelled') throw conflict('Cannot write off a cancelled invoice');
  const due = dueOf(invoice);
  const number = printedNumber('invoice', invoice);
  if ((invoice.write_offs?.length ?? 0) >= WRITE_OFFS_MAX)
    throw conflict(`${number} can have at most ${WRITE_OFFS_MAX} write-offs`);
  if (due === 0) throw conflict(`Nothing is due on ${number}`);
  const amount = given === undefined ? due : exactMinor(given, currency);
  if (amount > due) {
    const [sum, rest] = [writtenAmount(amount, currency), writtenAmount(due, currency)];
    throw conflict(`Cannot write off ${sum} of ${number}: ${rest} is due`);
  }
  const { time_zone } = await readAccount(unit.accountId, unit.session);
  const moved = await moveBalance(unit, invoice, { paid: 0, day: dayIn(time_zone), writtenOff: { amount, reason } });
  await announceMoved(unit, [moved], time_zone);
  return moved.after;
}
