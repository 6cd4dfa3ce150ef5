// Books what an event of Stripe says: money that came, and money that went back. Everything else is passed over.
import type Stripe from 'stripe';
import { bookProviderPayment, bookProviderRefund } from '#libs/billing/payments/provider-payment.ts';
import { runUnitOfWork, type UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { dayIn } from '#libs/day.ts';
import { AppError } from '#libs/errors.ts';
import { endCheckout, findLiveCheckout } from '#libs/models/stripe/checkout.ts';
import { type Id, isId, storedId } from '#libs/models/tenant.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import { AMOUNT_MAX, fromMinor, isCurrency } from '#libs/rules/money/money.ts';
import { isChargeable } from './stripe-amounts.ts';

/** `nothing`: the event is of no concern. `unknown`: it is about an invoice that is gone, about more than can be booked, or in another currency than the payment. */
export type BookedEvent = 'booked' | 'nothing' | 'unknown';

interface Hook {
  accountId: Id;
  timeZone: string;
  onEvents: () => void;
  /** The bytes of records and events that the account may keep. Any amount unless given. */
  quotaBytes?: number | undefined;
}

/** The most characters of an id at Stripe, see https://docs.stripe.com/upgrades. */
const ID_LONGEST = 255;
/** The largest time of a date, in seconds. */
const CREATED_MAX = 8.64e12;
const CURRENCY = /^[a-z]{3}$/i;

/** True for an event in the form of Stripe. The account chooses the secret that signs events, so it can sign any text. */
export function isWellFormed({ id, type, created, data }: Stripe.Event): boolean {
  const isTimed = Number.isSafeInteger(created) && created >= 0 && created <= CREATED_MAX;
  return isStripeId(id) && isStripeId(type) && isTimed && typeof data?.object === 'object' && data.object !== null;
}

/** @throws when the database cannot be reached: Stripe sends the event again. */
export async function bookEvent(event: Stripe.Event, hook: Hook): Promise<BookedEvent> {
  const { accountId, timeZone, onEvents } = hook;
  const work = workOf(event, dayIn(timeZone, new Date(event.created * 1_000)));
  if (!work) return 'nothing';
  // Money that a page of ours has brought is booked over the quota, too.
  const quotaBytes = (await isOfOwnPage(event, accountId)) ? undefined : hook.quotaBytes;
  try {
    const own = { accountId, by: { type: 'stripe' }, requestId: event.id, quotaBytes } as const;
    const { result, hasEvents } = await runUnitOfWork(own, work);
    if (hasEvents) onEvents();
    return result;
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return 'unknown';
    throw error;
  }
}

/** True for an event of the page on which its invoice can be paid now. */
async function isOfOwnPage({ type, data }: Stripe.Event, accountId: Id): Promise<boolean> {
  if (!type.startsWith('checkout.session.')) return false;
  const page = data.object as Stripe.Checkout.Session;
  const invoice_id = invoiceOf(page);
  if (!invoice_id) return false;
  const live = await readAfterElection(() => findLiveCheckout(accountId, storedId(invoice_id)));
  return live?.session_id !== undefined && live.session_id === page.id;
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
  const code = currencyOf(currency);
  // A direct debit is not paid yet when its page is completed.
  if (!invoice_id || payment_status !== 'paid' || !external_id || !code || !isSum(amount_total, code)) return undefined;
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
  const code = currencyOf(currency);
  if (!payment_id || !isStripeId(id) || !code || !isSum(amount, code)) return undefined;
  return async (unit) => {
    const isBooked = await bookProviderRefund(unit, { external_id: id, payment_id, amount, currency: code, day });
    return isBooked ? 'booked' : 'unknown';
  };
}

function idOf(named: string | { id: string } | null): string | undefined {
  const id = typeof named === 'string' ? named : named?.id;
  return isStripeId(id) ? id : undefined;
}

function isStripeId(id: unknown): id is string {
  return typeof id === 'string' && id.length > 0 && id.length <= ID_LONGEST;
}

/** Returns the code of a currency that can be paid by Stripe, in capitals. */
function currencyOf(written: string | null): string | undefined {
  const code = CURRENCY.test(String(written)) ? String(written).toUpperCase() : '';
  return isCurrency(code) && isChargeable(code) ? code : undefined;
}

/** True for a sum that a payment can have, in the smallest unit. */
function isSum(amount: number | null, currency: string): amount is number {
  return Number.isSafeInteger(amount) && Number(amount) > 0 && fromMinor(Number(amount), currency) <= AMOUNT_MAX;
}
