// Changes a booked payment: uses its credit, releases an allocation, or voids it.
import { sumBy } from 'es-toolkit/math/sumBy';
import { dayIn } from '../../day.ts';
import { appError } from '../../errors.ts';
import { type AccountRecord, readAccount } from '../../models/accounts/account.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import { WITHOUT_ISSUER } from '../../models/billing/parties.ts';
import { type Allocation, liveAmount, Payment, type PaymentRecord, paymentView } from '../../models/billing/payment.ts';
import { readWithin } from '../../models/read-within.ts';
import { changeOwn, driverOf } from '../../models/records.ts';
import { type Id, type StoredId, storedId } from '../../models/tenant.ts';
import type { EventType } from '../../models/webhooks/event-types.ts';
import type { Decimal } from '../../rules/money/money.ts';
import { releaseCreditOn } from '../credit-notes/change-credit-note.ts';
import { endMail } from '../messages/end-mail.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { allocationOf, furtherPart, releasable } from './allocations.ts';
import { announceAllocated, payInvoices } from './payment-parts.ts';
import { announceMoved, type Moved } from './settle-invoices.ts';
import { takeBack } from './take-back.ts';

/** The payments of one response of the database, which is decoded in one turn of the event loop. One may have 700 KB. */
const BATCH = 4;

/** Pays an invoice of the client from the unallocated amount. @throws AppError 404, 400 or 409 as bookPayment does. */
export async function allocateCredit(
  unit: UnitOfWork,
  payment: PaymentRecord,
  { invoice_id, amount }: { invoice_id: Id; amount?: Decimal | undefined },
): Promise<PaymentRecord> {
  if (payment.status === 'Voided') throw appError('payment_voided_not_allocable');
  const number = printedNumber('payment', payment);
  const part = await furtherPart(unit, payment, { noun: 'payment', number, invoice_id, amount });
  const account = await readAccount(unit.accountId, unit.session);
  const day = dayIn(account.time_zone);
  const allocation = allocationOf(part, day);
  const changes = { unallocated: payment.unallocated - part.amount, allocations: [...payment.allocations, allocation] };
  const changed = await changeOwn(Payment, payment, changes, unit.session);
  const moved = await payInvoices(unit, { parts: [part], account, source: payment, paidOn: payment.date, day });
  await unit.announce('payment.updated', paymentView(changed));
  await announceAllocated(unit, { payment: changed, allocations: [allocation], moved, account });
  return changed;
}

/**
 * Makes an allocation credit again, or all of them.
 * @throws AppError 404 when the payment has no such allocation, 409 when there is nothing to release.
 */
export async function releaseAllocations(
  unit: UnitOfWork,
  payment: PaymentRecord,
  id: Id | undefined,
): Promise<PaymentRecord> {
  const released = releasable(payment.allocations, id, { noun: 'payment', worth: liveAmount });
  const account = await readAccount(unit.accountId, unit.session);
  return release(unit, payment, { released, account, event: 'payment.released' });
}

/**
 * Voids a payment that was entered by mistake. Its invoices are due again.
 * @throws AppError 409 after a refund, and when it is voided.
 */
export async function voidPayment(unit: UnitOfWork, payment: PaymentRecord, reason: string): Promise<PaymentRecord> {
  if (payment.status === 'Voided') throw appError('payment_voided');
  if (payment.refunds.length > 0) throw appError('payment_refunded');
  const account = await readAccount(unit.accountId, unit.session);
  const released = payment.allocations.filter((part) => liveAmount(part) > 0);
  const voided = { status: 'Voided', void_reason: reason, voided_on: dayIn(account.time_zone) } as const;
  return release(unit, payment, { released, account, event: 'payment.voided', voided });
}

/**
 * Releases everything that was paid on an invoice, also by credit notes of other invoices, so that it can be cancelled.
 * The caller announces the invoice.
 * @throws AppError 409 when the payments are too large together.
 */
export async function releaseInvoice(unit: UnitOfWork, invoice_id: StoredId, account: AccountRecord): Promise<Moved[]> {
  const { accountId, session } = unit;
  const paying = { account_id: storedId(accountId), 'allocations.invoice_id': invoice_id } as object;
  const payments = await readWithin<PaymentRecord>(
    driverOf(Payment).find(paying, { session, sort: { _id: 1 }, batchSize: BATCH, projection: WITHOUT_ISSUER }),
    'payments',
  );
  const moved: Moved[] = [];
  for (const payment of payments) {
    const released = payment.allocations.filter((part) => part.invoice_id.equals(invoice_id) && liveAmount(part) > 0);
    if (released.length === 0) continue;
    await release(unit, payment, { released, account, event: 'payment.released', moved });
  }
  return [...moved, ...(await releaseCreditOn(unit, invoice_id, account))];
}

/**
 * Takes the allocations back from their invoices, in the order of ids.
 * @param moved collects the invoices that the caller announces.
 */
async function release(
  unit: UnitOfWork,
  payment: PaymentRecord,
  {
    released,
    account,
    event,
    voided,
    moved: collected,
  }: {
    released: readonly Allocation[];
    account: AccountRecord;
    event: EventType;
    voided?: Pick<PaymentRecord, 'status' | 'void_reason' | 'voided_on'>;
    moved?: Moved[];
  },
): Promise<PaymentRecord> {
  const day = dayIn(account.time_zone);
  const freed = sumBy(released, liveAmount);
  const allocations = payment.allocations.map((part) =>
    released.includes(part) ? { ...part, released_on: day } : part,
  );
  const unallocated = voided ? 0 : payment.unallocated + freed;
  if (voided) await endMail(unit, 'payment', { ...payment, ...voided });
  const changed = await changeOwn(Payment, payment, { ...voided, allocations, unallocated }, unit.session);
  const amounts = released.map((part) => ({ invoice_id: part.invoice_id, amount: liveAmount(part) }));
  const moved = await takeBack(unit, payment._id, { amounts, day });
  await unit.announce(event, paymentView(changed), { activity: { parts: amounts } });
  if (collected) collected.push(...moved);
  else await announceMoved(unit, moved, account.time_zone);
  return changed;
}
