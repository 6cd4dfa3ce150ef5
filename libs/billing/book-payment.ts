// Books money of a client: draws the payment's number, pays invoices with it, and keeps the rest as the client's credit.
import { dayIn } from '../day.ts';
import { AppError, conflict, fieldProblem, notFound } from '../errors.ts';
import { type AccountRecord, readAccount } from '../models/accounts/account.ts';
import { Client, type ClientRecord } from '../models/accounts/client.ts';
import type { InvoiceRecord } from '../models/billing/invoice.ts';
import { printedNumber } from '../models/billing/number-ledger.ts';
import { partiesOf } from '../models/billing/parties.ts';
import {
  type Allocation,
  Payment,
  type PaymentRecord,
  type PaymentSource,
  paymentView,
  recordedView,
} from '../models/billing/payment.ts';
import { driverOf, insertOwn, lockOwn } from '../models/records.ts';
import { type Id, newId, newRecord, type StoredId, storedId } from '../models/tenant.ts';
import { dueOf, writtenAmount } from './balance.ts';
import { type Decimal, isAmount, toMinor } from './money.ts';
import { findInvoices, oldestDue, requirePayable } from './payable-invoices.ts';
import type { PaymentMethod } from './payment-methods.ts';
import { announceMoved, type Moved, moveBalance } from './settle-invoices.ts';
import type { UnitOfWork } from './unit-of-work.ts';

export interface NewPayment {
  /** The client of the invoice when it is for one. */
  client_id?: Id | undefined;
  /** In major units. What is due of the invoice, when it is for one and none is given. */
  amount?: Decimal | undefined;
  /** Unless given, that of the invoices named, else USD. */
  currency?: string | undefined;
  /** Unless given, today. */
  date?: string | undefined;
  method: PaymentMethod;
  reference?: string | null | undefined;
  external_id?: string | null | undefined;
  note?: string | null | undefined;
  source: PaymentSource;
  /** Which invoices it pays: those that are due, oldest first; one, with more than is due kept as credit; or exactly these. */
  pays: 'oldest' | { invoice_id: Id } | readonly NamedPart[];
}

export interface NamedPart {
  invoice_id: Id;
  /** In major units; what is due, as far as the payment reaches, unless given. */
  amount?: Decimal | undefined;
}

export interface Booked {
  payment: PaymentRecord;
  /** True for a payment whose `external_id` was booked before: nothing was changed. */
  isKnown: boolean;
  moved: Moved[];
  /** Undefined when nothing was booked, so that there is nothing to announce. */
  account: AccountRecord | undefined;
}

/** An invoice and what a payment pays of it. */
export interface Part {
  invoice: InvoiceRecord;
  amount: number;
}

/** A payment is read and written whole. */
export const ALLOCATIONS_MAX = 500;

/**
 * @throws AppError 404 for a client or an invoice that is not the account's, 400 for amounts, 409 for an invoice that cannot be paid
 * or is due less than was named, 422 for an `external_id` of another payment.
 */
export async function bookPayment(unit: UnitOfWork, given: NewPayment): Promise<Booked> {
  const { session, accountId } = unit;
  const known = given.external_id && (await findKnown(unit, given.external_id));
  if (known) return { payment: await requireSame(unit, known, given), isKnown: true, moved: [], account: undefined };
  const base = newRecord(accountId);
  const account = await readAccount(accountId); // Outside of the transaction, whose first step is to draw.
  const date = dayOf(given.date, account);
  const drawn = await unit.drawNumber('payment', base._id, { formats: account.number_formats, day: date });
  const named = await namedInvoices(unit, given.pays);
  const client = await lockClient(unit, given.client_id ?? named[0]?.client_id);
  const currency = given.currency ?? named[0]?.currency ?? 'USD';
  for (const invoice of named) requirePayable(invoice, { currency, client_id: client._id });
  const amount = amountOf(given, named, currency);
  const parts = await partsOf(unit, { given, named, amount, currency, client_id: client._id });
  const allocations = parts.map((part) => allocationOf(part, date));
  const payment: PaymentRecord = {
    ...base,
    ...drawn,
    client_id: client._id,
    currency,
    amount,
    unallocated: amount - sumOf(parts),
    date,
    method: given.method,
    reference: given.reference || null,
    external_id: given.external_id || undefined,
    note: given.note || null,
    source: given.source,
    status: 'Received',
    allocations,
    refunds: [],
    parties: partiesOf(account, client),
  };
  await insertOwn(Payment, payment, session);
  const moved = await payInvoices(unit, { parts, account, payment, day: date });
  return { payment, isKnown: false, moved, account };
}

/** Has to follow bookPayment: the draw of the number reserves an event. */
export async function announceBooked(unit: UnitOfWork, { payment, moved, account }: Booked): Promise<void> {
  if (!account) return;
  await unit.announce('payment.received', paymentView(payment));
  await announceAllocated(unit, { payment, allocations: payment.allocations, moved, account });
}

/** Adds the parts to what is paid of their invoices, in the order of ids. A rest within the account's tolerance is written off. */
export async function payInvoices(
  unit: UnitOfWork,
  {
    parts,
    account,
    payment,
    day,
  }: { parts: readonly Part[]; account: AccountRecord; payment: PaymentRecord; day: string },
): Promise<Moved[]> {
  const { currency } = payment;
  const tolerance = toMinor(account.settle_tolerance ?? 0, currency);
  const moved: Moved[] = [];
  for (const { invoice, amount } of parts.toSorted(byInvoice)) {
    const rest = dueOf(invoice) - amount;
    const isGivenUp = rest > 0 && rest <= tolerance;
    moved.push(
      await moveBalance(unit, invoice, {
        paid: amount,
        day,
        ...(isGivenUp ? { writtenOff: { amount: rest, reason: 'settle_tolerance', payment_id: payment._id } } : {}),
      }),
    );
  }
  return moved;
}

