// Books what an event of Stripe says: money that came, and money that went back. Everything else is passed over.
import type Stripe from 'stripe';
import { bookProviderPayment, bookProviderRefund } from '#libs/billing/payments/provider-payment.ts';
import { runUnitOfWork, type UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { dayIn } from '#libs/day.ts';
import { AppError } from '#libs/errors.ts';
import { endCheckout, findLiveCheckout } from '#libs/models/stripe/checkout.ts';
import { type Id, isId, storedId } from '#libs/models/tenant.ts';
import { isChargeable } from './stripe-amounts.ts';

/** `nothing`: the event is of no concern. `unknown`: it is about an invoice that is gone, or about more than can be booked. */
export type BookedEvent = 'booked' | 'nothing' | 'unknown';

interface Hook {
  accountId: Id;
  timeZone: string;
  onEvents: () => void;
}

/** @throws when the database cannot be reached: Stripe sends the event again. */
export async function bookEvent(event: Stripe.Event, { accountId, timeZone, onEvents }: Hook): Promise<BookedEvent> {
  const work = workOf(event, dayIn(timeZone, new Date(event.created * 1_000)));
  if (!work) return 'nothing';
  try {
    // Money is booked over the quota, too: it has come.
    const { result, hasEvents } = await runUnitOfWork({ accountId, by: { type: 'stripe' }, requestId: event.id }, work);
    if (hasEvents) onEvents();
    return result;
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return 'unknown';
    throw error;
  }
}

type Work = (unit: UnitOfWork) => Promise<BookedEvent>;

function workOf({ type, data }: Stripe.Event, day: string): Work | undefined {
  if (type === 'checkout.session.completed' || type === 'checkout.session.async_payment_succeeded') {
    return paymentOf(data.object, day);
  }
  if (type === 'checkout.session.expired') return ended(data.object);
  const isRefund = type === 'refund.created' || type === 'refund.updated';
  if (!isRefund && type !== 'charge.dispute.closed') return undefined;
  const { id, status, amount, currency, payment_intent } = data.object;
  const hasLeft = status === (isRefund ? 'succeeded' : 'lost');
  return hasLeft ? refundOf({ id, amount, currency, payment_intent }, day) : undefined;
}

/** Returns the invoice of a page of ours. Other pages of the same account at Stripe have none. */
function invoiceOf({ metadata }: Pick<Stripe.Checkout.Session, 'metadata'>): Id | undefined {
  const id = metadata?.['billhook_invoice'];
  return isId(id) ? id : undefined;
}

function paymentOf(session: Stripe.Checkout.Session, day: string): Work | undefined {
  const invoice_id = invoiceOf(session);
  const { payment_status, payment_intent, amount_total, currency } = session;
  const external_id = idOf(payment_intent);
  // A direct debit is not paid yet when its page is completed.
  if (!invoice_id || payment_status !== 'paid' || !external_id || !amount_total || !currency) return undefined;
  const code = currency.toUpperCase();
  if (!isChargeable(code)) return undefined;
  return async (unit) => {
    const method = session.payment_method_types?.every((type) => type === 'card') ? 'card' : 'other';
    const payment = await bookProviderPayment(unit, {
      external_id,
      invoice_id,
      amount: amount_total,
      currency: code,
      day,
      method,
    });
    await endPage(unit, invoice_id, session.id);
    return payment ? 'booked' : 'unknown';
  };
}

function ended(session: Stripe.Checkout.Session): Work | undefined {
  const invoice_id = invoiceOf(session);
  if (!invoice_id) return undefined;
  return async (unit) => {
    await endPage(unit, invoice_id, session.id);
    return 'booked';
  };
}

async function endPage({ accountId, session }: UnitOfWork, invoice_id: Id, session_id: string): Promise<void> {
  const live = await findLiveCheckout(accountId, storedId(invoice_id), session);
  if (live?.session_id === session_id) await endCheckout(live, session);
}

interface Returned {
  id: string;
  amount: number;
  currency: string;
  payment_intent: string | { id: string } | null;
}

function refundOf({ id, amount, currency, payment_intent }: Returned, day: string): Work | undefined {
  const payment_id = idOf(payment_intent);
  if (!payment_id || !isChargeable(currency.toUpperCase())) return undefined;
  return async (unit) => {
    await bookProviderRefund(unit, { external_id: id, payment_id, amount, day });
    return 'booked';
  };
}

function idOf(named: string | { id: string } | null): string | undefined {
  return typeof named === 'string' ? named : named?.id;
}
