// Books what a payment provider reports: money of a client once, whatever became of its invoice meanwhile, and what went back of it.
import { appError } from '../../errors.ts';
import { Invoice, type InvoiceRecord } from '../../models/billing/invoice.ts';
import { liveAmount, type PaymentRecord, paymentView } from '../../models/billing/payment.ts';
import { findOwn } from '../../models/records.ts';
import { findEarlyRefunds, keepEarlyRefund } from '../../models/stripe/early-refund.ts';
import type { Id } from '../../models/tenant.ts';
import { writtenAmount } from '../../rules/money/balance.ts';
import { fromMinor } from '../../rules/money/money.ts';
import type { PaymentMethod } from '../../rules/money/payment-methods.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { announceBooked, bookPayment } from './book-payment.ts';
import { findKnown } from './known-payment.ts';
import { findRefund } from './known-refund.ts';
import { refundPayment } from './refund-payment.ts';

export interface ProviderPayment {
  /** The id of the payment at the provider. */
  external_id: string;
  invoice_id: Id;
  /** In the smallest unit. */
  amount: number;
  currency: string;
  day: string;
  method: PaymentMethod;
}

/**
 * Books the payment on its invoice. What is more than due, and all of it where the invoice takes none, is credit of the client.
 * @returns the payment, also when it was booked before. Undefined when the account has no such invoice any more.
 */
export async function bookProviderPayment(
  unit: UnitOfWork,
  { external_id, invoice_id, amount, currency, day, method }: ProviderPayment,
): Promise<PaymentRecord | undefined> {
  const known = await findKnown(unit, external_id);
  if (known) return known;
  const invoice: InvoiceRecord | null = await findOwn(Invoice, unit.accountId, invoice_id, unit.session);
  if (!invoice) return undefined;
  const takesIt = invoice.currency === currency && invoice.status !== 'Draft' && invoice.status !== 'Cancelled';
  const booked = await bookPayment(unit, {
    client_id: String(invoice.client_id),
    amount: fromMinor(amount, currency),
    currency,
    date: day,
    method,
    external_id,
    source: 'provider',
    pays: takesIt ? { invoice_id } : [],
  });
  await announceBooked(unit, booked);
  let { payment } = booked;
  if (payment.unallocated > 0) {
    const parts = [{ invoice_id: invoice._id, amount: payment.unallocated }];
    await unit.announce('payment.overpaid', paymentView(payment), { activity: { parts } });
  }
  const paid = { payment_intent: external_id, currency };
  for (const early of await findEarlyRefunds(unit.accountId, paid, unit.session))
    payment = await takeBackFrom(unit, payment, {
      external_id: early.external_id,
      amount: early.amount,
      day: early.day,
    });
  return payment;
}

export interface ProviderRefund {
  /** The id of the refund at the provider. */
  external_id: string;
  /** That of the payment. */
  payment_id: string;
  /** In the smallest unit. */
  amount: number;
  currency: string;
  day: string;
}

/**
 * Books a refund once. One whose payment is not known yet is kept, and booked with it.
 * @returns false for a refund in another currency than its payment. Nothing is booked then.
 */
export async function bookProviderRefund(
  unit: UnitOfWork,
  { external_id, payment_id, amount, currency, day }: ProviderRefund,
): Promise<boolean> {
  const payment = await findKnown(unit, payment_id);
  if (payment && payment.currency !== currency) return false;
  if (payment) await takeBackFrom(unit, payment, { external_id, amount, day });
  else {
    const early = { payment_intent: payment_id, external_id, amount, currency, day };
    await keepEarlyRefund(unit.accountId, early, unit.session);
  }
  return true;
}

/** Takes the refund from the credit of the payment, and the rest from its invoices. */
async function takeBackFrom(
  unit: UnitOfWork,
  before: PaymentRecord,
  { external_id, amount, day }: Omit<ProviderRefund, 'payment_id' | 'currency'>,
): Promise<PaymentRecord> {
  if (await findRefund(unit, external_id)) return before;
  if (before.status === 'Voided') throw appError('payment_voided_not_refundable');
  const date = day < before.date ? before.date : day;
  const live = new Map<string, number>();
  for (const part of before.allocations)
    live.set(String(part.invoice_id), (live.get(String(part.invoice_id)) ?? 0) + liveAmount(part));
  const places: [invoice_id: string | undefined, most: number][] = [[undefined, before.unallocated], ...live];
  let payment = before;
  let left = amount;
  let taken = 0;
  for (const [invoice_id, most] of places) {
    const part = Math.min(left, most);
    if (part <= 0) continue;
    // The first part has the id of the refund, by which a repeat is known.
    const id = taken === 0 ? external_id : `${external_id}/${taken + 1}`;
    ({ payment } = await refundPayment(unit, payment, {
      amount: fromMinor(part, payment.currency),
      date,
      external_id: id,
      ...(invoice_id ? { invoice_id } : {}),
    }));
    left -= part;
    taken += 1;
  }
  // More went back than the payment has: nothing of it is booked, because the unit of work is rolled back.
  if (left > 0) {
    const sums = {
      amount: writtenAmount(amount, payment.currency),
      left: writtenAmount(amount - left, payment.currency),
    };
    throw appError('refund_exceeds_unallocated', sums);
  }
  return payment;
}