export async function announceAllocated(
  unit: UnitOfWork,
  {
    payment,
    allocations,
    moved,
    account,
  }: { payment: PaymentRecord; allocations: readonly Allocation[]; moved: readonly Moved[]; account: AccountRecord },
): Promise<void> {
  await unit.announceAll(
    'payment.recorded',
    allocations.map((part) => recordedView(payment, part)),
  );
  await announceMoved(unit, moved, account.time_zone);
}

/** @throws AppError 400 for a day after the account's today: money that has not come is not booked. */
export function dayOf(date: string | undefined, { time_zone }: Pick<AccountRecord, 'time_zone'>): string {
  const today = dayIn(time_zone);
  if (date !== undefined && date > today) throw fieldProblem('date', `date must not be after ${today}`);
  return date ?? today;
}

export function allocationOf({ invoice, amount }: Part, date: string): Allocation {
  const invoice_number = printedNumber('invoice', invoice);
  return { _id: storedId(newId()), invoice_id: invoice._id, invoice_number, amount, refunded: 0, date };
}

/** What to allocate to an invoice that was named. @throws AppError 409 when that is more than is due. */
export function partOf(invoice: InvoiceRecord, wanted: Decimal | undefined, left: number): Part {
  const due = dueOf(invoice);
  const number = printedNumber('invoice', invoice);
  if (wanted === undefined) {
    if (due === 0) throw conflict(`Nothing is due on ${number}`);
    return { invoice, amount: Math.min(due, left) };
  }
  const { currency } = invoice;
  const amount = toMinor(wanted, currency);
  if (amount <= 0) throw fieldProblem('amount', `amount is too small in ${currency}`);
  if (amount <= due) return { invoice, amount };
  const [sum, rest] = [writtenAmount(amount, currency), writtenAmount(due, currency)];
  throw conflict(`Cannot allocate ${sum} to ${number}: ${rest} is due`);
}

async function partsOf(
  unit: UnitOfWork,
  {
    given,
    named,
    amount,
    currency,
    client_id,
  }: { given: NewPayment; named: readonly InvoiceRecord[]; amount: number; currency: string; client_id: StoredId },
): Promise<Part[]> {
  const { pays } = given;
  if (pays === 'oldest') return oldestDue(unit, { client_id, currency, amount, most: ALLOCATIONS_MAX });
  if ('invoice_id' in pays) {
    return named.flatMap((invoice) => {
      const part = Math.min(dueOf(invoice), amount);
      return part > 0 ? { invoice, amount: part } : [];
    });
  }
  let left = amount;
  const parts = pays.map(({ amount: wanted }, index) => {
    const part = partOf(named[index] as InvoiceRecord, wanted, left);
    left -= part.amount;
    return part;
  });
  const isTooMuch = left < 0 || parts.some((part) => part.amount <= 0);
  if (isTooMuch) throw fieldProblem('allocations', 'allocations must not sum to more than amount');
  return parts;
}

function amountOf(given: NewPayment, named: readonly InvoiceRecord[], currency: string): number {
  const [invoice] = named;
  if (given.amount === undefined) {
    if (!invoice) throw fieldProblem('amount', 'amount is required');
    return partOf(invoice, undefined, dueOf(invoice)).amount;
  }
  const amount = toMinor(given.amount, currency);
  if (amount <= 0) throw fieldProblem('amount', `amount is too small in ${currency}`);
  if (!isAmount(amount)) throw fieldProblem('amount', `amount is too large in ${currency}`);
  return amount;
}

/** The invoices of the parts, in their order. */
async function namedInvoices(unit: UnitOfWork, pays: NewPayment['pays']): Promise<InvoiceRecord[]> {
  if (pays === 'oldest') return [];
  return findInvoices(unit, 'invoice_id' in pays ? [pays.invoice_id] : pays.map(({ invoice_id }) => invoice_id));
}

/** One that is anonymised may still pay. */
async function lockClient({ accountId, session }: UnitOfWork, id: Id | StoredId | undefined): Promise<ClientRecord> {
  const client = id && (await lockOwn(Client, accountId, id, session));
  if (!client) throw notFound('Client', 'or access denied');
  return client;
}

async function findKnown({ accountId, session }: UnitOfWork, external_id: string): Promise<PaymentRecord | null> {
  const wanted = { account_id: storedId(accountId), external_id } as object;
  return (await driverOf(Payment).findOne(wanted, { session })) as PaymentRecord | null;
}

/** @throws AppError 422 when the payment that has the `external_id` is another one, 404 for an invoice that is not the account's. */
async function requireSame(
  unit: UnitOfWork,
  known: PaymentRecord,
  { amount, client_id, pays }: NewPayment,
): Promise<PaymentRecord> {
  const [invoice] = pays !== 'oldest' && 'invoice_id' in pays ? await namedInvoices(unit, pays) : [];
  const client = client_id ?? invoice?.client_id;
  const isOtherSum = amount !== undefined && toMinor(amount, known.currency) !== known.amount;
  const isOtherClient = client !== undefined && String(client) !== String(known.client_id);
  const isOtherInvoice =
    invoice !== undefined &&
    known.allocations.length > 0 &&
    !known.allocations.some(({ invoice_id }) => invoice_id.equals(invoice._id));
  if (isOtherSum || isOtherClient || isOtherInvoice) {
    throw new AppError(422, 'external_id was already used with another payment');
  }
  return known;
}

function sumOf(parts: readonly Part[]): number {
  return parts.reduce((sum, { amount }) => sum + amount, 0);
}

function byInvoice(one: Part, other: Part): number {
  return String(one.invoice._id) < String(other.invoice._id) ? -1 : 1;
}
