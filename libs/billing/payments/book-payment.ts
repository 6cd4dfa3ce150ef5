// Books a payment of a client: draws its number, pays invoices with it, and keeps the rest as credit.
import { dayIn } from '../../day.ts';
import { appError, fieldProblem } from '../../errors.ts';
import { type AccountRecord, readAccount } from '../../models/accounts/account.ts';
import { Client, type ClientRecord } from '../../models/accounts/client.ts';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import { partiesOf } from '../../models/billing/parties.ts';
import {
  type Allocation,
  Payment,
  type PaymentRecord,
  type PaymentSource,
  paymentView,
} from '../../models/billing/payment.ts';
import { insertOwn, lockOwn } from '../../models/records.ts';
import { type Id, newRecord, type StoredId, storedId } from '../../models/tenant.ts';
import { dueOf } from '../../rules/money/balance.ts';
import { exactMinor } from '../../rules/money/exact-amount.ts';
import { type Decimal, isAmount } from '../../rules/money/money.ts';
import type { PaymentMethod } from '../../rules/money/payment-methods.ts';
import { currencyFor } from '../documents/client-terms.ts';
import { planReceipt } from '../messages/plan-receipt.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { allocationOf } from './allocations.ts';
import { findKnown, requireSame } from './known-payment.ts';
import { requirePayable } from './payable-invoices.ts';
import { announceAllocated, namedInvoices, type Pays, partOf, partsOf, payInvoices, sumOf } from './payment-parts.ts';
import type { Moved } from './settle-invoices.ts';

export interface NewPayment {
  /** The client. Defaults to that of the invoice. */
  client_id?: Id | undefined;
  /** The amount in major units. Defaults to what is due of the one invoice. */
  amount?: Decimal | undefined;
  /** The currency. Defaults to that of the named invoices, else the client's. */
  currency?: string | undefined;
  /** The day of the payment. Defaults to today. */
  date?: string | undefined;
  method: PaymentMethod;
  reference?: string | null | undefined;
  external_id?: string | null | undefined;
  note?: string | null | undefined;
  source: PaymentSource;
  pays: Pays;
}

export interface Booked {
  payment: PaymentRecord;
  /** True for a payment whose `external_id` was booked before. Nothing was changed then. */
  isKnown: boolean;
  moved: Moved[];
  /** The account. Undefined when nothing was booked, so that there is nothing to announce. */
  account: AccountRecord | undefined;
}

/**
 * Books a payment.
 * @throws AppError
 * - 404 for a client or an invoice that is not the account's,
 * - 400 for amounts,
 * - 409 for an invoice that cannot be paid or is due less than was named, and for an `external_id` of a voided payment,
 * - 422 for an `external_id` of another payment.
 */
export async function bookPayment(unit: UnitOfWork, given: NewPayment): Promise<Booked> {
  const { session, accountId } = unit;
  const known = given.external_id && (await findKnown(unit, given.external_id));
  if (known) return { payment: await requireSame(unit, known, given), isKnown: true, moved: [], account: undefined };
  const base = newRecord(accountId);
  // Both can be read at the same time, because the account is read outside of the transaction.
  const [account, { named, client }] = await Promise.all([readAccount(accountId), lockPaid(unit, given)]);
  const date = dayOf(given.date, account);
  const currency = given.currency ?? named[0]?.currency ?? currencyFor(client, account);
  for (const invoice of named) requirePayable(invoice, { currency, client_id: client._id });
  const amount = amountOf(given, named, currency);
  const parts = await partsOf(unit, { pays: given.pays, named, amount, currency, client_id: client._id, paidOn: date });
  const drawn = await unit.drawNumber('payment', base._id, { formats: account.number_formats, day: date });
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
    ...(given.external_id ? bookedAs(given.pays, allocations) : {}),
    refunds: [],
    parties: partiesOf(account, client),
  };
  await insertOwn(Payment, payment, session);
  const moved = await payInvoices(unit, { parts, account, source: payment, paidOn: date, day: date });
  return { payment, isKnown: false, moved, account };
}

/** Returns the fields that a repeated request is compared with. */
function bookedAs(pays: Pays, { length }: readonly Allocation[]) {
  const booked_for = pays !== 'oldest' && 'invoice_id' in pays ? storedId(pays.invoice_id) : undefined;
  return { allocated_at_booking: length, booked_for };
}

/** Announces the booking, and plans its receipt. Call it in the unit of work of bookPayment. */
export async function announceBooked(unit: UnitOfWork, { payment, moved, account }: Booked): Promise<void> {
  if (!account) return;
  await unit.announce('payment.received', paymentView(payment));
  await announceAllocated(unit, { payment, allocations: payment.allocations, moved, account });
  await planReceipt(unit, payment, account);
}

/**
 * Returns the day of a movement: the given one, or the account's today.
 * @param earliest the day of the money that moves. A document may be dated tomorrow, which keeps no money from moving
 * today.
 * @param field the name for messages.
 * @throws AppError 400 for a future day, because money that has not come is not booked, and for one before `earliest`.
 */
export function dayOf(
  date: string | undefined,
  { time_zone }: Pick<AccountRecord, 'time_zone'>,
  { earliest, field = 'date' }: { earliest?: string; field?: string } = {},
): string {
  const today = dayIn(time_zone);
  if (date === undefined) return today;
  if (date > today) throw fieldProblem(field, 'too_late', { latest: today });
  if (earliest !== undefined && date < earliest && date < today) {
    throw fieldProblem(field, 'too_early', { earliest: earliest < today ? earliest : today });
  }
  return date;
}

function amountOf(given: NewPayment, named: readonly InvoiceRecord[], currency: string): number {
  const [invoice] = named;
  if (given.amount === undefined) {
    if (!invoice) throw fieldProblem('amount', 'required');
    return partOf(invoice, undefined, dueOf(invoice)).amount;
  }
  const amount = exactMinor(given.amount, currency);
  if (!isAmount(amount)) throw fieldProblem('amount', 'too_large_in_currency', { currency });
  return amount;
}

/** Returns the named invoices, and the client under a row lock. */
async function lockPaid(unit: UnitOfWork, { pays, client_id }: NewPayment) {
  const named = await namedInvoices(unit, pays);
  return { named, client: await lockClient(unit, client_id ?? named[0]?.client_id) };
}

/** Locks the client. An anonymised one may still pay. */
async function lockClient({ accountId, session }: UnitOfWork, id: Id | StoredId | undefined): Promise<ClientRecord> {
  const client = id && (await lockOwn(Client, accountId, id, session));
  if (!client) throw appError('client_not_found');
  return client;
}
