// Refunds money of a payment to its client: from the unallocated amount, or from what was paid on an invoice.
import { sumBy } from 'es-toolkit/math/sumBy';
import { dayIn } from '../../day.ts';
import { appError } from '../../errors.ts';
import { readAccount } from '../../models/accounts/account.ts';
import { liveAmount, Payment, type PaymentRecord, paymentView, type Refund } from '../../models/billing/payment.ts';
import { changeOwn } from '../../models/records.ts';
import { type Id, newId, storedId } from '../../models/tenant.ts';
import { writtenAmount } from '../../rules/money/balance.ts';
import { exactMinor } from '../../rules/money/exact-amount.ts';
import { type Decimal, toMinor } from '../../rules/money/money.ts';
import type { PaymentMethod } from '../../rules/money/payment-methods.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { dayOf } from './book-payment.ts';
import { findRefund, requireRoomForRefund, withExternalId } from './known-refund.ts';
import { announceMoved } from './settle-invoices.ts';
import { takeBack } from './take-back.ts';

export interface NewRefund {
  /** The amount in major units. */
  amount: Decimal;
  date?: string | undefined;
  method?: PaymentMethod | undefined;
  reference?: string | null | undefined;
  external_id?: string | null | undefined;
  /** The invoice that it is taken from, which is due again. Defaults to the credit. */
  invoice_id?: Id | null | undefined;
}

/**
 * Books a refund.
 * @returns true when it was already booked under its `external_id`.
 * @throws AppError 409 for more than there is, 400, 422, 404.
 */
export async function refundPayment(
  unit: UnitOfWork,
  payment: PaymentRecord,
  given: NewRefund,
): Promise<{ payment: PaymentRecord; isKnown: boolean }> {
  const { currency } = payment;
  if (given.external_id && (await isKnownRefund(unit, payment, given))) return { payment, isKnown: true };
  if (payment.status === 'Voided') throw appError('payment_voided_not_refundable');
  requireRoomForRefund(payment.refunds, 'payment');
  const account = await readAccount(unit.accountId, unit.session);
  const amount = exactMinor(given.amount, currency);
  const taken = takeFrom(payment, given.invoice_id ?? undefined, amount);
  const day = dayIn(account.time_zone);
  const refund: Refund = {
    _id: storedId(newId()),
    amount,
    date: dayOf(given.date, account, { earliest: payment.date }),
    method: given.method ?? payment.method,
    reference: given.reference || null,
    external_id: given.external_id || undefined,
    ...(taken.invoice && {
      invoice_id: taken.invoice.invoice_id,
      invoice_number: taken.invoice.invoice_number,
      taken: taken.from,
    }),
  };
  const changes = {
    allocations: taken.allocations,
    unallocated: taken.unallocated,
    refunds: [...payment.refunds, refund],
    refund_external_ids: withExternalId(payment.refund_external_ids, given.external_id),
  };
  const changed = await changeOwn(Payment, payment, changes, unit.session);
  const amounts = taken.invoice ? [{ invoice_id: taken.invoice.invoice_id, amount }] : [];
  const moved = await takeBack(unit, payment._id, { amounts, day });
  await unit.announce('payment.refunded', paymentView(changed), { activity: { parts: amounts } });
  await announceMoved(unit, moved, account.time_zone);
  return { payment: changed, isKnown: false };
}

/**
 * Returns the payment's fields after a refund of `amount`.
 * @throws AppError 409 when there is less, 404 when it pays no such invoice.
 */
function takeFrom(payment: PaymentRecord, invoice_id: Id | undefined, amount: number) {
  const { allocations, unallocated, currency } = payment;
  const of = allocations.filter((part) => String(part.invoice_id) === invoice_id);
  if (invoice_id && of.length === 0) throw appError('invoice_not_found');
  const most = invoice_id ? sumBy(of, liveAmount) : unallocated;
  if (amount > most) {
    const sums = { amount: writtenAmount(amount, currency), left: writtenAmount(most, currency) };
    throw of[0]
      ? appError('refund_exceeds_paid', { ...sums, number: of[0].invoice_number })
      : appError('refund_exceeds_unallocated', sums);
  }
  if (!invoice_id) return { allocations, unallocated: unallocated - amount };
  let left = amount;
  const from: NonNullable<Refund['taken']> = [];
  const reduced = allocations.map((part) => {
    const share = of.includes(part) ? Math.min(left, liveAmount(part)) : 0;
    left -= share;
    if (share === 0) return part;
    from.push({ allocation_id: part._id, amount: share });
    return { ...part, refunded: part.refunded + share };
  });
  return { allocations: reduced, unallocated, invoice: of[0], from };
}

/** True when the refund was booked before. @throws AppError 422 when another refund has the `external_id`. */
async function isKnownRefund(
  unit: UnitOfWork,
  payment: PaymentRecord,
  { external_id, amount, invoice_id }: NewRefund,
): Promise<boolean> {
  const known = external_id ? await findRefund(unit, external_id) : undefined;
  if (!known) return false;
  const isSameInvoice = String(known.invoice_id ?? '') === (invoice_id ?? '');
  const isSameSum = known.amount === toMinor(amount, payment.currency);
  if (known.of.equals(payment._id) && isSameSum && isSameInvoice) return true;
  throw appError('external_id_reused', { record: 'refund' });
}
