// The page of Stripe for what is due of an invoice now: one at a time, made at the click.
import type Stripe from 'stripe';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { appError } from '#libs/errors.ts';
import type { StripeSettings } from '#libs/models/accounts/account.ts';
import { Invoice, type InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { printedNumber } from '#libs/models/billing/number-ledger.ts';
import { insertOwn, lockOwn } from '#libs/models/records.ts';
import {
  endCheckout,
  findLiveCheckout,
  openCheckout,
  StripeCheckout,
  type StripeCheckoutRecord,
} from '#libs/models/stripe/checkout.ts';
import { newRecord } from '#libs/models/tenant.ts';
import { dueOf } from '#libs/rules/money/balance.ts';
import { openedBy, type SecretBox } from '#libs/secret-box.ts';
import { change, type DocumentVisit } from '../client/visit.ts';
import { isChargeable } from './stripe-amounts.ts';

/** The site of the pages, unless the account has a domain of its own for them. */
export const CHECKOUT = 'https://checkout.stripe.com';
/** The life of a page. Stripe allows a day. */
const LIFE_MS = 23 * 3_600_000;
/** A page that ends sooner is replaced, so that its reader has time to pay. */
const LEAST_MS = 30 * 60_000;
/** The page that is replaced, and the new one. */
const TRIES = 2;

/** True when the invoice can be paid on a page of Stripe. */
export function isPayableByStripe({ subject, account, parts }: DocumentVisit): boolean {
  const settings = account.stripe as StripeSettings | undefined;
  if (!parts.stripe || !settings || subject.type !== 'invoice') return false;
  // An earlier release took a live key for a test account, whose documents ask for no money.
  if (settings.mode === 'live' && account.mode === 'test') return false;
  return isDue(subject.record);
}

function isDue(invoice: InvoiceRecord): boolean {
  const { status, currency } = invoice;
  return status !== 'Draft' && status !== 'Cancelled' && dueOf(invoice) > 0 && isChargeable(currency);
}

/**
 * Returns the address of the page, or `paying` when the client has paid on the former one and its webhook has not come.
 * @throws AppError 409 when nothing is due any more, or the error of Stripe.
 */
export async function checkoutPage(visit: DocumentVisit): Promise<string | 'paying'> {
  const { stripe } = visit.parts;
  const settings = visit.account.stripe as StripeSettings | undefined;
  if (!stripe || !settings) throw appError('route_not_found');
  const { box } = visit.parts;
  const asking = { api: await stripe.open(box.open(settings.key)), box };
  for (let tries = TRIES; tries > 0; tries -= 1) {
    const { checkout, number, replaced } = await claim(visit, settings, stripe.origin);
    if (!replaced) return checkout.url ?? (await made(asking, checkout, number));
    if ((await retire(asking, checkout, number)) === 'paid') return 'paying';
    await endCheckout(checkout);
  }
  throw appError('idempotency_key_running');
}

interface Asking {
  api: Stripe;
  /** Opens the address to which the client returns. */
  box: Pick<SecretBox, 'open'>;
}

interface Claimed {
  checkout: StripeCheckoutRecord;
  number: string;
  replaced: boolean;
}

/**
 * Finds the page of the invoice, or begins a new one. `replaced` is true for one that has to end first: it is over another
 * sum, or was made with other settings, which may be those of another account or mode of Stripe.
 */
function claim(visit: DocumentVisit, settings: StripeSettings, origin: string): Promise<Claimed> {
  const begin = async ({ session, accountId }: UnitOfWork): Promise<Claimed> => {
    const invoice: InvoiceRecord | null = await lockOwn(Invoice, accountId, visit.subject.record._id, session);
    if (!invoice || !isDue(invoice)) throw appError('invoice_not_found');
    const number = printedNumber('invoice', invoice);
    const [amount, now] = [dueOf(invoice), Date.now()];
    const live = await findLiveCheckout(accountId, invoice._id, session);
    if (live) {
      const isOfOtherSettings = live.settings_at?.getTime() !== settings.updated_at.getTime();
      const replaced = isOfOtherSettings || live.amount !== amount || live.expires_at.getTime() - now < LEAST_MS;
      return { checkout: live, number, replaced };
    }
    const checkout: StripeCheckoutRecord = {
      ...newRecord(accountId),
      invoice_id: invoice._id,
      amount,
      currency: invoice.currency,
      return_to: visit.parts.box.seal(`${origin}${visit.base}`),
      // Stripe counts in seconds.
      expires_at: new Date(Math.floor((now + LIFE_MS) / 1_000) * 1_000),
      settings_at: settings.updated_at,
      is_live: true,
    };
    await insertOwn(StripeCheckout, checkout, session);
    return { checkout, number, replaced: false };
  };
  // A client can pay an account that has reached its quota.
  return change(visit, begin, { isOverQuota: true });
}

/** Asks Stripe for the page. The same record is always asked for under the same key, so that a lost answer makes no second page. */
async function made(asking: Asking, checkout: StripeCheckoutRecord, number: string): Promise<string> {
  const session = await asked(asking, checkout, number);
  if (!session.url) throw new Error(`Stripe gave no address for the page ${session.id}`);
  await openCheckout(checkout, { session_id: session.id, url: session.url });
  return session.url;
}

function asked({ api, box }: Asking, checkout: StripeCheckoutRecord, number: string) {
  const { invoice_id, amount, currency, expires_at, _id } = checkout;
  const return_to = box.open(checkout.return_to);
  const metadata = { billhook_invoice: String(invoice_id) };
  return api.checkout.sessions.create(
    {
      mode: 'payment',
      line_items: [
        {
          quantity: 1,
          price_data: { currency: currency.toLowerCase(), unit_amount: amount, product_data: { name: number } },
        },
      ],
      client_reference_id: String(invoice_id),
      metadata,
      payment_intent_data: { metadata },
      success_url: return_to,
      cancel_url: return_to,
      expires_at: Math.floor(expires_at.getTime() / 1_000),
    },
    { idempotencyKey: `billhook-${String(_id)}` },
  );
}

/** Ends a page at Stripe. @returns `paid` when its client was faster. */
async function retire(asking: Asking, checkout: StripeCheckoutRecord, number: string): Promise<'ended' | 'paid'> {
  const { session_id, expires_at, return_to } = checkout;
  // Stripe cannot be asked again with an address that an earlier release stored in plain text, or whose key is gone.
  const isLost = expires_at.getTime() <= Date.now() || openedBy(asking.box, return_to) === undefined;
  if (!session_id && isLost) return 'ended';
  const id = session_id ?? (await asked(asking, checkout, number)).id;
  const { api } = asking;
  try {
    await api.checkout.sessions.expire(id);
    return 'ended';
  } catch (error) {
    // Stripe refuses it for a page that was paid or has expired.
    const status = await statusOf(api, id);
    if (status === 'open') throw error;
    return status === 'complete' ? 'paid' : 'ended';
  }
}

/** Returns the state of a page. Undefined for a page of another account or mode of Stripe, which the key does not find. */
async function statusOf(api: Stripe, id: string): Promise<Stripe.Checkout.Session.Status | null | undefined> {
  try {
    return (await api.checkout.sessions.retrieve(id)).status;
  } catch (error) {
    if ((error as Partial<Stripe.errors.StripeError>).code === 'resource_missing') return undefined;
    throw error;
  }
}
